// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! How one thread wakes another: each thread that sleeps has a descriptor of its own for that.

use crate::errno::Result;
use crate::sync::Shared;
use crate::sys::bell::Bell;
use crate::sys::park::Parking;
use crate::sys::process;
use crate::sys::thread_end::AtThreadEnd;
use std::ffi::c_void;
use std::mem;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};

/// Of one thread.
pub struct Waker {
    bell: Bell,
    rung: AtomicBool,
    /// The process that made it: a forked child would share the parent's.
    generation: u32,
}

thread_local! {
    static OWN: Parking<Shared<Waker>> = const { Parking::new() };
}

static AT_END: AtThreadEnd = AtThreadEnd::new(end);

unsafe extern "C" fn end(_: *mut c_void) {
    OWN.with(|own| {
        drop(take(own));
        own.end();
    });
}

/// What is there, unless the parent of this process made it: its number may be another file here by now.
fn take(own: &Parking<Shared<Waker>>) -> Option<Shared<Waker>> {
    let waker = own.take()?;
    if waker.generation == process::generation() {
        return Some(waker);
    }
    mem::forget(waker);
    None
}

/// The calling thread's. Its descriptor is opened when it is first needed and closed with the thread. ENOMEM or EMFILE
/// without the means for that.
pub fn own() -> Result<Shared<Waker>> {
    OWN.with(|own| {
        let waker = match take(own) {
            Some(waker) => waker,
            None => Shared::try_new(Waker {
                bell: Bell::new()?,
                rung: AtomicBool::new(false),
                generation: process::generation(),
            })?,
        };
        drop(own.park(Shared::clone(&waker), &AT_END)?);
        Ok(waker)
    })
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
