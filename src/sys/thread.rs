// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Telling threads apart, and keeping them from being cancelled.

use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

/// Names a thread as long as it lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token(libc::pthread_t);

/// The token of the calling thread.
#[inline]
pub fn current() -> Token {
    // SAFETY: pthread_self has no precondition.
    Token(unsafe { libc::pthread_self() })
}

/// A thread, or none.
#[derive(Default)]
pub struct AtomicHolder(AtomicU64);

impl AtomicHolder {
    /// Who it is.
    pub fn get(&self) -> Option<Token> {
        match self.0.load(Ordering::SeqCst) {
            NOBODY => None,
            thread => Some(Token(thread)),
        }
    }

    /// Makes it `new` if it is `old`.
    #[inline]
    pub fn replace(&self, old: Option<Token>, new: Option<Token>) -> bool {
        let raw = |token: Option<Token>| token.map_or(NOBODY, |token| token.0);
        self.0.compare_exchange(raw(old), raw(new), Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }
}

/// No thread: a pthread_t is an address.
const NOBODY: libc::pthread_t = 0;

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
