// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Where notices to datagram sockets come in. An epoll descriptor, since that keeps none of its members open: the port of a
//! socket is free as soon as it is closed.

use super::notices;
use crate::errno::Result;
use crate::rsocket::socket::Socket;
use crate::sync::Shared;
use crate::sys::epoll::{self, Change, Event};
use std::ffi::c_int;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::Duration;

/// See the module.
pub struct Inlets(OwnedFd);

impl Inlets {
    /// None.
    pub fn open() -> Result<Inlets> {
        epoll::create(libc::EPOLL_CLOEXEC).map(Inlets)
    }

    /// Readable while there is a notice.
    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// What comes to the descriptor is the socket's from now on.
    pub fn add(&self, socket: &Socket, udp: RawFd) -> Result<()> {
        let event = Event { events: libc::EPOLLIN as u32, u64: socket.id().uid() };
        epoll::change(self.fd(), Change::Add, udp, event)
    }

    /// Ends [`Inlets::add`]: before the descriptor is closed, which a forked child may have as well.
    pub fn remove(&self, udp: RawFd) {
        let _ = epoll::remove(self.fd(), udp);
    }

    /// Takes the notices that have come. `find` knows the sockets by their ids.
    pub fn take(&self, find: impl Fn(u64) -> Option<Shared<Socket>>) {
        let mut events = [Event { events: 0, u64: 0 }; 16];
        // SAFETY: there is that much room.
        let ready = unsafe {
            epoll::wait(self.fd(), events.as_mut_ptr(), events.len() as c_int, Some(Duration::ZERO))
        };
        for event in events.iter().take(ready.unwrap_or(0)) {
            let socket = find(event.u64);
            if let Some((socket, datagram)) = socket.as_ref().and_then(|one| Some((one, one.datagram()?))) {
                notices::serve(socket, datagram);
            }
        }
    }
}
