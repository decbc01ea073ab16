// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Duplicates of descriptors, and their end.

use crate::{errno, process, real, table};
use libc::{c_int, c_uint};

/// The new number, which the kernel has made a duplicate of the other, stands for the same. Without memory it is closed
/// again: -1 and ENOMEM.
pub fn share(number: c_int, new: c_int) -> c_int {
    if new < 0 || new == number || !process::is_own() {
        return new;
    }
    let Some(held) = table::find(number) else {
        table::forget(new);
        return new;
    };
    if table::assign(new, &held) {
        return new;
    }
    // SAFETY: nobody knows it yet.
    unsafe { real::close(new) };
    errno::fail(libc::ENOMEM)
}

#[unsafe(no_mangle)]
pub extern "C" fn dup(number: c_int) -> c_int {
    // SAFETY: a number.
    share(number, unsafe { real::dup(number) })
}

#[unsafe(no_mangle)]
pub extern "C" fn dup2(number: c_int, wanted: c_int) -> c_int {
    // SAFETY: numbers.
    share(number, unsafe { real::dup2(number, wanted) })
}

#[unsafe(no_mangle)]
pub extern "C" fn dup3(number: c_int, wanted: c_int, flags: c_int) -> c_int {
    // SAFETY: numbers.
    share(number, unsafe { real::dup3(number, wanted, flags) })
}

#[unsafe(no_mangle)]
pub extern "C" fn close(number: c_int) -> c_int {
    let key = if table::is_known(number) && process::is_own() { table::take(number) } else { None };
    // SAFETY: a number.
    let result = unsafe { real::close(number) };
    if let Some(key) = key {
        table::release(key);
    }
    result
}

/// All but the hidden descriptors of what stays.
#[unsafe(no_mangle)]
pub extern "C" fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    if flags != 0 || first > last || !process::is_own() {
        // SAFETY: numbers.
        return unsafe { real::close_range(first, last, flags) };
    }
    let end = (table::end() as c_uint).min(last.saturating_add(1));
    for number in first..end {
        if table::is_known(number as c_int) {
            close(number as c_int);
        }
    }
    let mut from = first;
    for number in first..end {
        if table::is_key(number as c_int) {
            if number > from {
                // SAFETY: numbers.
                unsafe { real::close_range(from, number - 1, 0) };
            }
            from = number + 1;
        }
    }
    // SAFETY: numbers.
    if from > last { 0 } else { unsafe { real::close_range(from, last, 0) } }
}

#[unsafe(no_mangle)]
pub extern "C" fn closefrom(first: c_int) {
    close_range(first.max(0) as c_uint, c_uint::MAX, 0);
}
