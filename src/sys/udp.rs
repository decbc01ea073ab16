// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Datagram sockets of the kernel. No call on them waits. An address is bytes, as in `struct sockaddr`.

use super::descriptor;
use crate::errno::{Errno, Result};
use std::ffi::c_int;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};

const NAME_MAX: usize = size_of::<libc::sockaddr_storage>();

/// An address that the kernel told.
#[derive(Clone, Copy)]
pub struct Name {
    bytes: [u8; NAME_MAX],
    length: usize,
}

impl Name {
    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    fn told_by(
        tell: impl FnOnce(*mut libc::sockaddr, *mut libc::socklen_t) -> isize,
    ) -> Result<(usize, Name)> {
        let mut name = Name { bytes: [0; NAME_MAX], length: 0 };
        let mut length = NAME_MAX as libc::socklen_t;
        let result = tell(name.bytes.as_mut_ptr().cast(), &mut length);
        name.length = (length as usize).min(NAME_MAX);
        usize::try_from(result).map(|result| (result, name)).map_err(|_| Errno::last())
    }
}

/// See the module. Closed when dropped, and on exec.
#[derive(Debug)]
pub struct Udp(OwnedFd);

fn done(result: c_int) -> Result<()> {
    if result < 0 { Err(Errno::last()) } else { Ok(()) }
}

impl Udp {
    /// A new one. EAFNOSUPPORT for a family without datagrams.
    pub fn open(family: u16) -> Result<Udp> {
        let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: no precondition; a descriptor that comes back belongs to nobody else.
        unsafe {
            match libc::socket(family.into(), kind, 0) {
                -1 => Err(Errno::last()),
                fd => Ok(Udp(OwnedFd::from_raw_fd(fd))),
            }
        }
    }

    /// For `poll(2)`.
    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// `bind(2)`.
    pub fn bind(&self, address: &[u8]) -> Result<()> {
        // SAFETY: that many readable bytes.
        done(unsafe { libc::bind(self.fd(), address.as_ptr().cast(), address.len() as libc::socklen_t) })
    }

    /// `connect(2)`.
    pub fn connect(&self, address: &[u8]) -> Result<()> {
        // SAFETY: that many readable bytes.
        done(unsafe { libc::connect(self.fd(), address.as_ptr().cast(), address.len() as libc::socklen_t) })
    }

    /// It has no peer any more.
    pub fn disconnect(&self) -> Result<()> {
        self.connect(&[0; size_of::<libc::sockaddr>()])
    }

    /// Its port is free for others, even if threads still use it: it becomes one without address.
    pub fn release(&self, family: u16) -> Result<()> {
        let other = Udp::open(family)?;
        descriptor::put_over(other.0.into_raw_fd(), self.fd())
    }

    /// Its own address.
    pub fn own(&self) -> Result<Name> {
        // SAFETY: the places are valid.
        Name::told_by(|name, length| unsafe { libc::getsockname(self.fd(), name, length) as isize })
            .map(|(_, name)| name)
    }

    /// Sends to an address. EAGAIN without room.
    pub fn send(&self, message: &[u8], to: &[u8]) -> Result<()> {
        // SAFETY: that many readable bytes in both places.
        let sent = unsafe {
            libc::sendto(
                self.fd(),
                message.as_ptr().cast(),
                message.len(),
                libc::MSG_NOSIGNAL,
                to.as_ptr().cast(),
                to.len() as libc::socklen_t,
            )
        };
        if sent < 0 { Err(Errno::last()) } else { Ok(()) }
    }

    /// Receives what is there: its length, which may be more than there is room for, and who sent it. EAGAIN if nothing
    /// is.
    pub fn receive(&self, room: &mut [u8]) -> Result<(usize, Name)> {
        let (place, most) = (room.as_mut_ptr().cast(), room.len());
        // SAFETY: that many writable bytes, and valid places.
        Name::told_by(|name, length| unsafe {
            libc::recvfrom(self.fd(), place, most, libc::MSG_TRUNC, name, length)
        })
    }

    /// `setsockopt(2)` with an integer.
    pub fn set(&self, level: c_int, option: c_int, value: c_int) -> Result<()> {
        let length = size_of::<c_int>() as libc::socklen_t;
        // SAFETY: the value is readable.
        done(unsafe { libc::setsockopt(self.fd(), level, option, (&raw const value).cast(), length) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 127.0.0.1, at a port of the kernel's choice.
    fn loopback() -> [u8; 16] {
        let mut address = [0; 16];
        address[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
        address[4..8].copy_from_slice(&[127, 0, 0, 1]);
        address
    }

    #[test]
    fn a_message_comes_with_its_length_and_sender() {
        let (one, other) =
            (Udp::open(libc::AF_INET as u16).unwrap(), Udp::open(libc::AF_INET as u16).unwrap());
        one.bind(&loopback()).unwrap();
        other.bind(&loopback()).unwrap();
        let mut room = [0; 4];
        assert_eq!(one.receive(&mut room).err(), Some(Errno::EAGAIN));
        other.send(b"abcdef", one.own().unwrap().bytes()).unwrap();
        descriptor::poll(&mut [descriptor::readable(one.fd())], None).unwrap();
        let (length, from) = one.receive(&mut room).unwrap();
        assert_eq!((length, &room), (6, b"abcd"));
        assert_eq!(from.bytes(), other.own().unwrap().bytes());
    }
}
