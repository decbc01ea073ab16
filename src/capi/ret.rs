// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! One conversion for each return convention of the C interface. `errno` is set last.

use crate::errno::{Errno, Result};
use std::ffi::c_int;
use std::ptr;

/// 0, or -1 and `errno`.
#[inline]
pub fn status(result: Result<()>) -> c_int {
    match result {
        Ok(()) => 0,
        Err(error) => {
            set_errno(error);
            -1
        }
    }
}

/// A pointer, or NULL and `errno`.
pub fn pointer<T>(result: Result<*mut T>) -> *mut T {
    result.unwrap_or_else(|error| {
        set_errno(error);
        ptr::null_mut()
    })
}

/// A code that tells of a failure, and `errno`.
pub fn code(code: c_int, error: Errno) -> c_int {
    set_errno(error);
    code
}

fn set_errno(error: Errno) {
    // SAFETY: the address is that of the calling thread's errno.
    unsafe { *libc::__errno_location() = error.raw() };
}
