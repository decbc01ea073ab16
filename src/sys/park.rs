// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What a thread owns while it sleeps. A thread that is cancelled runs no destructors of its stack, but what it calls at
//! its very end; so what it owns is parked in thread-local storage.

use super::thread_end::AtThreadEnd;
use crate::errno::{Errno, Result};
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::ptr;
use std::thread::LocalKey;

/// A thread's place for one kind of things that it owns.
///
/// It is not left to the language to end them with the thread: remembering that takes memory, and without memory it ends
/// the process.
pub struct Parking<T> {
    parked: Cell<Option<ManuallyDrop<T>>>,
    /// Whether the thread will call [`Parking::end`].
    remembers: Cell<bool>,
}

impl<T> Default for Parking<T> {
    fn default() -> Self {
        Parking::new()
    }
}

impl<T> Parking<T> {
    /// With nothing in it.
    pub const fn new() -> Parking<T> {
        Parking { parked: Cell::new(None), remembers: Cell::new(false) }
    }

    /// For the end of the thread: nothing is left.
    pub fn end(&self) {
        self.remembers.set(false);
        drop(self.take());
    }

    /// What is parked, which is the caller's then.
    pub fn take(&self) -> Option<T> {
        self.parked.take().map(ManuallyDrop::into_inner)
    }

    /// Parks it, in place of what is there, if anything.
    ///
    /// `at_end` is what calls [`Parking::end`]. ENOMEM without memory to remember that.
    pub fn park(&self, own: T, at_end: &AtThreadEnd) -> Result<Option<T>> {
        self.remember(at_end)?;
        Ok(self.parked.replace(Some(ManuallyDrop::new(own))).map(ManuallyDrop::into_inner))
    }

    #[inline(always)]
    fn remember(&self, at_end: &AtThreadEnd) -> Result<()> {
        if !self.remembers.get() {
            at_end.remember()?;
            self.remembers.set(true);
        }
        Ok(())
    }

    /// Does `work`, in which the thread may be cancelled, while what it owns is parked. ENOMEM as for [`Parking::park`];
    /// ECANCELED if it was taken away meanwhile.
    #[inline(always)]
    pub fn during<R>(
        storage: &'static LocalKey<Parking<T>>,
        at_end: &AtThreadEnd,
        own: T,
        work: impl FnOnce() -> R,
    ) -> Result<(T, R)> {
        // Not all the work in with(): that would be a call of its own, in a wake-up where each instruction counts.
        let parking = storage.with(ptr::from_ref);
        // SAFETY: it is the calling thread's, and has nothing to be dropped: it lasts as long as the thread runs.
        let parking = unsafe { &*parking };
        parking.remember(at_end)?;
        // A signal handler may sleep on something of its own: what was parked before comes back afterwards.
        let outer = parking.parked.replace(Some(ManuallyDrop::new(own)));
        let result = work();
        let own = parking.parked.replace(outer).ok_or(Errno::ECANCELED)?;
        Ok((ManuallyDrop::into_inner(own), result))
    }
}
