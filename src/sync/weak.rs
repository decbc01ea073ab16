// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! References that do not keep a value, but find out whether it is still there.

use super::shared::{Counted, LOCKED, MOST, Shared, release};
use std::hint::spin_loop;
use std::process::abort;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

/// See the module. It keeps the memory, but not the value.
pub struct Weak<T>(NonNull<Counted<T>>);

// SAFETY: as for Shared, which it may become in any thread.
unsafe impl<T: Send + Sync> Send for Weak<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Weak<T> {}

impl<T> Weak<T> {
    /// To the value of a reference.
    pub fn to(reference: &Shared<T>) -> Weak<T> {
        let weak = &reference.counted().weak;
        loop {
            let count = weak.load(Ordering::Relaxed);
            if count == LOCKED {
                spin_loop();
                continue;
            }
            if count > MOST {
                abort();
            }
            if weak.compare_exchange_weak(count, count + 1, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                return Weak(reference.0);
            }
        }
    }

    /// The value, if it is still there.
    pub fn upgrade(&self) -> Option<Shared<T>> {
        let more = |count: usize| (count > 0).then(|| count + 1);
        let found = self.references().fetch_update(Ordering::Acquire, Ordering::Relaxed, more);
        found.ok().map(|_| Shared(self.0))
    }

    /// Whether both are to the same value.
    pub fn is_same(one: &Weak<T>, other: &Weak<T>) -> bool {
        one.0 == other.0
    }

    /// Whether it is to the value of the reference.
    pub fn is_to(&self, reference: &Shared<T>) -> bool {
        self.0 == reference.0
    }

    /// Whether the value is gone.
    pub fn is_gone(&self) -> bool {
        self.references().load(Ordering::Relaxed) == 0
    }

    fn references(&self) -> &AtomicUsize {
        // SAFETY: the memory is there as long as this is. The value may be gone: no reference to it is made.
        unsafe { &(*self.0.as_ptr()).references }
    }
}

impl<T> Drop for Weak<T> {
    fn drop(&mut self) {
        // SAFETY: this is one, and ends here.
        unsafe { release(self.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread::spawn;

    #[test]
    fn it_finds_the_value_as_long_as_there_is_one() {
        let ends = Arc::new(());
        let value = Shared::try_new(Arc::clone(&ends)).unwrap();
        let weak = Weak::to(&value);
        let again = weak.upgrade().unwrap();
        assert!(Shared::is_same(&value, &again));
        drop(value);
        assert!(!weak.is_gone());
        drop(again);
        assert!(weak.is_gone() && weak.upgrade().is_none());
        assert_eq!(Arc::strong_count(&ends), 1, "the value has ended");
    }

    #[test]
    fn nobody_else_changes_a_value_that_may_be_found() {
        let mut value = Shared::try_new(1).unwrap();
        let weak = Weak::to(&value);
        assert!(Shared::only(&mut value).is_none());
        drop(weak);
        *Shared::only(&mut value).unwrap() = 2;
        assert_eq!(*Weak::to(&value).upgrade().unwrap(), 2);
    }

    #[test]
    fn threads_find_it_or_not() {
        for _ in 0..200 {
            let value = Shared::try_new(Arc::new(7)).unwrap();
            let weak = Weak::to(&value);
            let finder = spawn(move || weak.upgrade().map(|value| **value));
            drop(value);
            assert!(matches!(finder.join().unwrap(), None | Some(7)));
        }
    }
}
