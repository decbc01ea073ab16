// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What the thread of all sockets does for datagram sockets: it takes notices, and has ways found as the kernel tells of
//! them. Nothing here waits.

use super::own_id::OwnId;
use super::queue::Queue;
use super::table::Search;
use super::way::Way;
use super::wire::{self, HEADER, PAYLOAD, Purpose};
use super::{Datagram, binding};
use crate::cm::address;
use crate::cm::id::CmId;
use crate::ctypes::{
    RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_DEVICE_REMOVAL, RDMA_CM_EVENT_ROUTE_RESOLVED,
};
use crate::errno::{Errno, Result};
use crate::resolve::sockaddr;
use crate::rsocket::news::News;
use crate::rsocket::socket::Socket;
use crate::sync::Shared;
use std::net::SocketAddr;

/// Most notices of one socket before others get their turn.
const MOST: usize = 64;
/// How long each step of finding a way may take.
const LIMIT_MS: u32 = 2000;

/// Takes the notices that have come. The descriptor says whether there are more.
pub fn serve(socket: &Shared<Socket>, datagram: &Datagram) {
    for _ in 0..MOST {
        let mut room = [0; HEADER + PAYLOAD + 1];
        match datagram.udp.receive(&mut room) {
            Ok((length, from)) => {
                // One that did not fit is not a socket's of this kind.
                if let (Some(message), Ok(from)) = (room.get(..length), binding::canonical(from.bytes())) {
                    take(socket, datagram, message, from);
                }
            }
            Err(Errno::EAGAIN) => return,
            Err(Errno::EINTR) => {}
            // Without a peer nobody has asked.
            Err(error) if datagram.inside.lock().peer.is_some() => return datagram.fail(socket, error),
            Err(_) => return,
        }
    }
}

fn take(socket: &Shared<Socket>, datagram: &Datagram, message: &[u8], from: SocketAddr) {
    let Some(notice) = wire::read_notice(message, from.ip()) else { return };
    if binding::know(socket, datagram, from).is_err() {
        return;
    }
    let mut inside = datagram.inside.lock();
    let Some(queue) = inside.table.get(from).map(|destination| destination.queue()) else {
        return;
    };
    let sought_from = inside.table.hear(from, notice.number, notice.purpose == Purpose::Answer);
    let is_new = notice.purpose == Purpose::Data && inside.received.add(from, notice.payload);
    drop(inside);
    if notice.purpose == Purpose::Data {
        datagram.answer(socket, &queue, from);
    }
    if let Some(queue) = sought_from {
        if seek(socket, datagram, queue, from).is_err() {
            datagram.inside.lock().table.miss(from);
        }
    }
    if is_new {
        datagram.announce(socket);
    }
}

/// Starts to find the way to a peer.
fn seek(socket: &Shared<Socket>, datagram: &Datagram, queue: Shared<Queue>, peer: SocketAddr) -> Result<()> {
    let id = OwnId::create(socket)?;
    let mut source = queue.local();
    source.set_port(0);
    address::resolve(&id, Some(&sockaddr::of_ip(source)?), &sockaddr::of_ip(peer)?, LIMIT_MS)?;
    let left = datagram.inside.lock().table.seek(Search { id, queue, peer });
    drop(left);
    Ok(())
}

/// What the kernel told of an id of the socket's.
pub fn told(socket: &Shared<Socket>, datagram: &Datagram, id: &Shared<CmId>, news: &News) {
    let sought = datagram.inside.lock().table.sought_by(id);
    let Some(queue) = sought else {
        if news.kind == RDMA_CM_EVENT_DEVICE_REMOVAL {
            datagram.lose(socket, id);
        }
        return;
    };
    let way = match news.kind {
        RDMA_CM_EVENT_ADDR_RESOLVED => match address::resolve_route(id, LIMIT_MS) {
            Ok(()) => return,
            Err(_) => None,
        },
        RDMA_CM_EVENT_ROUTE_RESOLVED => {
            let type_of_service = socket.options.lock().type_of_service();
            Way::create(&queue, id, type_of_service).and_then(Shared::try_new).ok()
        }
        _ => None,
    };
    let search = datagram.inside.lock().table.found(id, way);
    drop(search);
}

impl Datagram {
    /// The device of a queue pair is gone. The kernel waits until all that was made on it is.
    fn lose(&self, socket: &Socket, id: &Shared<CmId>) {
        let Some(lost) = self.discard(id) else { return };
        self.inside.lock().received.forget(&lost);
        drop(lost);
        self.fail(socket, Errno::ENODEV);
    }
}
