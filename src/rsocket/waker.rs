// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! How one thread wakes another: each thread that sleeps has a descriptor of its own for that.

use crate::errno::Result;
use crate::sys::bell::Bell;
use crate::sys::process;
use std::cell::RefCell;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Of one thread.
pub struct Waker {
    bell: Bell,
    rung: AtomicBool,
    /// The process that made it: a forked child would share the parent's.
    generation: u32,
}

thread_local! {
    static OWN: RefCell<Option<Arc<Waker>>> = const { RefCell::new(None) };
}

/// The calling thread's. Its descriptor is opened when it is first needed and closed with the thread.
pub fn own() -> Result<Arc<Waker>> {
    let generation = process::generation();
    let existing = OWN.try_with(|own| own.borrow().clone()).ok().flatten();
    if let Some(waker) = existing.filter(|waker| waker.generation == generation) {
        return Ok(waker);
    }
    let waker = Arc::new(Waker { bell: Bell::new()?, rung: AtomicBool::new(false), generation });
    let _ = OWN.try_with(|own| own.replace(Some(Arc::clone(&waker))));
    Ok(waker)
}

impl Waker {
    /// For `poll(2)`.
    pub fn fd(&self) -> RawFd {
        self.bell.fd()
    }

    /// Wakes the thread, or keeps it from going to sleep.
    pub fn wake(&self) {
        if !self.rung.swap(true, Ordering::SeqCst) {
            self.bell.ring();
        }
    }

    /// The thread is awake, and will look for itself before it sleeps again.
    pub fn rest(&self) {
        if self.rung.load(Ordering::SeqCst) {
            self.bell.silence();
            self.rung.store(false, Ordering::SeqCst);
        }
    }
}
