// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! A value with a count of its references, as `std::sync::Arc`, whose allocation can fail: `Arc` ends the process then.

use crate::errno::{Errno, Result};
use std::alloc::{Layout, alloc, dealloc};
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::process::abort;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One of the references to a value, which is dropped with the last one.
pub struct Shared<T>(pub(super) NonNull<Counted<T>>);

/// The value comes first: its address stands for the whole.
#[repr(C)]
pub(super) struct Counted<T> {
    value: T,
    pub references: AtomicUsize,
    /// References of the kind `Weak`, and one for all others together. The memory goes with the last of these.
    pub weak: AtomicUsize,
}

/// More references than memory has room for: somebody forgets them in a loop.
pub(super) const MOST: usize = isize::MAX as usize;
/// Nobody can make a reference of the kind `Weak` while that is their count.
pub(super) const LOCKED: usize = usize::MAX;

// SAFETY: as for Arc: references may be used, and the last one dropped, in any thread.
unsafe impl<T: Send + Sync> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// The first reference. ENOMEM without memory.
    pub fn try_new(value: T) -> Result<Shared<T>> {
        // SAFETY: the layout has a size, since the count does.
        let place = unsafe { alloc(Layout::new::<Counted<T>>()) };
        let place = NonNull::new(place.cast::<Counted<T>>()).ok_or(Errno::ENOMEM)?;
        // SAFETY: the memory is new, and of that layout.
        unsafe {
            place.write(Counted { value, references: AtomicUsize::new(1), weak: AtomicUsize::new(1) });
        }
        Ok(Shared(place))
    }

    /// Where the value is.
    #[inline]
    pub fn as_ptr(reference: &Shared<T>) -> *mut T {
        reference.0.as_ptr().cast()
    }

    /// Whether both are of the same value.
    pub fn is_same(one: &Shared<T>, other: &Shared<T>) -> bool {
        one.0 == other.0
    }

    /// Turns the reference into a pointer, which [`Shared::from_raw`] takes back.
    pub fn into_raw(reference: Shared<T>) -> *mut T {
        Shared::as_ptr(&ManuallyDrop::new(reference))
    }

    /// Takes back the reference that became the pointer.
    ///
    /// # Safety
    ///
    /// The pointer came from [`Shared::into_raw`], and is taken back once.
    pub unsafe fn from_raw(value: NonNull<T>) -> Shared<T> {
        Shared(value.cast())
    }

    /// A further reference to the value.
    ///
    /// # Safety
    ///
    /// The pointer came from [`Shared::as_ptr`] or [`Shared::into_raw`], and there is a reference as long as this call
    /// lasts.
    #[inline]
    pub unsafe fn another(value: NonNull<T>) -> Shared<T> {
        let reference = ManuallyDrop::new(Shared(value.cast()));
        Shared::clone(&reference)
    }

    /// How many references there are, which may be others already.
    pub fn references(reference: &Shared<T>) -> usize {
        reference.counted().references.load(Ordering::Relaxed)
    }

    /// The value, if this is the only reference of either kind.
    pub fn only(reference: &mut Shared<T>) -> Option<&mut T> {
        let Counted { references, weak, .. } = reference.counted();
        weak.compare_exchange(1, LOCKED, Ordering::Acquire, Ordering::Relaxed).ok()?;
        let is_only = references.load(Ordering::Acquire) == 1;
        weak.store(1, Ordering::Release);
        // SAFETY: nobody else has a reference, nor can get one while this is borrowed; what the last one that was
        // dropped did is seen.
        is_only.then(|| unsafe { &mut (*reference.0.as_ptr()).value })
    }

    pub(super) fn counted(&self) -> &Counted<T> {
        // SAFETY: a value with a reference is alive.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: a value with a reference is alive.
        unsafe { &(*self.0.as_ptr()).value }
    }
}

impl<T> Clone for Shared<T> {
    #[inline]
    fn clone(&self) -> Shared<T> {
        // Whoever has a reference sees the value already: nothing needs to be ordered.
        if self.counted().references.fetch_add(1, Ordering::Relaxed) > MOST {
            abort();
        }
        Shared(self.0)
    }
}

impl<T> Drop for Shared<T> {
    #[inline]
    fn drop(&mut self) {
        let references = &self.counted().references;
        if references.fetch_sub(1, Ordering::Release) == 1 {
            // What others did to the value before they dropped theirs comes before its end. Not a fence, of which
            // ThreadSanitizer knows nothing.
            references.load(Ordering::Acquire);
            // SAFETY: this was the last reference; the memory came from try_new().
            unsafe { end(self.0) };
        }
    }
}

/// # Safety
///
/// Nobody has a reference.
#[inline(never)]
unsafe fn end<T>(place: NonNull<Counted<T>>) {
    // SAFETY: the caller's promise; the others together have one of the kind `Weak`.
    unsafe {
        (&raw mut (*place.as_ptr()).value).drop_in_place();
        release(place);
    }
}

/// Gives up a reference of the kind `Weak`.
///
/// # Safety
///
/// It was one, and is not used any more.
pub(super) unsafe fn release<T>(place: NonNull<Counted<T>>) {
    // SAFETY: the memory is there as long as there is such a reference.
    let weak = unsafe { &(*place.as_ptr()).weak };
    if weak.fetch_sub(1, Ordering::Release) == 1 {
        weak.load(Ordering::Acquire);
        // SAFETY: that was the last one; the layout is that of try_new().
        unsafe { dealloc(place.as_ptr().cast(), Layout::new::<Counted<T>>()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::thread::spawn;

    struct Ends(Arc<AtomicUsize>);

    impl Drop for Ends {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn the_value_ends_once_with_the_last_reference() {
        let ends = Arc::new(AtomicUsize::new(0));
        let one = Shared::try_new(Ends(Arc::clone(&ends))).unwrap();
        let other = Shared::clone(&one);
        assert!(Shared::is_same(&one, &other));
        drop(one);
        assert_eq!(ends.load(Ordering::Relaxed), 0);
        drop(other);
        assert_eq!(ends.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_pointer_stands_for_a_reference() {
        let ends = Arc::new(AtomicUsize::new(0));
        let raw = NonNull::new(Shared::into_raw(Shared::try_new(Ends(Arc::clone(&ends))).unwrap())).unwrap();
        // SAFETY: the pointer came from into_raw(), and is taken back once, at the end.
        let (another, first) = unsafe { (Shared::another(raw), Shared::from_raw(raw)) };
        drop(first);
        assert_eq!(ends.load(Ordering::Relaxed), 0);
        drop(another);
        assert_eq!(ends.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn only_one_reference_may_change_the_value() {
        let mut one = Shared::try_new(1).unwrap();
        *Shared::only(&mut one).unwrap() = 2;
        let other = Shared::clone(&one);
        assert!(Shared::only(&mut one).is_none());
        drop(other);
        assert_eq!(Shared::only(&mut one), Some(&mut 2));
    }

    #[test]
    fn threads_share_it() {
        let ends = Arc::new(AtomicUsize::new(0));
        let go = Arc::new(AtomicBool::new(false));
        let shared = Shared::try_new(Ends(Arc::clone(&ends))).unwrap();
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let (go, shared) = (Arc::clone(&go), Shared::clone(&shared));
                spawn(move || {
                    while !go.load(Ordering::Relaxed) {
                        std::thread::yield_now();
                    }
                    for _ in 0..1000 {
                        drop(Shared::clone(&shared));
                    }
                })
            })
            .collect();
        drop(shared);
        go.store(true, Ordering::Relaxed);
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(ends.load(Ordering::Relaxed), 1);
    }
}
