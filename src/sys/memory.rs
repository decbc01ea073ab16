// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Memory whose absence is an error instead of an abort. What C sees or frees comes from malloc.

use crate::errno::{Errno, Result};
use std::ptr::NonNull;

/// A place for `T` from malloc, not initialised; ENOMEM without memory.
pub fn allocate<T>() -> Result<NonNull<T>> {
    allocate_bytes(size_of::<T>())
}

fn allocate_bytes<T>(bytes: usize) -> Result<NonNull<T>> {
    // SAFETY: malloc has no precondition; at least one byte is asked for, so NULL means no memory.
    NonNull::new(unsafe { libc::malloc(bytes.max(1)) }.cast()).ok_or(Errno::ENOMEM)
}

/// Gives memory back; NULL is allowed.
///
/// # Safety
///
/// It came from malloc and nobody uses it any more.
pub unsafe fn release<T>(memory: *mut T) {
    // SAFETY: the caller's promise.
    unsafe { libc::free(memory.cast()) };
}

/// What the iterator gives, in order; ENOMEM without memory.
pub fn collect<T>(items: impl IntoIterator<Item = T>) -> Result<Vec<T>> {
    let mut all = Vec::new();
    for item in items {
        push(&mut all, item)?;
    }
    Ok(all)
}

/// One element more; ENOMEM without memory, and then the vector is as it was.
pub fn push<T>(all: &mut Vec<T>, item: T) -> Result<()> {
    all.try_reserve(1)?;
    all.push(item);
    Ok(())
}

/// The slices, one behind the other; ENOMEM without memory.
pub fn concat(parts: &[&[u8]]) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    all.try_reserve_exact(parts.iter().map(|part| part.len()).sum())?;
    for part in parts {
        all.extend_from_slice(part);
    }
    Ok(all)
}

/// That many zeros; ENOMEM without memory.
pub fn zeros(count: usize) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    all.try_reserve_exact(count)?;
    all.resize(count, 0);
    Ok(all)
}

/// An array that C sees.
pub struct Array<T>(NonNull<T>);

// SAFETY: the array is memory only; what its elements mean is the owner's matter.
unsafe impl<T> Send for Array<T> {}

impl<T: Copy> Array<T> {
    /// A copy of `elements`; ENOMEM without memory.
    pub fn copy_of(elements: &[T]) -> Result<Array<T>> {
        let array = allocate_bytes::<T>(size_of_val(elements))?;
        // SAFETY: the array is new and has room for as many elements.
        unsafe { array.as_ptr().copy_from_nonoverlapping(elements.as_ptr(), elements.len()) };
        Ok(Array(array))
    }

    /// Made of the elements as they come, as many as announced; ENOMEM without memory.
    pub fn collect(elements: impl ExactSizeIterator<Item = T>) -> Result<Array<T>> {
        let room = elements.len();
        let array = allocate_bytes::<T>(room.checked_mul(size_of::<T>()).ok_or(Errno::ENOMEM)?)?;
        for (position, element) in elements.enumerate().take(room) {
            // SAFETY: the array is new and has room for that many elements.
            unsafe { array.add(position).write(element) };
        }
        Ok(Array(array))
    }

    /// The first element.
    pub fn as_ptr(&self) -> *mut T {
        self.0.as_ptr()
    }

    /// The first element, for [`release`].
    pub fn into_raw(self) -> *mut T {
        let array = self.as_ptr();
        std::mem::forget(self);
        array
    }
}

impl<T> Drop for Array<T> {
    fn drop(&mut self) {
        // SAFETY: the memory came from malloc and is owned by self.
        unsafe { release(self.0.as_ptr()) };
    }
}
