// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! `epoll(7)`.

use crate::errno::{Errno, Result};
use std::ffi::c_int;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

/// What to wait for or what came, and the application's word for it: `struct epoll_event`.
pub type Event = libc::epoll_event;

/// A change of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A descriptor comes in.
    Add,
    /// It waits for something else, and for one more event if it waits for one only.
    Modify,
}

/// A new set. EINVAL for unknown flags.
pub fn create(flags: c_int) -> Result<OwnedFd> {
    // SAFETY: no precondition; a descriptor that comes back belongs to nobody else.
    unsafe {
        match libc::epoll_create1(flags) {
            -1 => Err(Errno::last()),
            fd => Ok(OwnedFd::from_raw_fd(fd)),
        }
    }
}

/// Adds a descriptor, or changes what is awaited of it.
pub fn change(set: RawFd, change: Change, fd: RawFd, mut event: Event) -> Result<()> {
    let operation = match change {
        Change::Add => libc::EPOLL_CTL_ADD,
        Change::Modify => libc::EPOLL_CTL_MOD,
    };
    // SAFETY: the event is valid during the call.
    done(unsafe { libc::epoll_ctl(set, operation, fd, &mut event) })
}

/// Takes a descriptor out.
pub fn remove(set: RawFd, fd: RawFd) -> Result<()> {
    // SAFETY: removing needs no event.
    done(unsafe { libc::epoll_ctl(set, libc::EPOLL_CTL_DEL, fd, std::ptr::null_mut()) })
}

/// Any `epoll_ctl(2)`, as the application asks for it.
///
/// # Safety
///
/// As `epoll_ctl(2)`.
pub unsafe fn control(set: RawFd, operation: c_int, fd: RawFd, event: *mut Event) -> Result<()> {
    // SAFETY: the caller's promise.
    done(unsafe { libc::epoll_ctl(set, operation, fd, event) })
}

/// Waits until something is ready and says how many are. None stands for no limit; a limit is rounded up to milliseconds.
/// EINTR after a signal.
///
/// A thread that is cancelled ends here: nothing that must be dropped may be alive in a caller.
///
/// # Safety
///
/// As `epoll_wait(2)`.
pub unsafe fn wait(set: RawFd, events: *mut Event, most: c_int, limit: Option<Duration>) -> Result<usize> {
    let timeout = super::descriptor::milliseconds(limit);
    // SAFETY: the caller's promise.
    let ready = unsafe { libc::epoll_wait(set, events, most, timeout) };
    usize::try_from(ready).map_err(|_| Errno::last())
}

fn done(result: c_int) -> Result<()> {
    if result < 0 { Err(Errno::last()) } else { Ok(()) }
}
