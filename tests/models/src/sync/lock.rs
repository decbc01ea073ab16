// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! As the library's lock, on loom's.

pub use loom::sync::MutexGuard as Guard;
use loom::sync::{Condvar, Mutex, MutexGuard};
use std::sync::OnceLock;
use std::time::Duration;

/// Loom's lock cannot be made by a constant function: it is made when it is needed.
pub struct Lock<T> {
    value: std::sync::Mutex<Option<T>>,
    lock: OnceLock<Mutex<T>>,
}

impl<T> Lock<T> {
    pub const fn new(value: T) -> Lock<T> {
        Lock { value: std::sync::Mutex::new(Some(value)), lock: OnceLock::new() }
    }

    pub fn lock(&self) -> MutexGuard<'_, T> {
        let lock = self.lock.get_or_init(|| Mutex::new(self.value.lock().unwrap().take().unwrap()));
        lock.lock().unwrap()
    }
}

impl<T: Default> Default for Lock<T> {
    fn default() -> Lock<T> {
        Lock::new(T::default())
    }
}

pub struct Condition(Condvar);

impl Condition {
    pub fn new() -> Condition {
        Condition(Condvar::new())
    }

    pub fn wait_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut waiting: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'a, T> {
        while waiting(&mut guard) {
            guard = self.0.wait(guard).unwrap();
        }
        guard
    }

    /// Time does not pass in a model.
    pub fn wait_while_for<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        _: Duration,
        waiting: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'a, T> {
        self.wait_while(guard, waiting)
    }

    pub fn wake_all(&self) {
        self.0.notify_all();
    }
}

impl Default for Condition {
    fn default() -> Condition {
        Condition::new()
    }
}
