// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Which process this is.

use core::sync::atomic::{AtomicI32, Ordering};
use libc::c_int;

static OWN: AtomicI32 = AtomicI32::new(0);

extern "C" fn note() {
    // SAFETY: always possible.
    OWN.store(unsafe { libc::getpid() }, Ordering::Relaxed);
}

/// Notes the process, and each that it forks.
pub fn begin() {
    note();
    // SAFETY: the function is there as long as this object.
    unsafe { libc::pthread_atfork(None, None, Some(note)) };
}

/// The process whose memory this is.
pub fn own() -> c_int {
    OWN.load(Ordering::Relaxed)
}

/// False between vfork() and the end of the child, for the child: it has descriptors of its own, but the memory, and with
/// it the table, is the parent's.
pub fn is_own() -> bool {
    // SAFETY: always possible.
    own() == unsafe { libc::getpid() }
}
