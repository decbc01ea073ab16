// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! A socket in a set.
//!
//! In the kernel the application's word for a member would be in the way of ours, by which an event is known to be of a
//! member. Ours is a key of a table, disguised by a random number so that no word of an application's looks like one.

use super::Set;
use super::bridge::Bridge;
use crate::errno::{Errno, Result};
use crate::rsocket::socket::Socket;
use crate::sync::{Key, Lock, Shared, Table, Weak};
use crate::sys::epoll::{self, Change, Event};
use libc::{EPOLLET, EPOLLEXCLUSIVE, EPOLLIN, EPOLLONESHOT, EPOLLOUT, POLLNVAL, c_short};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::fd::RawFd;
use std::sync::OnceLock;

/// Members by the words that the kernel has of them.
pub static PLACES: Table<Place> = Table::new();

/// What an event of the kernel's belongs to.
#[derive(Clone)]
pub enum Place {
    /// A member's counter.
    Bridge(Shared<Member>),
    /// The completion channel of a member's socket.
    Channel(Shared<Member>),
    /// What is no member any more.
    Gone,
    /// Another descriptor: the application's event.
    Unknown,
}

fn disguise() -> u64 {
    static RANDOM: OnceLock<u64> = OnceLock::new();
    *RANDOM.get_or_init(|| RandomState::new().build_hasher().finish())
}

/// What an event with this word belongs to.
pub fn of(word: u64) -> Place {
    let key = Key::from_raw(word ^ disguise());
    match PLACES.get(key) {
        Some(place) => place,
        None if PLACES.is_recent(key) => Place::Gone,
        None => Place::Unknown,
    }
}

/// What the application waits for.
struct Wanted {
    events: u32,
    data: u64,
    bridge: Shared<Bridge>,
    /// An event was told since the application last said what it waits for.
    is_told: bool,
}

/// For the kernel: how to wait for a counter, and our word.
fn kernel_event(events: u32, key: Key) -> Event {
    // A counter can always be written to.
    let events = events & !(EPOLLOUT as u32) | EPOLLIN as u32;
    Event { events, u64: key.raw() ^ disguise() }
}

/// See the module.
pub struct Member {
    set: Weak<Set>,
    set_number: RawFd,
    socket: Weak<Socket>,
    socket_number: RawFd,
    /// Of the threads that wait for the socket in such sets one is told. This cannot be changed.
    is_exclusive: bool,
    keys: OnceLock<(Key, Key)>,
    /// None before it has come in, and when it is gone.
    wanted: Lock<Option<Wanted>>,
}

/// The part of events that is awaited, not how.
fn interests(events: u32) -> c_short {
    (events & 0x7fff) as c_short
}

impl Member {
    /// The socket comes into the set.
    pub fn create(set: &Shared<Set>, socket: &Shared<Socket>, event: Event) -> Result<Shared<Member>> {
        let member = Shared::try_new(Member {
            set: Weak::to(set),
            set_number: set.number,
            socket: Weak::to(socket),
            socket_number: socket.number(),
            is_exclusive: event.events & EPOLLEXCLUSIVE as u32 != 0,
            keys: OnceLock::new(),
            wanted: Lock::new(None),
        })?;
        let place = |place: fn(Shared<Member>) -> Place| -> Result<Key> {
            let mut given = None;
            PLACES.insert_with(|key| {
                given = Some(key);
                Ok(place(Shared::clone(&member)))
            })?;
            given.ok_or(Errno::ENOMEM)
        };
        let bridge_key = place(Place::Bridge)?;
        let keys = place(Place::Channel).map(|channel_key| (bridge_key, channel_key)).inspect_err(|_| {
            PLACES.remove(bridge_key);
        })?;
        let _ = member.keys.set(keys);
        let Event { events, u64: data } = event;
        let entered = socket.join(&member, interests(events), events, |bridge| {
            let wanted = Wanted { events, data, bridge: Shared::clone(bridge), is_told: false };
            let mut place = member.wanted.lock();
            epoll::change(set.number, Change::Add, bridge.fd(), kernel_event(events, bridge_key))?;
            *place = Some(wanted);
            Ok(())
        });
        entered.map(|()| Shared::clone(&member)).inspect_err(|_| {
            let _ = epoll::remove(set.number, socket.number());
            member.vanish();
        })
    }

    /// Whether it is this socket, not one that had the number before.
    pub fn is_of(&self, socket: &Shared<Socket>) -> bool {
        self.socket.is_to(socket)
    }

    fn bridge_key(&self) -> Result<Key> {
        self.keys.get().map(|keys| keys.0).ok_or(Errno::ENOENT)
    }

    /// Whoever waits for the set gets to know of the socket's completions. The channel does not block.
    pub fn watch(&self, channel: RawFd) -> Result<()> {
        let (_, key) = self.keys.get().ok_or(Errno::ENOENT)?;
        // Each event is told once, to one thread of a set. If that may not take it, the one that is about to does the rest.
        let one_set = if self.is_exclusive { EPOLLEXCLUSIVE } else { 0 };
        let events = (EPOLLIN | EPOLLET | one_set) as u32;
        epoll::change(self.set_number, Change::Add, channel, Event { events, u64: key.raw() ^ disguise() })
    }

    /// What the kernel says of adding what is there already: EEXIST, unless the events are wrong.
    pub fn add_again(&self, event: Event) -> Result<()> {
        let (place, key) = (self.wanted.lock(), self.bridge_key()?);
        let wanted = place.as_ref().ok_or(Errno::ENOENT)?;
        let event = kernel_event(event.events, key);
        epoll::change(self.set_number, Change::Add, wanted.bridge.fd(), event)
    }

    /// The application waits for something else.
    pub fn change(&self, socket: &Socket, event: Event) -> Result<()> {
        let key = self.bridge_key()?;
        let Event { events, u64: data } = event;
        let place = self.wanted.lock();
        let wanted = place.as_ref().ok_or(Errno::ENOENT)?;
        if self.is_exclusive {
            return Err(Errno::EINVAL);
        }
        let before = (Shared::clone(&wanted.bridge), wanted.events);
        drop(place);
        socket.join_other((&before.0, before.1), (interests(events), events), |bridge| {
            let mut place = self.wanted.lock();
            let next = Wanted { events, data, bridge: Shared::clone(bridge), is_told: false };
            let event = kernel_event(events, key);
            if Shared::is_same(bridge, &before.0) {
                epoll::change(self.set_number, Change::Modify, bridge.fd(), event)?;
            } else {
                epoll::remove(self.set_number, before.0.fd())?;
                epoll::change(self.set_number, Change::Add, bridge.fd(), event).inspect_err(|_| {
                    if let Some(wanted) = place.as_ref() {
                        let event = kernel_event(wanted.events, key);
                        let _ = epoll::change(self.set_number, Change::Add, wanted.bridge.fd(), event);
                    }
                })?;
            }
            *place = Some(next);
            Ok(())
        })
    }

    /// The event for the application, if there is one.
    pub fn report(&self) -> Option<Event> {
        let socket = self.socket.upgrade()?;
        let (bridge, data) = {
            let place = self.wanted.lock();
            let wanted = place.as_ref()?;
            (Shared::clone(&wanted.bridge), wanted.data)
        };
        let found = socket.ready(bridge.interests());
        if found & POLLNVAL != 0 {
            return None;
        }
        if found == 0 {
            // Another thread was faster.
            socket.attend();
            self.rearm();
            return None;
        }
        if let Some(wanted) = self.wanted.lock().as_mut() {
            wanted.is_told = true;
        }
        Some(Event { events: found as u32, u64: data })
    }

    /// A member that waits for one event has not had it yet.
    fn rearm(&self) {
        let place = self.wanted.lock();
        let one = |wanted: &&Wanted| wanted.events & EPOLLONESHOT as u32 != 0 && !wanted.is_told;
        if let (Some(wanted), Ok(key)) = (place.as_ref().filter(one), self.bridge_key()) {
            let event = kernel_event(wanted.events, key);
            let _ = epoll::change(self.set_number, Change::Modify, wanted.bridge.fd(), event);
        }
    }

    /// Takes an event of the socket's completions.
    pub fn pump(&self) {
        if let Some(socket) = self.socket.upgrade() {
            socket.pump();
        }
    }

    /// It is no member any more.
    pub fn leave(member: &Shared<Member>) {
        let wanted = member.wanted.lock().take();
        if let Some(wanted) = wanted {
            let _ = epoll::remove(member.set_number, wanted.bridge.fd());
            let _ = epoll::remove(member.set_number, member.socket_number);
            if let Some(socket) = member.socket.upgrade() {
                socket.part(member, &wanted.bridge, wanted.events);
            }
        }
        member.vanish();
    }

    /// Its socket is closed.
    pub fn close(member: &Shared<Member>) {
        if let Some(set) = member.set.upgrade() {
            set.forget(member.socket_number, member);
        }
        Member::leave(member);
    }

    fn vanish(&self) {
        if let Some((bridge, channel)) = self.keys.get() {
            PLACES.remove(*bridge);
            PLACES.remove(*channel);
        }
    }
}
