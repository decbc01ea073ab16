// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The calling thread: its name, keeping it from being cancelled, and starting another.

use crate::errno::{Errno, Result};
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr;

pub use super::holder::{AtomicHolder, Token};

/// The token of the calling thread.
#[inline]
pub fn current() -> Token {
    // SAFETY: pthread_self has no precondition.
    Token(unsafe { libc::pthread_self() })
}

unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
}
const PTHREAD_CANCEL_DISABLE: c_int = 1;

/// Does work that must not end in the middle: the calling thread cannot be cancelled meanwhile.
pub fn uncancellable<R>(work: impl FnOnce() -> R) -> R {
    let mut old = 0;
    // SAFETY: `old` is a valid place; the state given back is the one that was there.
    unsafe { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &mut old) };
    let result = work();
    // SAFETY: as above; the old value is not wanted.
    unsafe { pthread_setcancelstate(old, ptr::null_mut()) };
    result
}

/// Starts a thread of the library that nobody joins. Signals are the application's matter: it gets none.
pub fn start(name: &str, stack_bytes: usize, work: fn()) -> Result<()> {
    let builder = std::thread::Builder::new().name(name.to_owned()).stack_size(stack_bytes);
    let mut all = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: both are valid places; sigfillset initialises the first before it is read.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    // A new thread has the mask of the one that starts it.
    let started = builder.spawn(work);
    // SAFETY: the call above, which cannot fail, initialised it.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    started.map(drop).map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(libc::EAGAIN)))
}
