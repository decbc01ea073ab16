// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Sockets on which nothing happens, among many that are looked at again and again.
//!
//! To look at a completion queue takes a call of the driver's for each socket, however little there is. So a socket that
//! was looked at in vain for a while becomes quiet: its next completion makes an event, and the kernel says of all quiet
//! ones at once, by one call, which have one. Whoever takes the event ends the quiet, so a socket with traffic costs no
//! call.

use super::service::Hub;
use super::socket::Socket;
use super::stage::Stage;
use crate::sys::epoll::{self, Change, Event};
use libc::EPOLLIN;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;

/// From so many sockets in one call on it is worth a call of the kernel's.
pub const MANY: usize = 8;
/// So often a socket is looked at in vain before it becomes quiet.
const PATIENCE: u8 = 16;
/// Events that the kernel tells of at a time.
const EVENTS: usize = 32;

/// Those of a process.
#[derive(Default)]
pub struct Quiet {
    /// Their completion channels, in a set of the kernel's, once there was one.
    set: OnceLock<OwnedFd>,
}

/// Of one socket.
#[derive(Default)]
pub struct Patience {
    looks: AtomicU8,
    /// It is in the set. It stays there when it is quiet no more.
    is_in_set: AtomicBool,
}

impl Quiet {
    fn set(&self) -> Option<&OwnedFd> {
        if self.set.get().is_none() {
            let _ = self.set.set(epoll::create(libc::EPOLL_CLOEXEC).ok()?);
        }
        self.set.get()
    }
}

impl Hub {
    /// Ends the quiet of the sockets that have an event.
    pub fn rouse(&self, most: usize) {
        let Some(set) = self.quiet.set.get() else { return };
        let mut events = [Event { events: 0, u64: 0 }; EVENTS];
        // Another thread may be slow to take the event of its socket, of which the kernel tells until then.
        for _ in 0..=most / EVENTS {
            let place = events.as_mut_ptr();
            // SAFETY: there is room for that many events.
            let ready = unsafe { epoll::wait(set.as_raw_fd(), place, EVENTS as i32, Some(Duration::ZERO)) };
            let told = ready.ok().and_then(|ready| events.get(..ready)).unwrap_or_default();
            for event in told {
                if let Some(socket) = self.socket(event.u64) {
                    socket.rouse();
                }
            }
            if told.len() < EVENTS {
                return;
            }
        }
    }
}

impl Socket {
    /// Whether it need not be looked at, unless [`Hub::rouse`] says so.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.link().is_some_and(|link| link.is_quiet.load(Ordering::Acquire))
    }

    fn rouse(&self) {
        if let Some(link) = self.link() {
            link.is_quiet.store(false, Ordering::Release);
        }
        self.take_event_if_any();
        self.tell_thread();
    }

    /// It was looked at in vain.
    #[inline]
    pub fn in_vain(&self) {
        let looks = self.patience.looks.load(Ordering::Relaxed);
        if looks < PATIENCE {
            self.patience.looks.store(looks + 1, Ordering::Relaxed);
        } else {
            self.patience.looks.store(0, Ordering::Relaxed);
            self.become_quiet();
        }
    }

    #[cold]
    fn become_quiet(&self) {
        // Nobody closes it meanwhile.
        let _attempt = self.attempt.lock();
        let link = self.link().filter(|link| self.is(Stage::Connected) && link.descriptor() == self.number());
        let (Some(link), Some(set)) = (link, self.hub().quiet.set()) else { return };
        if !self.patience.is_in_set.load(Ordering::Relaxed) {
            let event = Event { events: EPOLLIN as u32, u64: self.id().uid() };
            if epoll::change(set.as_raw_fd(), Change::Add, self.number(), event).is_err() {
                return;
            }
            self.patience.is_in_set.store(true, Ordering::Relaxed);
        }
        link.look_and_rest();
    }

    /// The number is about to mean something else: the set is not to know it any more.
    pub fn leave_quiet(&self) {
        if self.patience.is_in_set.swap(false, Ordering::Relaxed) {
            if let Some(set) = self.hub().quiet.set.get() {
                let _ = epoll::remove(set.as_raw_fd(), self.number());
            }
        }
    }
}
