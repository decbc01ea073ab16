// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What a look-up without a lock is made of, in a form that models can watch.

use std::cell::UnsafeCell;

pub use std::thread::yield_now;

/// A value whose owner sees to it that nobody reads it while it is written.
pub struct SharedCell<T>(UnsafeCell<T>);

impl<T> SharedCell<T> {
    /// With that value.
    pub const fn new(value: T) -> SharedCell<T> {
        SharedCell(UnsafeCell::new(value))
    }

    /// To be read.
    #[inline]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    /// To be written.
    #[inline]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}
