// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The only error type below `capi`: a positive errno value.

use std::collections::TryReserveError;
use std::fmt;
use std::io;

/// An errno value, as `errno(3)` lists them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Errno(i32);

/// What everything below `capi` returns.
pub type Result<T> = core::result::Result<T, Errno>;

macro_rules! known {
    ($($name:ident),* $(,)?) => {
        #[allow(missing_docs, reason = "errno(3) documents them")]
        impl Errno {
            $(pub const $name: Errno = Errno(libc::$name);)*
        }
    };
}

known! {
    EACCES, EADDRINUSE, EADDRNOTAVAIL, EAFNOSUPPORT, EAGAIN, EALREADY, EBADF, EBUSY, ECANCELED, ECONNABORTED,
    ECONNREFUSED, ECONNRESET, EDESTADDRREQ, EEXIST, EFAULT, EHOSTUNREACH, EINPROGRESS, EINTR, EINVAL, EIO, EISCONN, EMFILE, EMSGSIZE,
    ENFILE, ENOBUFS, ENODATA, ENODEV, ENOENT, ENOMEM, ENOPROTOOPT, ENOTCONN, EOPNOTSUPP, EPERM, EPIPE, EPROTO, ETIMEDOUT,
}

impl Errno {
    /// The error that the last failed call of libc left in this thread's `errno`.
    pub fn last() -> Errno {
        Errno::from(io::Error::last_os_error())
    }

    /// A positive errno value as libibverbs and the kernel return it; a sign is dropped, and anything that is no
    /// errno at all is EIO.
    pub fn from_raw(value: i32) -> Errno {
        match value.checked_abs() {
            Some(errno) if errno != 0 => Errno(errno),
            _ => Errno::EIO,
        }
    }

    /// Whether it tells of a moment rather than of what was asked: the same may succeed later.
    pub fn is_passing(self) -> bool {
        [Errno::EAGAIN, Errno::EINTR, Errno::EMFILE, Errno::ENFILE, Errno::ENOBUFS, Errno::ENOMEM]
            .contains(&self)
    }

    /// The positive value, to be stored in `errno`.
    pub fn raw(self) -> i32 {
        self.0
    }
}

impl From<io::Error> for Errno {
    fn from(error: io::Error) -> Errno {
        match error.raw_os_error() {
            Some(errno) => Errno::from_raw(errno),
            None if error.kind() == io::ErrorKind::OutOfMemory => Errno::ENOMEM,
            None => Errno::EIO,
        }
    }
}

impl From<TryReserveError> for Errno {
    fn from(_: TryReserveError) -> Errno {
        Errno::ENOMEM
    }
}

impl From<nix::errno::Errno> for Errno {
    fn from(errno: nix::errno::Errno) -> Errno {
        Errno::from_raw(errno as i32)
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = nix::errno::Errno::from_raw(self.0);
        write!(f, "{} ({known:?})", known.desc())
    }
}
