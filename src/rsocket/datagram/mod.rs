// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Datagram sockets (`docs/rsockets.md`): an unreliable queue pair for each local address, and a UDP socket by which peers
//! tell each other of their queue pairs.
//!
//! The number is an epoll descriptor with the completion channels of the queue pairs in it. Lock order: the socket's
//! `attempt`, under which queue pairs are made; `inner`; that of a queue pair.

mod belief;
mod binding;
mod inlets;
mod notices;
mod own_id;
mod queue;
mod receiving;
mod sending;
mod table;
mod way;
pub(crate) mod wire;

pub use binding::{bind, connect, own, peer};
pub use inlets::Inlets;
pub use notices::told;
pub use receiving::{Arrival, receive_step};
pub use sending::send_step;

use super::ends::{Ends, READ_SHUT, WRITE_SHUT};
use super::socket::Socket;
use super::wait::Awaited;
use crate::cm::id::CmId;
use crate::errno::{Errno, Result};
use crate::sync::{Lock, Shared};
use crate::sys::bell::Bell;
use crate::sys::epoll::{self, Change, Event};
use crate::sys::udp::Udp;
use crate::sys::{descriptor, device};
use libc::{POLLERR, POLLHUP, POLLIN, POLLOUT, POLLRDHUP, POLLRDNORM, POLLWRNORM, c_short};
use queue::Queue;
use receiving::Received;
use std::ffi::c_int;
use std::net::SocketAddr;
use std::os::fd::{IntoRawFd, RawFd};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;
use table::Table;

/// The bell among the members of the epoll descriptor; the others are known by their ids.
const BELL: u64 = u64::MAX;

#[derive(Default)]
struct Inside {
    is_bound: bool,
    peer: Option<SocketAddr>,
    queues: Vec<Shared<Queue>>,
    table: Table,
    received: Received,
}

/// What a socket is besides if it sends datagrams.
pub struct Datagram {
    /// Its number, or a duplicate of that.
    epoll: AtomicI32,
    udp: Udp,
    /// Rings when something has come by notice, or failed.
    bell: Bell,
    /// What was shut down.
    pub ends: Ends,
    /// What the kernel said of a peer, until somebody was told.
    fault: AtomicI32,
    inside: Lock<Inside>,
}

impl Datagram {
    /// One without address. EAFNOSUPPORT for a family without datagrams.
    pub fn new(family: u16, close_on_exec: bool) -> Result<Datagram> {
        let udp = Udp::open(family)?;
        let bell = Bell::new()?;
        let set = epoll::create(if close_on_exec { libc::EPOLL_CLOEXEC } else { 0 })?;
        let event = Event { events: (libc::EPOLLIN | libc::EPOLLET) as u32, u64: BELL };
        epoll::change(std::os::fd::AsRawFd::as_raw_fd(&set), Change::Add, bell.fd(), event)?;
        Ok(Datagram {
            epoll: AtomicI32::new(set.into_raw_fd()),
            udp,
            bell,
            ends: Ends::default(),
            fault: AtomicI32::new(0),
            inside: Lock::default(),
        })
    }

    /// Where something that has come is announced.
    pub fn descriptor(&self) -> RawFd {
        self.epoll.load(Ordering::SeqCst)
    }

    /// The UDP socket.
    pub fn udp(&self) -> &Udp {
        &self.udp
    }

    /// The number is another socket's, and is not to be closed with this one.
    pub fn disown_number(&self, number: RawFd) {
        let _ = self.epoll.compare_exchange(number, -1, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// Number and port are free for others; threads may still wait for the rest. The caller has seen to it that no notices
    /// are taken any more.
    pub fn release(&self, number: RawFd, family: u16) {
        // Without a descriptor to be had nobody is told of completions any more.
        self.epoll.store(descriptor::duplicate(number).unwrap_or(-1), Ordering::SeqCst);
        device::close(number);
        let _ = self.udp.release(family);
    }

    /// Takes what has come.
    pub fn look(&self) {
        let mut inside = self.inside.lock();
        let Inside { queues, table, received, peer, .. } = &mut *inside;
        for queue in queues.iter() {
            received.drain(queue, table, *peer);
        }
    }

    /// The same, and sees to it that what comes next makes an event.
    pub fn look_and_arm(&self) {
        for queue in &self.inside.lock().queues {
            queue.arm();
        }
        self.look();
    }

    /// Takes the events that there are. EAGAIN without any.
    pub fn take_event(&self) -> Result<()> {
        let mut events = [Event { events: 0, u64: 0 }; 16];
        // SAFETY: there is that much room.
        let ready = unsafe {
            epoll::wait(self.descriptor(), events.as_mut_ptr(), events.len() as c_int, Some(Duration::ZERO))?
        };
        let inside = self.inside.lock();
        let mut any = false;
        for event in events.iter().take(ready) {
            let word = event.u64;
            if word == BELL {
                self.bell.silence();
                any = true;
            }
            for queue in inside.queues.iter().filter(|queue| queue.id().uid() == word) {
                any |= queue.take_event();
            }
        }
        if any { Ok(()) } else { Err(Errno::EAGAIN) }
    }

    /// Nothing goes by the queue pair of that id any more. It comes back, to be dropped without locks; what has come there
    /// can still be taken.
    fn discard(&self, id: &Shared<CmId>) -> Option<Shared<Queue>> {
        let mut inside = self.inside.lock();
        let position = inside.queues.iter().position(|queue| Shared::is_same(queue.id(), id))?;
        let queue = inside.queues.swap_remove(position);
        inside.table.forget(&queue);
        // Before it is closed, since a forked child may have it as well.
        let _ = epoll::remove(self.descriptor(), queue.descriptor());
        Some(queue)
    }

    /// For those who wait in the kernel.
    fn announce(&self, socket: &Socket) {
        self.bell.ring();
        socket.stir();
    }

    fn fail(&self, socket: &Socket, error: Errno) {
        self.fault.store(error.raw(), Ordering::SeqCst);
        self.announce(socket);
    }

    /// What the kernel said of a peer; 0 if nothing, or somebody was told before.
    pub fn take_fault(&self) -> c_int {
        self.fault.swap(0, Ordering::SeqCst)
    }

    fn has_fault(&self) -> bool {
        self.fault.load(Ordering::SeqCst) != 0
    }

    /// Whether a call need not wait.
    pub fn has(&self, awaited: Awaited) -> bool {
        let inside = self.inside.lock();
        match awaited {
            Awaited::Data => !inside.received.is_empty() || self.has_fault() || self.ends.any(READ_SHUT),
            Awaited::Room | Awaited::Buffer => {
                inside.queues.iter().all(|queue| queue.has_room() || queue.is_broken())
            }
            Awaited::Told => inside.queues.iter().all(|queue| queue.is_idle()),
            Awaited::Opened | Awaited::Accepted => true,
        }
    }

    /// What `poll(2)` finds.
    pub fn found(&self) -> c_short {
        let mut found = 0;
        if self.has(Awaited::Data) {
            found |= POLLIN | POLLRDNORM;
        }
        if self.has(Awaited::Room) {
            found |= POLLOUT | POLLWRNORM;
        }
        if self.has_fault() {
            found |= POLLERR;
        }
        if self.ends.any(READ_SHUT) {
            found |= POLLRDHUP;
        }
        if self.ends.all(READ_SHUT | WRITE_SHUT) {
            found |= POLLHUP;
        }
        found
    }

    /// Datagrams that have ever come.
    pub fn arrived(&self) -> u64 {
        self.inside.lock().received.count()
    }

    /// Whether sizes and the like can still be changed.
    pub fn has_queues(&self) -> bool {
        !self.inside.lock().queues.is_empty()
    }

    /// Ends directions. ENOTCONN without a peer.
    pub fn shutdown(&self, socket: &Socket, bits: u32) -> Result<()> {
        if self.inside.lock().peer.is_none() {
            return Err(Errno::ENOTCONN);
        }
        self.ends.set(bits);
        self.announce(socket);
        Ok(())
    }
}

impl Drop for Datagram {
    fn drop(&mut self) {
        device::close(self.descriptor());
    }
}
