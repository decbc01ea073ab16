// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Functions that an older library may lack.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

/// The address of a symbol in what the process has loaded, if it is there.
pub fn find(name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: the name ends with a NUL; RTLD_DEFAULT searches without loading anything.
    NonNull::new(unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) })
}
