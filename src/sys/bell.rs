// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! A descriptor that one thread makes readable for another.

use crate::errno::{Errno, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// A counter: its descriptor is readable while it is not 0.
#[derive(Debug)]
pub struct Bell(OwnedFd);

impl Bell {
    /// A silent one.
    pub fn new() -> Result<Bell> {
        open(true).map(Bell)
    }

    /// For `poll(2)`.
    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Makes it readable.
    pub fn ring(&self) {
        ring(self.fd());
    }

    /// Makes it silent.
    pub fn silence(&self) {
        silence(self.fd());
    }
}

/// The descriptor of a silent counter, which the caller owns.
pub fn open(close_on_exec: bool) -> Result<OwnedFd> {
    let flags = libc::EFD_NONBLOCK | if close_on_exec { libc::EFD_CLOEXEC } else { 0 };
    // SAFETY: no precondition; a descriptor that comes back belongs to nobody else.
    unsafe {
        match libc::eventfd(0, flags) {
            -1 => Err(Errno::last()),
            fd => Ok(OwnedFd::from_raw_fd(fd)),
        }
    }
}

/// Makes the counter's descriptor readable. Another kind of descriptor, or none, is left alone by the kernel or gets eight
/// bytes: the caller knows which it is.
pub fn ring(fd: RawFd) {
    let one = 1u64;
    // SAFETY: eight readable bytes. A counter that is full is readable already.
    unsafe { libc::write(fd, (&raw const one).cast(), size_of::<u64>()) };
}

/// Makes the counter's descriptor not readable.
pub fn silence(fd: RawFd) {
    let mut count = 0u64;
    // SAFETY: eight writable bytes. A counter that is 0 stays so: the descriptor does not block.
    unsafe { libc::read(fd, (&raw mut count).cast(), size_of::<u64>()) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::descriptor;
    use std::time::Duration;

    fn is_readable(bell: &Bell) -> bool {
        let mut watch = [descriptor::readable(bell.fd())];
        descriptor::poll(&mut watch, Some(Duration::ZERO)).unwrap() == 1
    }

    #[test]
    fn a_bell_is_readable_from_ringing_to_silencing() {
        let bell = Bell::new().unwrap();
        assert!(!is_readable(&bell));
        bell.silence();
        bell.ring();
        bell.ring();
        assert!(is_readable(&bell));
        bell.silence();
        assert!(!is_readable(&bell));
    }
}
