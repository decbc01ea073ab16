// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The process: told from the one that forked it, and what it is short of.

use crate::errno::{Errno, Result};
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

type Call = unsafe extern "C" fn();

/// What the process calls when it forks.
pub struct AtFork {
    prepare: Option<Call>,
    parent: Option<Call>,
    child: Option<Call>,
    is_remembered: AtomicBool,
    turn: Mutex<()>,
}

impl AtFork {
    /// `prepare` is called before it forks, and afterwards `parent` in itself and `child` in its child.
    pub const fn new(prepare: Option<Call>, parent: Option<Call>, child: Option<Call>) -> AtFork {
        AtFork { prepare, parent, child, is_remembered: AtomicBool::new(false), turn: Mutex::new(()) }
    }

    /// From now on, if not already. ENOMEM without memory to remember that.
    pub fn remember(&self) -> Result<()> {
        if self.is_remembered.load(Ordering::Acquire) {
            return Ok(());
        }
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_remembered.load(Ordering::Relaxed) {
            return Ok(());
        }
        // SAFETY: the functions stay where they are, since the library is never unmapped.
        if unsafe { libc::pthread_atfork(self.prepare, self.parent, self.child) } != 0 {
            return Err(Errno::ENOMEM);
        }
        self.is_remembered.store(true, Ordering::Release);
        Ok(())
    }
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
    static COUNTING: AtFork = AtFork::new(None, None, Some(count_fork));
    static COUNTS: OnceLock<bool> = OnceLock::new();
    // Without memory to count: a system call each time.
    if *COUNTS.get_or_init(|| COUNTING.remember().is_ok()) { FORKS.load(Ordering::Relaxed) } else { id() }
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
