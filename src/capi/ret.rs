// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! One conversion for each return convention of the C interface, and the line of the log for each error. `errno` is set
//! last.
//!
//! The first argument is the entry point itself, of which only the name of its type is used.

use crate::diag::{self, Level};
use crate::errno::{Errno, Result};
use std::any::type_name;
use std::ffi::c_int;
use std::ptr;

/// 0, or -1 and `errno`.
#[inline]
pub fn status<F>(_call: F, result: Result<()>) -> c_int {
    match result {
        Ok(()) => 0,
        Err(error) => {
            fail(type_name::<F>(), error);
            -1
        }
    }
}

/// A pointer, or NULL and `errno`.
pub fn pointer<F, T>(_call: F, result: Result<*mut T>) -> *mut T {
    result.unwrap_or_else(|error| {
        fail(type_name::<F>(), error);
        ptr::null_mut()
    })
}

/// A code that tells of a failure, and `errno`.
pub fn code<F>(_call: F, code: c_int, error: Errno) -> c_int {
    fail(type_name::<F>(), error);
    code
}

#[cold]
#[inline(never)]
fn fail(call: &'static str, error: Errno) {
    // That there is nothing now is mostly no failure, and comes often.
    let level = if error == Errno::EAGAIN { Level::Command } else { Level::Error };
    if diag::wants(level) {
        diag::line(format_args!("{}: {error:?}", diag::last_name(call)));
    }
    // SAFETY: the address is that of the calling thread's errno.
    unsafe { *libc::__errno_location() = error.raw() };
}
