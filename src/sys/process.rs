// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The process: told from the one that forked it, and what it is short of.

use crate::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;
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

/// EMFILE or ENFILE if there is no descriptor to be had, of which libibverbs does not tell.
pub fn descriptor_shortage() -> Option<Errno> {
    match open("/", OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty()) {
        Err(error @ (nix::errno::Errno::EMFILE | nix::errno::Errno::ENFILE)) => Some(error.into()),
        _ => None,
    }
}
