// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Waiting for many sockets and descriptors at once.

use super::config;
use super::datagram::Datagram;
use super::ends::{BROKEN, PEER_GONE, PEER_SHUT, READ_SHUT, WRITE_SHUT};
use super::quiet::MANY;
use super::socket::{self, Socket};
use super::stage::Stage;
use super::waker::{self, Waker};
use crate::errno::Result;
use crate::sync::Shared;
use crate::sys::descriptor::{self, Watch};
use crate::sys::memory;
use crate::sys::park::Parking;
use crate::sys::process;
use crate::sys::thread::uncancellable;
use crate::sys::thread_end::AtThreadEnd;
use libc::{POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, POLLRDHUP, POLLRDNORM, POLLWRNORM, c_short};
use std::ffi::c_void;
use std::time::{Duration, Instant};

const READABLE: c_short = POLLIN | POLLRDNORM;
const WRITABLE: c_short = POLLOUT | POLLWRNORM;
/// Reported whether asked for or not.
const ALWAYS: c_short = POLLERR | POLLHUP | POLLNVAL;

impl Socket {
    /// What of `events` has come, and what is always told. Looks for itself.
    #[inline]
    pub fn ready(&self, events: c_short) -> c_short {
        self.attend_or_look();
        self.found(events)
    }

    /// The same, of one among many.
    #[inline]
    fn ready_among_many(&self, events: c_short) -> c_short {
        if self.is_quiet() {
            return self.found(events);
        }
        let is_in_set = self.attend_or_look();
        let found = self.found(events);
        if found == 0 && !is_in_set {
            self.in_vain();
        }
        found
    }

    /// Returns whether somebody else looks as well.
    #[inline]
    fn attend_or_look(&self) -> bool {
        // Whoever is told of something finds it in a set as well.
        let is_in_set = self.attend();
        if !is_in_set {
            self.look();
        }
        is_in_set
    }

    /// The same, as far as is known.
    #[inline]
    pub fn found(&self, events: c_short) -> c_short {
        let found =
            if self.is(Stage::Connected) { self.found_connected(events) } else { self.found_otherwise() };
        found & (events | ALWAYS)
    }

    fn found_otherwise(&self) -> c_short {
        match self.stage() {
            Stage::Listening if self.listening().is_some_and(|listening| listening.has_ready()) => READABLE,
            Stage::Failed => READABLE | WRITABLE | POLLRDHUP | POLLHUP | POLLERR,
            Stage::Closed => POLLNVAL,
            Stage::New if self.datagram().is_some() => self.datagram().map_or(0, Datagram::found),
            Stage::New | Stage::Bound => WRITABLE | POLLHUP,
            _ => 0,
        }
    }

    fn found_connected(&self, events: c_short) -> c_short {
        let Some(link) = self.link() else { return POLLERR };
        // The usual case, for a server with many clients.
        if events & WRITABLE == 0 && !link.has_data() && link.ends.is_none() {
            return 0;
        }
        let mut found = 0;
        if link.has_data() {
            found |= READABLE;
        }
        if link.ends.is_end_of_data() {
            found |= READABLE | POLLRDHUP;
        }
        if link.ends.is_end_of_sending() || (events & WRITABLE != 0 && link.has_room()) {
            found |= WRITABLE;
        }
        // A hang-up is not told before the data that came is taken: many programs read no more then.
        let is_empty = !link.has_data();
        let is_gone = link.ends.any(PEER_GONE | BROKEN);
        let is_shut = link.ends.any(WRITE_SHUT) && link.ends.any(READ_SHUT | PEER_SHUT);
        if is_empty && (is_gone || is_shut) {
            found |= POLLHUP;
        }
        if is_empty && link.has_fault() {
            found |= POLLERR;
        }
        found
    }
}

/// Waits until a socket or another descriptor is ready, and says how many are. None stands for no limit. EINTR after a
/// signal.
pub fn poll(fds: &mut [Watch], limit: Option<Duration>) -> Result<usize> {
    let start = Instant::now();
    loop {
        let (ready, has_sockets) = uncancellable(|| look_at_all(fds))?;
        if !has_sockets {
            return descriptor::poll(fds, limit);
        }
        if ready > 0 || limit == Some(Duration::ZERO) {
            return Ok(ready);
        }
        if start.elapsed() >= config::get().polling {
            break;
        }
    }
    let deadline = limit.and_then(|limit| start.checked_add(limit));
    loop {
        let sleep = uncancellable(|| Sleep::prepare(fds))?;
        let (ready, _) = uncancellable(|| look_at_all(fds))?;
        if ready > 0 {
            return Ok(ready);
        }
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if left == Some(Duration::ZERO) {
            return Ok(0);
        }
        sleep.sleep(left)?;
        // Before more is prepared: what woke the thread is usually what it waits for.
        let (ready, _) = uncancellable(|| look_at_all(fds))?;
        if ready > 0 {
            return Ok(ready);
        }
    }
}

/// How many are ready now, and whether there is a socket among them.
fn look_at_all(fds: &mut [Watch]) -> Result<(usize, bool)> {
    let generation = process::generation();
    let mut ready = 0;
    let mut others = false;
    let mut has_sockets = false;
    let are_many = fds.len() >= MANY;
    if are_many {
        rouse(fds);
    }
    for watch in fds.iter_mut() {
        watch.revents = 0;
        match socket::lookup(watch.fd) {
            Some(socket) => {
                has_sockets = true;
                watch.revents = if socket.is_of_other(generation) {
                    POLLERR
                } else if are_many {
                    socket.ready_among_many(watch.events)
                } else {
                    socket.ready(watch.events)
                };
            }
            None => others |= watch.fd >= 0,
        }
        ready += usize::from(watch.revents != 0);
    }
    if others && has_sockets {
        ready += look_at_others(fds)?;
    }
    Ok((ready, has_sockets))
}

/// Of those that are quiet, some may have an event.
fn rouse(fds: &[Watch]) {
    let mut sockets = fds.iter().filter_map(|watch| socket::lookup(watch.fd));
    if let Some(socket) = sockets.find(|socket| !socket.is_foreign()) {
        socket.hub().rouse(fds.len());
    }
}

/// The descriptors that are no sockets.
fn look_at_others(fds: &mut [Watch]) -> Result<usize> {
    let hidden = |watch: &Watch| if socket::lookup(watch.fd).is_some() { -1 } else { watch.fd };
    let visible = fds.iter().map(|watch| Watch { fd: hidden(watch), events: watch.events, revents: 0 });
    let mut others = memory::collect(visible)?;
    let ready = descriptor::poll(&mut others, Some(Duration::ZERO))?;
    for (watch, other) in fds.iter_mut().zip(&others) {
        if other.fd >= 0 {
            watch.revents = other.revents;
        }
    }
    Ok(ready)
}

/// The calling thread's places among those who wait, on all the sockets; given up when dropped.
struct Sleep {
    waker: Shared<Waker>,
    watches: Vec<Watch>,
    /// Each socket, its position and the events that had been taken of it.
    sockets: Vec<(Shared<Socket>, usize, u32)>,
}

thread_local! {
    static PARKED: Parking<Sleep> = const { Parking::new() };
}

static AT_END: AtThreadEnd = AtThreadEnd::new(end);

unsafe extern "C" fn end(_: *mut c_void) {
    PARKED.with(Parking::end);
}

impl Sleep {
    /// From now on nothing is missed.
    fn prepare(fds: &[Watch]) -> Result<Sleep> {
        let waker = waker::own()?;
        waker.rest();
        let mut watches = Vec::new();
        watches.try_reserve(fds.len() + 1)?;
        let mut sleep = Sleep { waker, watches, sockets: Vec::new() };
        for (position, watch) in fds.iter().enumerate() {
            let Some(socket) = socket::lookup(watch.fd).filter(|socket| !socket.is_foreign()) else {
                sleep.watches.push(Watch { revents: 0, ..*watch });
                continue;
            };
            let seen = socket.waiters.taken();
            sleep.sockets.try_reserve(1)?;
            socket.waiters.sleep(&sleep.waker)?;
            sleep.sockets.push((Shared::clone(&socket), position, seen));
            // A quiet one is ready to make an event.
            if !socket.is_quiet() {
                socket.look_and_arm();
            }
            sleep.watches.push(descriptor::readable(socket.watched()));
        }
        sleep.watches.push(descriptor::readable(sleep.waker.fd()));
        Ok(sleep)
    }

    /// Until something has happened, which need not be what was asked for.
    fn sleep(mut self, limit: Option<Duration>) -> Result<()> {
        let mut watches = std::mem::take(&mut self.watches);
        let (place, length) = (watches.as_mut_ptr(), watches.len());
        self.watches = watches;
        let (sleep, result) = Parking::during(&PARKED, &AT_END, self, || {
            // SAFETY: the memory is that of the list, which is parked, and which nobody touches there.
            descriptor::poll(unsafe { std::slice::from_raw_parts_mut(place, length) }, limit)
        })?;
        result?;
        uncancellable(|| {
            for (socket, position, seen) in &sleep.sockets {
                if sleep.watches.get(*position).is_some_and(|watch| watch.revents != 0) {
                    socket.take_event_since(*seen);
                }
            }
            drop(sleep);
        });
        Ok(())
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        for (socket, ..) in &self.sockets {
            socket.waiters.wake_up(&self.waker);
        }
    }
}
