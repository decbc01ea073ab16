// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Objects that end with their owner.

use std::ops::Deref;

/// What [`Owned`] can destroy.
pub trait Destroy: Copy {
    /// Destroys it. An error would leave nothing to do: it says that something else still uses the object.
    ///
    /// # Safety
    ///
    /// Nobody uses it any more.
    unsafe fn destroy(self);
}

/// An object that nobody else destroys. It is destroyed when dropped.
pub struct Owned<T: Destroy>(T);

impl<T: Destroy> Owned<T> {
    /// Owns it from now on.
    ///
    /// # Safety
    ///
    /// Nobody else destroys it, and nobody uses it after the owner is dropped.
    pub unsafe fn new(object: T) -> Owned<T> {
        Owned(object)
    }

    /// For somebody else to destroy.
    pub fn release(self) -> T {
        let object = self.0;
        std::mem::forget(self);
        object
    }
}

impl<T: Destroy> Deref for Owned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Destroy> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: new()'s promise.
        unsafe { self.0.destroy() };
    }
}
