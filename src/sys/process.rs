// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Telling a process from the one that forked it.

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

static FORKS: AtomicU32 = AtomicU32::new(0);

extern "C" fn count_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// A number that differs between a process and its children by `fork(2)`.
pub fn generation() -> u32 {
    static COUNTED: Once = Once::new();
    COUNTED.call_once(|| {
        // SAFETY: the function may be called in a child at any time. Without memory for the entry, forks go unnoticed.
        unsafe { libc::pthread_atfork(None, None, Some(count_fork)) };
    });
    FORKS.load(Ordering::Relaxed)
}
