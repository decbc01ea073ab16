// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! A lock for a few instructions or calls that do not wait.

use core::ptr;
use core::sync::atomic::{AtomicI32, Ordering};
use libc::c_int;

unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
}
const PTHREAD_CANCEL_DISABLE: c_int = 1;

/// Unlocked with all bits 0; else the process that holds it. A process that was forked while a thread of the parent held
/// it finds it free: that thread does not exist there.
#[repr(transparent)]
pub struct Lock(AtomicI32);

impl Lock {
    /// Does the work while nobody else does any under the same lock. The thread cannot be cancelled meanwhile.
    pub fn locked<R>(&self, work: impl FnOnce() -> R) -> R {
        let mut before = 0;
        // SAFETY: a valid place; the state given back is the one that was there.
        unsafe { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &mut before) };
        // SAFETY: always possible.
        let own = unsafe { libc::getpid() };
        let mut free = 0;
        while let Err(holder) = self.0.compare_exchange(free, own, Ordering::Acquire, Ordering::Relaxed) {
            free = if holder == own { 0 } else { holder };
            if holder == own {
                // SAFETY: always possible.
                unsafe { libc::sched_yield() };
            }
        }
        let result = work();
        self.0.store(0, Ordering::Release);
        // SAFETY: as above; the old value is not wanted.
        unsafe { pthread_setcancelstate(before, ptr::null_mut()) };
        result
    }
}
