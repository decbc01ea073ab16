// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Telling threads apart.

use super::atomic::{AtomicU64, Ordering};

/// Names a thread as long as it lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token(pub(super) libc::pthread_t);

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
