// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Sockets over RDMA (`docs/rsockets.md`).
//!
//! Order of locks, where one is taken inside another: a set's (`repoll`); a socket's `attempt`; a listener's bridges, and
//! its queue; the bridges of other sockets; a member of a set, or the four of a link (`link`) and an id's `queues`, or those
//! of `datagram`. Inside each of these may be taken, with none inside: a socket's waiters, its `options`, and what its
//! thread has to do (`service`).

mod accept;
mod arena;
mod closing;
mod config;
mod connect;
mod control;
pub(crate) mod datagram;
mod ends;
mod forks;
mod keepalive;
mod link;
mod names;
mod news;
mod option_value;
mod options;
mod paths;
mod poll;
mod quiet;
pub mod repoll;
mod select;
mod service;
mod socket;
mod stage;
mod transfer;
mod wait;
mod waiters;
mod waker;
pub(crate) mod wire;

pub use crate::sys::iovec::{Pieces, single as piece};
pub use accept::{accept, listen};
pub use closing::{close, shutdown};
pub use connect::connect;
pub use control::fcntl;
pub use datagram::Arrival;
pub use names::{bind, of_peer, own, peer};
pub use options::{get as get_option, set as set_option};
pub use poll::poll;
pub use select::{Sets, select};
pub use transfer::{map, receive, receive_from, send, send_to, unmap, write_mapped};

use crate::errno::{Errno, Result};
use crate::resolve::sockaddr;
use crate::sys::thread::uncancellable;
use crate::uapi::AF_IB;
use std::ffi::c_int;
use std::os::fd::RawFd;

type Create = fn(u16, bool, bool) -> Result<RawFd>;

/// Makes a socket. EOPNOTSUPP for what there is not: other families, kinds and protocols.
pub fn create(domain: c_int, kind: c_int, protocol: c_int) -> Result<RawFd> {
    let flags = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    let family = u16::try_from(domain).map_err(|_| Errno::EOPNOTSUPP)?;
    let is_known = [libc::AF_INET, libc::AF_INET6, AF_IB.into()].contains(&domain);
    let (usual, create): (_, Create) = match kind & !flags {
        libc::SOCK_STREAM => (libc::IPPROTO_TCP, socket::create),
        libc::SOCK_DGRAM => (libc::IPPROTO_UDP, socket::create_datagram),
        _ => return Err(Errno::EOPNOTSUPP),
    };
    if !is_known || ![0, usual].contains(&protocol) {
        return Err(Errno::EOPNOTSUPP);
    }
    uncancellable(|| {
        config::prepare()?;
        forks::prepare()?;
        create(family, kind & libc::SOCK_CLOEXEC != 0, kind & libc::SOCK_NONBLOCK != 0)
    })
}

/// Whether it is a socket that sends datagrams.
pub fn is_datagram(number: RawFd) -> bool {
    socket::lookup(number).is_some_and(|socket| socket.datagram().is_some())
}

impl Arrival {
    /// Who sent the datagram, as bytes; None for a stream, or without memory.
    pub fn source_bytes(&self) -> Option<Vec<u8>> {
        self.source.and_then(|source| sockaddr::of_ip(source).ok())
    }
}
