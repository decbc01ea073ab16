// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The process: told from the one that forked it, and what it is short of.

use crate::errno::{Errno, Result};
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

/// What the process calls when it forks.
type AtFork = unsafe extern "C" fn();

/// Has the process call `prepare` before it forks, and afterwards `parent` in itself and `child` in its child.
pub fn at_fork(prepare: Option<AtFork>, parent: Option<AtFork>, child: Option<AtFork>) {
    // SAFETY: the functions stay where they are, since the library is never unmapped. Without memory nothing is
    // registered.
    unsafe { libc::pthread_atfork(prepare, parent, child) };
}

/// Has the process call `end` when it ends normally. ENOMEM without memory to remember that.
pub fn at_exit(end: extern "C" fn()) -> Result<()> {
    // SAFETY: the function stays where it is, since the library is never unmapped.
    if unsafe { libc::atexit(end) } == 0 { Ok(()) } else { Err(Errno::ENOMEM) }
}

static FORKS: AtomicU32 = AtomicU32::new(0);

extern "C" fn count_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// A number that differs between a process and its children by `fork(2)`.
pub fn generation() -> u32 {
    static COUNTED: Once = Once::new();
    COUNTED.call_once(|| at_fork(None, None, Some(count_fork)));
    FORKS.load(Ordering::Relaxed)
}

/// Its number.
pub fn id() -> u32 {
    std::process::id()
}

/// EMFILE or ENFILE if there is no descriptor to be had, of which libibverbs does not tell.
pub fn descriptor_shortage() -> Option<Errno> {
    match open("/", OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty()) {
        Err(error @ (nix::errno::Errno::EMFILE | nix::errno::Errno::ENFILE)) => Some(error.into()),
        _ => None,
    }
}
