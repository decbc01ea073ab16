// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Numbers as C writes them.

use std::ffi::CStr;
use std::ptr;

/// The whole text as a number: decimal, 0x… or 0…, as strtoull(3) reads it. None if it is none, or too large.
pub fn parse(text: &CStr) -> Option<u64> {
    let mut end = ptr::null_mut();
    // SAFETY: the text ends with NUL, `end` is a valid place and then points into the text; errno is the thread's own.
    unsafe {
        *libc::__errno_location() = 0;
        let number = libc::strtoull(text.as_ptr(), &mut end, 0);
        let read = end.cast_const() != text.as_ptr();
        (*libc::__errno_location() == 0 && read && *end == 0).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_c_does() {
        assert_eq!(parse(c"0"), Some(0));
        assert_eq!(parse(c" 0x1F"), Some(31));
        assert_eq!(parse(c"017"), Some(15));
        assert_eq!(parse(c"18446744073709551615"), Some(u64::MAX));
        for text in [c"", c" ", c"x", c"1x", c"0x", c"18446744073709551616"] {
            assert_eq!(parse(text), None);
        }
    }
}
