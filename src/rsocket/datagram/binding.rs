// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Addresses of datagram sockets, and their queue pairs.

use super::Datagram;
use super::queue::{Queue, is_any};
use crate::errno::{Errno, Result};
use crate::resolve::sockaddr;
use crate::rsocket::names;
use crate::rsocket::socket::Socket;
use crate::rsocket::stage::Stage;
use crate::sync::Shared;
use crate::sys::epoll::{self, Change, Event};
use crate::sys::udp::Udp;
use std::net::{IpAddr, SocketAddr};

/// An address as it is known here: IPv4 in its own form, and without what is no part of it.
pub fn canonical(address: &[u8]) -> Result<SocketAddr> {
    let address = sockaddr::ip(address).ok_or(Errno::EAFNOSUPPORT)?;
    Ok(match (address.ip().to_canonical(), address) {
        (IpAddr::V4(ip), _) => SocketAddr::new(ip.into(), address.port()),
        (IpAddr::V6(_), same) => same,
    })
}

/// An address of the application's. EINVAL for a wrong size, EAFNOSUPPORT for a family that the socket does not speak to.
pub fn read(socket: &Socket, address: &[u8]) -> Result<SocketAddr> {
    let v6_only = socket.options.lock().v6_only;
    let address = canonical(&names::for_kernel(socket.family(), address, v6_only)?)?;
    match i32::from(socket.family()) {
        libc::AF_INET if address.is_ipv6() => Err(Errno::EAFNOSUPPORT),
        _ => Ok(address),
    }
}

/// An address as a socket of this family sees it.
pub fn seen_by(family: u16, address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if i32::from(family) == libc::AF_INET6 => {
            SocketAddr::new(ip.to_ipv6_mapped().into(), address.port())
        }
        _ => address,
    }
}

/// The same as bytes.
pub fn bytes_for(family: u16, address: SocketAddr) -> Result<Vec<u8>> {
    sockaddr::of_ip(seen_by(family, address))
}

/// Gives the socket an address, at a port of the kernel's choice if it is 0. ENODEV if it belongs to no RDMA device.
pub fn bind(socket: &Shared<Socket>, datagram: &Datagram, address: &[u8]) -> Result<()> {
    let _attempt = socket.attempt.lock();
    if socket.stage() == Stage::Closed {
        return Err(Errno::EBADF);
    }
    let mut local = read(socket, address)?;
    if datagram.inside.lock().is_bound {
        return Err(Errno::EINVAL);
    }
    datagram.udp.bind(&bytes_for(socket.family(), local)?)?;
    if !is_any(local.ip()) {
        local.set_port(datagram.local()?.port());
        if let Err(error) = queue_at(socket, datagram, local) {
            // The kernel's sockets cannot lose an address again.
            datagram.inside.lock().is_bound = true;
            return Err(error);
        }
    }
    datagram.bound(socket)
}

/// Gives the socket a peer, or takes it away (AF_UNSPEC).
pub fn connect(socket: &Shared<Socket>, datagram: &Datagram, address: &[u8]) -> Result<()> {
    if address.len() >= size_of::<libc::sa_family_t>() && sockaddr::family(address) == 0 {
        return datagram.disconnect(socket.family());
    }
    let peer = read(socket, address)?;
    // What fails leaves the peer before.
    know(socket, datagram, peer)?;
    let attempt = socket.attempt.lock();
    if socket.stage() == Stage::Closed {
        return Err(Errno::EBADF);
    }
    datagram.udp.connect(&bytes_for(socket.family(), peer)?)?;
    datagram.inside.lock().peer = Some(peer);
    drop(attempt);
    socket.stir();
    Ok(())
}

/// The socket's own address, as it sees it.
pub fn own(datagram: &Datagram) -> Result<Vec<u8>> {
    crate::sys::memory::concat(&[datagram.udp.own()?.bytes()])
}

/// The address of the peer, as the socket sees it. ENOTCONN without one.
pub fn peer(socket: &Socket, datagram: &Datagram) -> Result<Vec<u8>> {
    let peer = datagram.inside.lock().peer.ok_or(Errno::ENOTCONN)?;
    bytes_for(socket.family(), peer)
}

impl Datagram {
    fn disconnect(&self, family: u16) -> Result<()> {
        let port = self.local()?.port();
        self.udp.disconnect()?;
        self.inside.lock().peer = None;
        let mut local = self.local()?;
        // The kernel takes a port back that it has chosen, but peers know it.
        if local.port() != port {
            local.set_port(port);
            self.udp.bind(&bytes_for(family, local)?)?;
        }
        Ok(())
    }

    fn local(&self) -> Result<SocketAddr> {
        canonical(self.udp.own()?.bytes())
    }

    /// It has an address: notices are taken from now on.
    fn bound(&self, socket: &Socket) -> Result<()> {
        if std::mem::replace(&mut self.inside.lock().is_bound, true) {
            return Ok(());
        }
        socket.hub().inlets.add(socket, self.udp.fd()).inspect_err(|_| self.inside.lock().is_bound = false)
    }
}

/// The destination is in the table from now on, with a queue pair that sends there.
pub fn know(socket: &Shared<Socket>, datagram: &Datagram, peer: SocketAddr) -> Result<()> {
    if datagram.inside.lock().table.get(peer).is_some_and(|destination| !destination.queue().is_broken()) {
        return Ok(());
    }
    let _attempt = socket.attempt.lock();
    if socket.stage() == Stage::Closed {
        return Err(Errno::EBADF);
    }
    if !datagram.inside.lock().is_bound {
        datagram.udp.bind(&names::any(socket.family())?)?;
        datagram.bound(socket)?;
    }
    let local = local_towards(datagram, peer)?;
    let queue = queue_at(socket, datagram, local)?;
    let displaced = datagram.inside.lock().table.enter(peer, queue)?;
    drop(displaced);
    Ok(())
}

/// The own address that a peer gets to see.
fn local_towards(datagram: &Datagram, peer: SocketAddr) -> Result<SocketAddr> {
    let local = datagram.local()?;
    if !is_any(local.ip()) {
        return Ok(local);
    }
    let bytes = sockaddr::of_ip(peer)?;
    let probe = Udp::open(sockaddr::family(&bytes))?;
    probe.connect(&bytes)?;
    let mut towards = canonical(probe.own()?.bytes())?;
    towards.set_port(local.port());
    Ok(towards)
}

/// The queue pair of an own address, which is made if there is none. The caller holds the socket's `attempt`.
fn queue_at(socket: &Shared<Socket>, datagram: &Datagram, local: SocketAddr) -> Result<Shared<Queue>> {
    let known = datagram.inside.lock().queues.iter().find(|queue| queue.local() == local).cloned();
    match known {
        Some(queue) if queue.is_broken() => drop(datagram.discard(queue.id())),
        Some(queue) => return Ok(queue),
        None => {}
    }
    let queue = Shared::try_new(Queue::create(socket, local)?)?;
    let event = Event { events: libc::EPOLLIN as u32, u64: queue.id().uid() };
    let mut inside = datagram.inside.lock();
    inside.queues.try_reserve(1)?;
    inside.received.reserve(queue.places())?;
    epoll::change(datagram.descriptor(), Change::Add, queue.descriptor(), event)?;
    inside.queues.push(Shared::clone(&queue));
    drop(inside);
    datagram.look_and_arm();
    Ok(queue)
}
