// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The calling thread's errno.

use libc::c_int;

/// What it is.
pub fn get() -> c_int {
    // SAFETY: every thread has one.
    unsafe { *libc::__errno_location() }
}

/// From now on it is that.
pub fn set(error: c_int) {
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = error }
}

/// The result of a call that fails with this error.
pub fn fail(error: c_int) -> c_int {
    set(error);
    -1
}

/// Does work that leaves errno as it was.
pub fn kept<R>(work: impl FnOnce() -> R) -> R {
    let before = get();
    let result = work();
    set(before);
    result
}
