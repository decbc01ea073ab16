// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Stream sockets to services of this machine. No call on them lasts longer than a limit, none raises a signal.

use super::restart::restarted;
use crate::errno::{Errno, Result};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockType, SockaddrIn, SockaddrLike, UnixAddr, connect, recv, send,
    setsockopt, socket, sockopt,
};
use nix::sys::time::TimeVal;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

/// Where a service listens.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// At a node of the file system.
    Node(&'a Path),
    /// At a TCP port of the loopback interface.
    Port(u16),
}

/// A connection.
#[derive(Debug)]
pub struct Stream {
    socket: OwnedFd,
    limit: Duration,
}

impl Stream {
    /// Connects within the limit, which then also holds for each call on the stream. What socket(2) and connect(2)
    /// say; EAGAIN or EINPROGRESS if it takes too long.
    pub fn connect(place: Place<'_>, limit: Duration) -> Result<Stream> {
        match place {
            Place::Node(path) => Stream::open(AddressFamily::Unix, &UnixAddr::new(path)?, limit),
            Place::Port(port) => {
                Stream::open(AddressFamily::Inet, &SockaddrIn::new(127, 0, 0, 1, port), limit)
            }
        }
    }

    fn open(family: AddressFamily, address: &impl SockaddrLike, limit: Duration) -> Result<Stream> {
        let socket = socket(family, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
        let mut stream = Stream { socket, limit: Duration::ZERO };
        stream.set_limit(limit)?;
        // After a signal the kernel takes up the wait for the same connection.
        restarted(|| Ok(connect(stream.socket.as_raw_fd(), address)?))?;
        Ok(stream)
    }

    /// Changes the limit of each call: at least a microsecond.
    pub fn set_limit(&mut self, limit: Duration) -> Result<()> {
        if limit != self.limit {
            let limit = limit.max(Duration::from_micros(1));
            let time = TimeVal::new(limit.as_secs() as i64, i64::from(limit.subsec_micros()));
            setsockopt(&self.socket, sockopt::ReceiveTimeout, &time)?;
            setsockopt(&self.socket, sockopt::SendTimeout, &time)?;
        }
        self.limit = limit;
        Ok(())
    }

    /// Sends a message that is small enough for the kernel to take it at once. EPIPE or ECONNRESET if nobody listens
    /// any more, EIO if a part was taken.
    pub fn send(&self, message: &[u8]) -> Result<()> {
        let sent = restarted(|| Ok(send(self.socket.as_raw_fd(), message, MsgFlags::MSG_NOSIGNAL)?))?;
        if sent == message.len() { Ok(()) } else { Err(Errno::EIO) }
    }

    /// Receives what is there, waiting for it. ECONNRESET at the end of the stream, EAGAIN if nothing came, EINTR
    /// after a signal.
    pub fn receive(&self, room: &mut [u8]) -> Result<usize> {
        match recv(self.socket.as_raw_fd(), room, MsgFlags::empty())? {
            0 => Err(Errno::ECONNRESET),
            length => Ok(length),
        }
    }
}
