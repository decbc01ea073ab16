// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Descriptors by number: waiting for them, and giving them other numbers.

use crate::errno::{Errno, Result};
use std::ffi::c_int;
use std::os::fd::RawFd;
use std::time::Duration;

/// What to wait for, and what came: `struct pollfd`.
pub type Watch = libc::pollfd;

/// To wait until something can be read.
pub fn readable(fd: RawFd) -> Watch {
    Watch { fd, events: libc::POLLIN, revents: 0 }
}

/// `poll(2)`: how many are ready. None stands for no limit; a limit is rounded up to milliseconds. EINTR after a signal.
///
/// A thread that is cancelled ends here: nothing that must be dropped may be alive in a caller.
pub fn poll(watches: &mut [Watch], limit: Option<Duration>) -> Result<usize> {
    // SAFETY: that many structs stand there.
    let ready =
        unsafe { libc::poll(watches.as_mut_ptr(), watches.len() as libc::nfds_t, milliseconds(limit)) };
    usize::try_from(ready).map_err(|_| Errno::last())
}

/// A limit as the kernel wants it: rounded up, -1 for none.
pub(super) fn milliseconds(limit: Option<Duration>) -> c_int {
    limit.map_or(-1, |limit| c_int::try_from(limit.as_nanos().div_ceil(1_000_000)).unwrap_or(c_int::MAX))
}

/// `to` becomes another number for what `from` is, which is closed; what `to` was before is closed too. Whether `to` is
/// closed on exec stays as it was.
pub fn put_over(from: RawFd, to: RawFd) -> Result<()> {
    // SAFETY: numbers only; the caller owns both.
    unsafe {
        let flags = libc::fcntl(to, libc::F_GETFD);
        if flags < 0 {
            return Err(Errno::last());
        }
        let on_exec = if flags & libc::FD_CLOEXEC != 0 { libc::O_CLOEXEC } else { 0 };
        if libc::dup3(from, to, on_exec) < 0 {
            return Err(Errno::last());
        }
        libc::close(from);
    }
    Ok(())
}

/// Another number for what `fd` is, closed on exec. `fd` stays.
pub fn duplicate(fd: RawFd) -> Result<RawFd> {
    // SAFETY: numbers only.
    match unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3) } {
        -1 => Err(Errno::last()),
        copy => Ok(copy),
    }
}

/// Whether it is closed on exec, from now on.
pub fn set_close_on_exec(fd: RawFd, on: bool) -> Result<()> {
    // SAFETY: numbers only.
    match unsafe { libc::fcntl(fd, libc::F_SETFD, if on { libc::FD_CLOEXEC } else { 0 }) } {
        -1 => Err(Errno::last()),
        _ => Ok(()),
    }
}

/// Whether it is closed on exec.
pub fn is_close_on_exec(fd: RawFd) -> Result<bool> {
    // SAFETY: numbers only.
    match unsafe { libc::fcntl(fd, libc::F_GETFD) } {
        -1 => Err(Errno::last()),
        flags => Ok(flags & libc::FD_CLOEXEC != 0),
    }
}

/// Calls on it do not block from now on.
pub fn set_nonblocking(fd: RawFd) -> Result<()> {
    // SAFETY: numbers only.
    unsafe {
        let flags = libc::fcntl(fd, libc::F_GETFL);
        if flags < 0 || libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK) < 0 {
            return Err(Errno::last());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::bell;
    use std::os::fd::{AsRawFd, IntoRawFd};

    #[test]
    fn a_number_keeps_its_flag_when_another_descriptor_is_put_over_it() {
        for close_on_exec in [false, true] {
            let from = bell::open(true).unwrap().into_raw_fd();
            let to = bell::open(close_on_exec).unwrap();
            bell::ring(from);
            put_over(from, to.as_raw_fd()).unwrap();
            assert_eq!(is_close_on_exec(to.as_raw_fd()), Ok(close_on_exec));
            assert_eq!(poll(&mut [readable(to.as_raw_fd())], None), Ok(1));
        }
    }
}
