// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Sending datagrams: over RDMA where the peer's queue pair is known, else as a notice.

use super::queue::Queue;
use super::table::Plan;
use super::wire::{HEADER, PAYLOAD, Purpose};
use super::{Datagram, binding};
use crate::errno::{Errno, Result};
use crate::rsocket::ends::WRITE_SHUT;
use crate::rsocket::socket::Socket;
use crate::rsocket::transfer::Step;
use crate::rsocket::wait::Awaited;
use crate::sync::Shared;
use crate::sys::iovec::Pieces;
use std::net::SocketAddr;
use std::time::Instant;

/// Sends all of the pieces as one datagram, to an address or else to the peer. EMSGSIZE for more than a message takes,
/// EDESTADDRREQ without a destination.
pub fn send_step(
    socket: &Shared<Socket>,
    datagram: &Datagram,
    pieces: &mut Pieces<'_>,
    to: Option<&[u8]>,
) -> Result<Step> {
    if socket.is_closed() {
        return Err(Errno::EBADF);
    }
    if datagram.ends.any(WRITE_SHUT) {
        return Err(Errno::EPIPE);
    }
    let total = pieces.left();
    if total > PAYLOAD {
        return Err(Errno::EMSGSIZE);
    }
    let peer = match to {
        Some(address) => binding::read(socket, address)?,
        None => datagram.inside.lock().peer.ok_or(Errno::EDESTADDRREQ)?,
    };
    match datagram.take_fault() {
        0 => {}
        error => return Err(Errno::from_raw(error)),
    }
    binding::know(socket, datagram, peer)?;
    let plan =
        datagram.inside.lock().table.get(peer).map(|destination| destination.plan(total, Instant::now()));
    // A stranger may have taken the place meanwhile, if the table is full.
    match plan.ok_or(Errno::ENOBUFS)? {
        Plan::Direct(queue, way, number) => {
            if !queue.has_room() {
                datagram.look();
            }
            if queue.send(&way, number, pieces)? {
                Ok(Step::Done(total))
            } else {
                Ok(Step::Wait(Awaited::Room))
            }
        }
        Plan::Notice(queue) => {
            datagram.send_notice(socket, &queue, peer, pieces)?;
            Ok(Step::Done(total))
        }
    }
}

impl Datagram {
    fn send_notice(
        &self,
        socket: &Socket,
        queue: &Queue,
        peer: SocketAddr,
        pieces: &mut Pieces<'_>,
    ) -> Result<()> {
        let mut message = [0; HEADER + PAYLOAD];
        let mut length = 0;
        let mut places = message.iter_mut();
        let mut put = |part: &[u8]| {
            for (byte, place) in part.iter().zip(&mut places) {
                *place = *byte;
                length += 1;
            }
        };
        put(queue.notice(Purpose::Data).get());
        pieces.read(PAYLOAD, put);
        self.send_to(socket, message.get(..length).unwrap_or_default(), peer).map_err(|error| match error {
            // The kernel's buffer is full for a moment, which is no socket's that could be waited for.
            Errno::EAGAIN => Errno::ENOBUFS,
            other => other,
        })
    }

    /// Tells the peer of a queue pair, without being asked to wait.
    pub(super) fn answer(&self, socket: &Socket, queue: &Queue, peer: SocketAddr) {
        let _ = self.send_to(socket, queue.notice(Purpose::Answer).get(), peer);
    }

    fn send_to(&self, socket: &Socket, message: &[u8], peer: SocketAddr) -> Result<()> {
        self.udp.send(message, &binding::bytes_for(socket.family(), peer)?)
    }
}
