// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What the kernel sees of a socket: for each choice of events that some set waits for, a counter that is readable while
//! one of them has come. Sets that wait for the same share it, as they would share the descriptor of a kernel's socket.

use super::member::Member;
use crate::errno::{Errno, Result};
use crate::rsocket::socket::Socket;
use crate::sync::{Lock, Shared};
use crate::sys::bell::Bell;
use crate::sys::descriptor;
use crate::sys::memory;
use crate::sys::thread::uncancellable;
use libc::{EPOLLET, EPOLLEXCLUSIVE, POLLIN, POLLRDNORM, c_short};
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};

/// The counter for one choice of events.
pub struct Bridge {
    bell: Bell,
    interests: c_short,
}

impl Bridge {
    /// For the kernel.
    pub fn fd(&self) -> RawFd {
        self.bell.fd()
    }

    /// The events.
    pub fn interests(&self) -> c_short {
        self.interests
    }
}

struct Entry {
    bridge: Shared<Bridge>,
    users: usize,
    /// Users that want to know of what comes while something is there already.
    restless: usize,
    is_rung: bool,
    /// What had come, and how far the socket was, when the counter was last looked after.
    found: c_short,
    mark: Mark,
}

#[derive(Default)]
struct Inside {
    is_closed: bool,
    /// The completion channel, once it is of use.
    channel: Option<RawFd>,
    entries: Vec<Entry>,
    members: Vec<Shared<Member>>,
}

/// Those of one socket.
#[derive(Default)]
pub struct Bridges {
    /// There are any. Read before the lock is taken, on the way of all data.
    any: AtomicBool,
    inside: Lock<Inside>,
}

/// Whether members with these events want to know of what comes while something is there already.
fn is_restless(events: u32) -> bool {
    events & (EPOLLET | EPOLLEXCLUSIVE) as u32 != 0
}

impl Inside {
    /// One more user of the bridge for these events.
    fn take(&mut self, interests: c_short, events: u32) -> Result<Shared<Bridge>> {
        let found = self.entries.iter().position(|entry| entry.bridge.interests == interests);
        let position = match found {
            Some(position) => position,
            None => {
                let entry = Entry {
                    bridge: Shared::try_new(Bridge { bell: Bell::new()?, interests })?,
                    users: 0,
                    restless: 0,
                    is_rung: false,
                    found: 0,
                    mark: Mark::default(),
                };
                memory::push(&mut self.entries, entry)?;
                self.entries.len() - 1
            }
        };
        let entry = self.entries.get_mut(position).ok_or(Errno::ENOMEM)?;
        entry.users += 1;
        entry.restless += usize::from(is_restless(events));
        Ok(Shared::clone(&entry.bridge))
    }

    /// Ends [`Inside::take`].
    fn give(&mut self, bridge: &Shared<Bridge>, events: u32) {
        let Some(position) = self.entries.iter().position(|entry| Shared::is_same(&entry.bridge, bridge))
        else {
            return;
        };
        if let Some(entry) = self.entries.get_mut(position) {
            entry.users -= 1;
            entry.restless -= usize::from(is_restless(events));
            if entry.users == 0 {
                self.entries.swap_remove(position);
            }
        }
    }

    /// Each counter becomes what the socket is.
    fn level(&mut self, socket: &Socket) {
        let mark = socket.mark();
        for entry in &mut self.entries {
            let found = socket.found(entry.bridge.interests);
            let has_come = found & (POLLIN | POLLRDNORM) != 0 && mark.arrivals != entry.mark.arrivals;
            let is_news = has_come || found & !entry.found != 0 || mark.turn != entry.mark.turn;
            entry.found = found;
            entry.mark = mark;
            if found == 0 {
                if std::mem::replace(&mut entry.is_rung, false) {
                    entry.bridge.bell.silence();
                }
            } else if !std::mem::replace(&mut entry.is_rung, true) || (is_news && entry.restless > 0) {
                entry.bridge.bell.ring();
            }
        }
    }
}

/// How far a socket is.
#[derive(Clone, Copy, Default)]
struct Mark {
    /// How much has come to be taken.
    arrivals: u64,
    /// Its stage, and which directions are over: news for everybody, whatever they wait for.
    turn: (u8, u32),
}

impl Socket {
    fn mark(&self) -> Mark {
        let stage = self.stage() as u8;
        if let Some(datagram) = self.datagram() {
            return Mark { arrivals: datagram.arrived(), turn: (stage, datagram.ends.bits()) };
        }
        match (self.link(), self.listening()) {
            (Some(link), _) => Mark { arrivals: link.arrived(), turn: (stage, link.ends.bits()) },
            (None, Some(listening)) => Mark { arrivals: listening.arrived(), turn: (stage, 0) },
            (None, None) => Mark { arrivals: 0, turn: (stage, 0) },
        }
    }

    /// Something has moved, or somebody has taken an event: those who wait in the kernel are to know. Returns whether there
    /// are any; then it has looked for itself.
    #[inline]
    pub fn attend(&self) -> bool {
        let any = self.bridges.any.load(Ordering::SeqCst);
        if any {
            self.attend_bridges();
        }
        any
    }

    fn attend_bridges(&self) {
        self.look_and_arm();
        self.bridges.inside.lock().level(self);
    }

    /// Takes an event if one is there, of which the kernel tells only once. If another thread has the turn, that one
    /// looks for it.
    pub fn pump(&self) {
        if self.channel().is_none() || !self.bridges.any.load(Ordering::SeqCst) {
            return;
        }
        uncancellable(|| {
            if self.waiters.become_reader_or_call() {
                self.read_event();
                self.tell_thread();
            }
        });
    }

    /// The socket connects: completions count from now on.
    pub fn bridge_channel(&self, channel: RawFd) -> Result<()> {
        let mut inside = self.bridges.inside.lock();
        inside.channel = Some(channel);
        if inside.members.is_empty() {
            // A thread that sleeps takes its event by one call; the first member sees to the rest.
            return Ok(());
        }
        descriptor::set_nonblocking(channel)?;
        inside.members.iter().try_for_each(|member| member.watch(channel))
    }

    /// The member waits for the socket.
    pub(super) fn join(
        &self,
        member: &Shared<Member>,
        interests: c_short,
        events: u32,
        enter: impl FnOnce(&Shared<Bridge>) -> Result<()>,
    ) -> Result<()> {
        let mut inside = self.bridges.inside.lock();
        if inside.is_closed {
            return Err(Errno::EBADF);
        }
        inside.members.try_reserve(1)?;
        let bridge = inside.take(interests, events)?;
        let is_live = self.live_link().is_some() || self.datagram().is_some();
        let channel = inside.channel.or(self.channel().filter(|_| is_live));
        // First: a thread that looks for the event that another was told of must not wait for the next one.
        let result = channel.map_or(Ok(()), descriptor::set_nonblocking);
        self.bridges.any.store(true, Ordering::SeqCst);
        let result =
            result.and_then(|()| channel.map_or(Ok(()), |channel| member.watch(channel))).and_then(|()| {
                self.look_and_arm();
                inside.level(self);
                enter(&bridge)
            });
        if let Err(error) = result {
            inside.give(&bridge, events);
            self.bridges.any.store(!inside.members.is_empty(), Ordering::SeqCst);
            return Err(error);
        }
        inside.members.push(Shared::clone(member));
        Ok(())
    }

    /// A member waits for other events from now on.
    pub(super) fn join_other(
        &self,
        from: (&Shared<Bridge>, u32),
        to: (c_short, u32),
        enter: impl FnOnce(&Shared<Bridge>) -> Result<()>,
    ) -> Result<()> {
        let mut inside = self.bridges.inside.lock();
        let bridge = inside.take(to.0, to.1)?;
        inside.level(self);
        let result = enter(&bridge);
        if result.is_ok() {
            inside.give(from.0, from.1);
        } else {
            inside.give(&bridge, to.1);
        }
        result
    }

    /// Ends [`Socket::join`].
    pub(super) fn part(&self, member: &Shared<Member>, bridge: &Shared<Bridge>, events: u32) {
        let mut inside = self.bridges.inside.lock();
        if let Some(position) = inside.members.iter().position(|other| Shared::is_same(other, member)) {
            inside.members.swap_remove(position);
        }
        inside.give(bridge, events);
        self.bridges.any.store(!inside.members.is_empty(), Ordering::SeqCst);
    }

    /// The number means nothing any more: the socket is in no set from now on.
    pub fn leave_sets(&self) {
        loop {
            let mut inside = self.bridges.inside.lock();
            inside.is_closed = true;
            let Some(member) = inside.members.pop() else { return };
            drop(inside);
            Member::close(&member);
        }
    }
}
