// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Datagrams that have come, and the application's taking them.

use super::queue::{Came, Queue};
use super::table::Table;
use super::wire::{self, PAYLOAD};
use super::{Datagram, binding};
use crate::errno::{Errno, Result};
use crate::rsocket::ends::READ_SHUT;
use crate::rsocket::socket::Socket;
use crate::rsocket::transfer::Step;
use crate::rsocket::wait::Awaited;
use crate::sync::Shared;
use crate::sys::iovec::Pieces;
use crate::sys::memory;
use std::collections::VecDeque;
use std::ffi::c_int;
use std::net::SocketAddr;

/// Most datagrams by notice that wait for the application.
const MOST_NOTICES: usize = 64;

/// What a receive tells besides its length.
#[derive(Default)]
pub struct Arrival {
    /// Who sent the datagram, as the socket sees it; None for a stream.
    pub source: Option<SocketAddr>,
    /// The datagram was longer than the room for it.
    pub is_cut: bool,
}

enum Place {
    /// In the buffer of a queue pair, behind that many bytes of header.
    Queue(Shared<Queue>, Came, usize),
    /// A copy.
    Copy(Vec<u8>),
}

struct Datum {
    source: SocketAddr,
    place: Place,
}

impl Datum {
    fn length(&self) -> usize {
        match &self.place {
            Place::Queue(_, came, skip) => came.length.saturating_sub(*skip),
            Place::Copy(bytes) => bytes.len(),
        }
    }

    fn copy_out(&self, pieces: &mut Pieces<'_>) -> usize {
        let length = self.length().min(pieces.left());
        match &self.place {
            Place::Queue(queue, came, skip) => queue.copy_out(*came, *skip, length, pieces),
            Place::Copy(bytes) => {
                let mut rest = bytes.as_slice();
                pieces.write(length, |room| {
                    room.fill(rest);
                    rest = rest.get(room.length()..).unwrap_or_default();
                });
            }
        }
        length
    }
}

/// Those that the application has not taken.
#[derive(Default)]
pub struct Received {
    waiting: VecDeque<Datum>,
    /// Of them, by notice.
    copies: usize,
    count: u64,
}

impl Received {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// How many have ever come.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// There is room for that many more, besides those by notice.
    pub fn reserve(&mut self, places: usize) -> Result<()> {
        Ok(self.waiting.try_reserve(places + MOST_NOTICES)?)
    }

    /// Takes what has come to a queue pair; only from the peer, if there is one.
    pub fn drain(&mut self, queue: &Shared<Queue>, table: &mut Table, peer: Option<SocketAddr>) {
        queue.drain(|came| {
            let mut room = [0; wire::HEADER];
            let length = queue.header_of(came, &mut room);
            let header = room.get(..length).unwrap_or_default();
            let Some((source, skip)) = wire::read_header(header) else { return false };
            let source = beside(queue.local(), source);
            table.confirm(source, came.from);
            if peer.is_some_and(|peer| peer != source) || self.waiting.try_reserve(1).is_err() {
                return false;
            }
            let place = Place::Queue(Shared::clone(queue), came, skip);
            self.waiting.push_back(Datum { source, place });
            self.count += 1;
            true
        });
    }

    /// A datagram has come by notice. False if it is lost.
    pub fn add(&mut self, source: SocketAddr, payload: &[u8]) -> bool {
        if self.copies >= MOST_NOTICES || payload.len() > PAYLOAD || self.waiting.try_reserve(1).is_err() {
            return false;
        }
        let Ok(copy) = memory::concat(&[payload]) else { return false };
        self.waiting.push_back(Datum { source, place: Place::Copy(copy) });
        self.copies += 1;
        self.count += 1;
        true
    }

    /// What has come to a queue pair that is gone is lost. The caller has a reference to it.
    pub fn forget(&mut self, queue: &Shared<Queue>) {
        self.waiting
            .retain(|datum| !matches!(&datum.place, Place::Queue(of, ..) if Shared::is_same(of, queue)));
    }

    /// Takes the first one away: its place takes another message.
    fn finish_first(&mut self) {
        match self.waiting.pop_front().map(|first| first.place) {
            Some(Place::Queue(queue, came, _)) => queue.receive_again(came),
            Some(Place::Copy(_)) => self.copies -= 1,
            None => {}
        }
    }
}

/// Headers do not tell the interface of a link-local address, which is that of the own one.
fn beside(own: SocketAddr, mut source: SocketAddr) -> SocketAddr {
    if let (SocketAddr::V6(own), SocketAddr::V6(source)) = (own, &mut source) {
        if source.ip().is_unicast_link_local() {
            source.set_scope_id(own.scope_id());
        }
    }
    source
}

/// Receives a datagram, if one is there. What there is no room for is lost.
pub fn receive_step(
    socket: &Socket,
    datagram: &Datagram,
    pieces: &mut Pieces<'_>,
    flags: c_int,
    arrival: &mut Arrival,
) -> Result<Step> {
    if socket.is_closed() {
        return Err(Errno::EBADF);
    }
    if datagram.inside.lock().received.is_empty() {
        datagram.look();
    }
    let mut inside = datagram.inside.lock();
    let Some(first) = inside.received.waiting.front() else {
        drop(inside);
        return match datagram.take_fault() {
            0 if datagram.ends.any(READ_SHUT) => Ok(Step::Done(0)),
            0 => Ok(Step::Wait(Awaited::Data)),
            error => Err(Errno::from_raw(error)),
        };
    };
    let length = first.length();
    arrival.source = Some(binding::seen_by(socket.family(), first.source));
    let copied = first.copy_out(pieces);
    arrival.is_cut = copied < length;
    if flags & libc::MSG_PEEK == 0 {
        inside.received.finish_first();
    }
    Ok(Step::Done(if flags & libc::MSG_TRUNC != 0 { length } else { copied }))
}
