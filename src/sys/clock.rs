// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Time that only goes forward.

use std::mem::MaybeUninit;
use std::time::Duration;

/// Time since some moment before the process began, exact to a few milliseconds. It is never a system call.
pub fn now() -> Duration {
    let mut time = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: the place is valid; any integers are a time.
    let time = unsafe {
        libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, time.as_mut_ptr());
        time.assume_init()
    };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
