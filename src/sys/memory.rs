// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Memory that C sees or frees: it comes from malloc, and its absence is an error instead of an abort.

use crate::errno::{Errno, Result};
use std::ptr::NonNull;

/// An array of `count` elements, not initialised; ENOMEM without memory. `free(3)` takes it back.
pub fn allocate<T>(count: usize) -> Result<NonNull<T>> {
    let bytes = count.checked_mul(size_of::<T>()).ok_or(Errno::ENOMEM)?;
    // SAFETY: malloc has no precondition; at least one byte is asked for, so NULL means no memory.
    NonNull::new(unsafe { libc::malloc(bytes.max(1)) }.cast()).ok_or(Errno::ENOMEM)
}

/// An array holding a copy of `elements`.
pub fn allocate_copy<T: Copy>(elements: &[T]) -> Result<NonNull<T>> {
    let array = allocate::<T>(elements.len())?;
    // SAFETY: the array is new and has room for as many elements.
    unsafe { array.as_ptr().copy_from_nonoverlapping(elements.as_ptr(), elements.len()) };
    Ok(array)
}

/// Gives an array back; NULL is allowed.
///
/// # Safety
///
/// It came from malloc and nobody uses it any more.
pub unsafe fn release<T>(array: *mut T) {
    // SAFETY: the caller's promise.
    unsafe { libc::free(array.cast()) };
}
