// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The Rust types have the layout and the values that a C compiler finds in the distribution's header.
//!
//! `abi/layout.golden` is what the C program `tests-c/abi/layout.c` printed there: a block of macro calls. Here they
//! compare.
#![cfg(target_pointer_width = "64")]
#![allow(unsafe_code, reason = "the size of a union's field cannot be asked for without")]

use std::mem::{MaybeUninit, align_of, offset_of, size_of};

use rdmacm::ctypes;

/// Size of what a pointer points to, where only the pointer's type is known.
fn pointee_size<T>(_: *const T) -> usize {
    size_of::<T>()
}

#[test]
fn layouts_and_values_are_those_of_the_c_header() {
    let mut checked = 0;
    let mut wrong = Vec::new();
    let mut check = |what: String, rust: Vec<i128>, c: Vec<i128>| {
        checked += 1;
        if rust != c {
            wrong.push(format!("{what}: {rust:?} in Rust, {c:?} in C"));
        }
    };

    macro_rules! size {
        ($name:ident, $size:literal, $align:literal) => {
            check(
                format!("size and alignment of {}", stringify!($name)),
                vec![size_of::<ctypes::$name>() as i128, align_of::<ctypes::$name>() as i128],
                vec![$size, $align],
            );
        };
    }
    macro_rules! field {
        ($name:ident, $($field:ident).+, $offset:literal, $size:literal) => {{
            let object = MaybeUninit::<ctypes::$name>::uninit();
            // SAFETY: only the place of the field is computed, inside the object; nothing is read.
            let field = unsafe { &raw const (*object.as_ptr()).$($field).+ };
            check(
                format!("offset and size of {}.{}", stringify!($name), stringify!($($field).+)),
                vec![offset_of!(ctypes::$name, $($field).+) as i128, pointee_size(field) as i128],
                vec![$offset, $size],
            );
        }};
    }
    macro_rules! value {
        ($name:ident, $value:expr, $c_type:ident) => {
            check(format!("value of {}", stringify!($name)), vec![ctypes::$name as i128], vec![$value]);
        };
    }

    include!("../abi/layout.golden");

    assert!(wrong.is_empty(), "{} of {checked} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(checked > 250, "only {checked} facts in the golden file");
}
