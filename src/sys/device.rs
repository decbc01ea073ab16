// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Character devices that take commands by `write(2)`.

use super::restart::restarted;
use super::{clock, descriptor};
use crate::errno::{Errno, Result};
use nix::fcntl::{OFlag, open};
use nix::sys::stat::{Mode, SFlag, fstat};
use std::os::fd::{OwnedFd, RawFd};
use std::path::Path;
use std::time::Duration;

/// Where the length of the reply stands in a command's header.
const REPLY_LENGTH: std::ops::Range<usize> = 6..8;

/// Opens the character device at `path`. With `number` given, a node of another device is ENOENT: the right one is
/// not there.
pub fn open_node(path: &Path, number: Option<libc::dev_t>) -> Result<OwnedFd> {
    let fd = open(path, OFlag::O_RDWR | OFlag::O_CLOEXEC, Mode::empty())?;
    let status = fstat(&fd)?;
    let is_device = SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT == SFlag::S_IFCHR;
    if is_device && number.is_none_or(|number| number == status.st_rdev) {
        Ok(fd)
    } else {
        Err(Errno::ENOENT)
    }
}

/// Writes one command to the device; the kernel puts its answer into `reply` before the call returns. The address of
/// the reply is entered into the message at byte `response`, its length into the header. Returns the bytes taken.
///
/// This blocks where the command does, and a thread that is cancelled ends here: nothing that must be dropped may be
/// alive in a caller.
#[inline]
pub fn submit(fd: RawFd, message: &mut [u8], response: Option<usize>, reply: &mut [u8]) -> Result<usize> {
    if let Some(at) = response {
        let address = reply.as_mut_ptr().expose_provenance() as u64;
        let length = u16::try_from(reply.len()).map_err(|_| Errno::EINVAL)?;
        message.get_mut(at..at + 8).ok_or(Errno::EINVAL)?.copy_from_slice(&address.to_ne_bytes());
        message.get_mut(REPLY_LENGTH).ok_or(Errno::EINVAL)?.copy_from_slice(&length.to_ne_bytes());
    }
    // SAFETY: the message is readable for its length. The kernel writes only to the response address of a command,
    // which was just set to `reply` with its length; commands without `response` have no such field.
    let written = unsafe { libc::write(fd, message.as_ptr().cast(), message.len()) };
    usize::try_from(written).map_err(|_| Errno::last())
}

/// Whether there is something to read before that time of [`clock::now`]; waits for it. A descriptor that cannot be waited
/// for counts as readable: reading tells why.
pub fn becomes_readable(fd: RawFd, limit: Duration) -> bool {
    let wait = || descriptor::poll(&mut [descriptor::readable(fd)], Some(limit.saturating_sub(clock::now())));
    restarted(wait) != Ok(0)
}

/// Closes a descriptor that was handed to the application as a number.
pub fn close(fd: RawFd) {
    // SAFETY: the number is the caller's to close; an invalid one is an error of the kernel, without effect.
    unsafe { libc::close(fd) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn only_character_devices_of_that_number_open() {
        let null = Path::new("/dev/null");
        let number = nix::sys::stat::stat(null).unwrap().st_rdev;
        assert!(open_node(null, None).is_ok());
        assert!(open_node(null, Some(number)).is_ok());
        assert_eq!(open_node(null, Some(number + 1)).unwrap_err(), Errno::ENOENT);
        assert_eq!(open_node(Path::new("/dev"), None).unwrap_err(), Errno::from_raw(libc::EISDIR));
        assert_eq!(open_node(Path::new("/dev/no such node"), None).unwrap_err(), Errno::ENOENT);
    }

    #[test]
    fn a_message_carries_the_address_and_length_of_its_reply() {
        let (read_end, write_end) = UnixStream::pair().unwrap();
        let mut reply = [0u8; 12];
        let mut message = [0u8; 24];
        assert_eq!(submit(write_end.as_raw_fd(), &mut message, Some(8), &mut reply), Ok(24));
        let mut sent = [0u8; 24];
        (&read_end).read_exact(&mut sent).unwrap();
        assert_eq!(sent[6..8], 12u16.to_ne_bytes());
        assert_eq!(sent[8..16], (reply.as_ptr().addr() as u64).to_ne_bytes());
    }

    #[test]
    fn a_descriptor_is_waited_for_until_it_is_readable() {
        let (read_end, write_end) = UnixStream::pair().unwrap();
        let fd = read_end.as_raw_fd();
        assert!(!becomes_readable(fd, clock::now() + Duration::from_millis(20)));
        assert!(!becomes_readable(fd, Duration::ZERO), "a time that has passed");
        assert_eq!(submit(write_end.as_raw_fd(), &mut [0; 8], None, &mut []), Ok(8));
        assert!(becomes_readable(fd, clock::now() + Duration::from_secs(100)));
        assert!(becomes_readable(write_end.as_raw_fd() + 1000, clock::now() + Duration::from_secs(100)));
    }

    #[test]
    fn a_message_too_short_for_the_response_is_not_sent() {
        assert_eq!(submit(-1, &mut [0u8; 8], Some(8), &mut []), Err(Errno::EINVAL));
        assert_eq!(submit(-1, &mut [0u8; 8], None, &mut []), Err(Errno::EBADF));
    }
}
