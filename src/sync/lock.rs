// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! A mutex and its condition variable without poisoning: a panic ends the process, so no guard outlives one.

pub use std::sync::MutexGuard as Guard;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

/// Mutual exclusion around a `T`.
#[derive(Default)]
pub struct Lock<T>(Mutex<T>);

impl<T> Lock<T> {
    /// An unlocked lock around `value`.
    pub const fn new(value: T) -> Lock<T> {
        Lock(Mutex::new(value))
    }

    /// The lock, unless somebody has it.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Waits for the lock; it is released when the guard is dropped.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a thread waits on until another changes the value of a [`Lock`].
#[derive(Default)]
pub struct Condition(Condvar);

impl Condition {
    /// Nobody waits yet.
    pub const fn new() -> Condition {
        Condition(Condvar::new())
    }

    /// Gives the lock up until `waiting` is false.
    pub fn wait_while<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        waiting: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'a, T> {
        self.0.wait_while(guard, waiting).unwrap_or_else(PoisonError::into_inner)
    }

    /// As [`Condition::wait_while`], for at most `limit`.
    pub fn wait_while_for<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: Duration,
        waiting: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'a, T> {
        self.0.wait_timeout_while(guard, limit, waiting).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Wakes every waiting thread. It is a system call even if nobody waits: callers keep count.
    pub fn wake_all(&self) {
        self.0.notify_all();
    }
}
