// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Telling threads apart.

/// Names a thread as long as it lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token(libc::pthread_t);

/// The token of the calling thread.
#[inline]
pub fn current() -> Token {
    // SAFETY: pthread_self has no precondition.
    Token(unsafe { libc::pthread_self() })
}
