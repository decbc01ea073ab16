// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Environment variables.

use std::ffi::CStr;

/// What `read` makes of the value of a variable; None if it is not set. As in C, no other thread may set variables
/// meanwhile.
pub fn read<R>(name: &CStr, read: impl FnOnce(&CStr) -> R) -> Option<R> {
    // SAFETY: the name ends with NUL, and so does the value, which stays where it is as long as nobody sets it.
    unsafe {
        let value = libc::getenv(name.as_ptr());
        (!value.is_null()).then(|| read(CStr::from_ptr(value)))
    }
}

/// As [`read`], but nothing is set in a program that has more privilege than who started it.
pub fn read_secure<R>(name: &CStr, as_value: impl FnOnce(&CStr) -> R) -> Option<R> {
    // SAFETY: a number only.
    let privileged = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    if privileged { None } else { read(name, as_value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_read() {
        assert_eq!(read(c"PATH", |path| path.is_empty()), Some(false));
        assert_eq!(read_secure(c"PATH", |path| path.is_empty()), Some(false));
        assert_eq!(read(c"no such variable", |_| ()), None);
    }
}
