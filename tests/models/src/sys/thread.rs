// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Names of loom's threads, which are one thread to the system.

pub use super::holder::{AtomicHolder, Token};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The token of the calling thread.
pub fn current() -> Token {
    let mut hasher = DefaultHasher::new();
    loom::thread::current().id().hash(&mut hasher);
    Token(hasher.finish() | 1)
}
