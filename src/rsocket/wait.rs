// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! A call that waits for something to happen on a socket.
//!
//! While a thread sleeps its reference to the socket and its place among those who wait are parked (`sys::park`).

use super::accept::Listening;
use super::config;
use super::link::Link;
use super::socket::Socket;
use super::stage::Stage;
use super::waker::{self, Waker};
use crate::errno::{Errno, Result};
use crate::sync::Shared;
use crate::sys::descriptor;
use crate::sys::park::Parking;
use crate::sys::thread::uncancellable;
use crate::sys::thread_end::AtThreadEnd;
use std::ffi::c_void;
use std::os::fd::RawFd;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// What a call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// Data, or the end of it.
    Data,
    /// Room to send, or the end of sending.
    Room,
    /// Room for what needs no room at the peer.
    Buffer,
    /// Everything that was sent has arrived.
    Told,
    /// A connection, or that there is none.
    Opened,
    /// A connection to a listener.
    Accepted,
}

impl Socket {
    /// Whether a call need not wait.
    pub fn has(&self, awaited: Awaited) -> bool {
        let stage = self.stage();
        if stage == Stage::Closed && awaited != Awaited::Told {
            return true;
        }
        if awaited == Awaited::Accepted {
            return stage != Stage::Listening || self.listening().is_none_or(Listening::has_ready);
        }
        if stage.is_opening() {
            return false;
        }
        if let Some(datagram) = self.datagram() {
            return datagram.has(awaited);
        }
        match (awaited, self.link()) {
            (Awaited::Data, Some(link)) => link.is_readable(),
            (Awaited::Room, Some(link)) => link.ends.is_end_of_sending() || link.has_room(),
            (Awaited::Buffer, Some(link)) => link.ends.is_end_of_sending() || link.has_free_buffer(),
            (Awaited::Told, Some(link)) => link.is_all_told(),
            _ => true,
        }
    }

    /// Looks for itself, once.
    #[inline]
    pub fn look(&self) {
        if let Some(link) = self.live_link() {
            link.look();
        } else if let Some(datagram) = self.datagram() {
            datagram.look();
        }
    }

    /// The same, and sees to it that the next completion makes an event.
    #[inline]
    pub fn look_and_arm(&self) {
        if let Some(link) = self.live_link() {
            link.look_and_arm();
        } else if let Some(datagram) = self.datagram() {
            datagram.look_and_arm();
        }
    }

    /// Takes an event, which is the calling thread's turn.
    pub fn take_event(&self) -> Result<()> {
        match (self.datagram(), self.link()) {
            (Some(datagram), _) => datagram.take_event(),
            (None, Some(link)) => {
                let result = link.completions().take_event();
                link.event_taken(result);
                result
            }
            (None, None) => Err(Errno::EAGAIN),
        }
    }
}

/// A moment after which a call does not wait any more.
pub type Deadline = Option<Instant>;

/// Waits; the socket comes back. EAGAIN after the deadline, EINTR after a signal.
pub fn until(socket: Shared<Socket>, awaited: Awaited, deadline: Deadline) -> Result<Shared<Socket>> {
    let mut socket = socket;
    if uncancellable(|| found_by_looking(&socket, awaited)) {
        return Ok(socket);
    }
    loop {
        // Completions tell of data, but not of a connection.
        let by_link = !matches!(awaited, Awaited::Opened | Awaited::Accepted);
        let place = uncancellable(|| Place::take(socket, by_link && deadline.is_none()))?;
        let ready = uncancellable(|| {
            if by_link {
                place.socket.look_and_arm();
            }
            place.socket.has(awaited)
        });
        if ready {
            return Ok(place.leave());
        }
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return place.give_up(Errno::EAGAIN);
        }
        socket = place.block(deadline)?;
        // Before the next completion is to make an event, which may not be wanted any more.
        let found = uncancellable(|| {
            if by_link {
                socket.look();
            }
            socket.has(awaited)
        });
        if found {
            return Ok(socket);
        }
    }
}

/// Spends a few microseconds on what often comes at once.
fn found_by_looking(socket: &Socket, awaited: Awaited) -> bool {
    let polling = config::get().polling;
    if (socket.live_link().is_none() && socket.datagram().is_none()) || polling.is_zero() {
        return socket.has(awaited);
    }
    let start = Instant::now();
    loop {
        socket.look();
        if socket.has(awaited) {
            return true;
        }
        if start.elapsed() >= polling {
            return false;
        }
    }
}

/// A place among those who wait on a socket; given up when dropped.
struct Place {
    socket: Shared<Socket>,
    /// None for the reader.
    waker: Option<Shared<Waker>>,
    /// Events that had been taken before.
    seen: u32,
    /// The reader has taken one.
    with_event: bool,
}

thread_local! {
    static PARKED: Parking<Place> = const { Parking::new() };
}

static AT_END: AtThreadEnd = AtThreadEnd::new(end);

unsafe extern "C" fn end(_: *mut c_void) {
    PARKED.with(Parking::end);
}

impl Place {
    /// The reader's, if it is free and wanted.
    fn take(socket: Shared<Socket>, may_read: bool) -> Result<Place> {
        let seen = socket.waiters.taken();
        if may_read && socket.link().is_some() && socket.waiters.become_reader() {
            return Ok(Place { socket, waker: None, seen, with_event: false });
        }
        let waker = waker::own()?;
        waker.rest();
        socket.waiters.sleep(&waker)?;
        Ok(Place { socket, waker: Some(waker), seen, with_event: false })
    }

    // Others are woken, under a lock.
    fn leave(self) -> Shared<Socket> {
        uncancellable(|| {
            let socket = Shared::clone(&self.socket);
            drop(self);
            socket
        })
    }

    fn give_up<R>(self, error: Errno) -> Result<R> {
        uncancellable(|| drop(self));
        Err(error)
    }

    /// Sleeps until something has happened.
    fn block(self, deadline: Deadline) -> Result<Shared<Socket>> {
        match (&self.waker, self.socket.link()) {
            (None, Some(link)) => {
                let link: *const Link = link;
                self.read(link)
            }
            (None, None) => Ok(self.leave()),
            (Some(waker), _) => {
                let waker = waker.fd();
                self.sleep(waker, deadline)
            }
        }
    }

    fn read(self, link: *const Link) -> Result<Shared<Socket>> {
        // SAFETY: the place keeps the socket, and so its link, and comes back out of the storage.
        let (mut place, result) = self.parked(|| unsafe { &*link }.completions().take_event())?;
        place.with_event = result.is_ok();
        uncancellable(|| {
            if let Some(link) = place.socket.link() {
                link.event_taken(result);
            }
            place.socket.attend();
            if result.is_ok() {
                place.socket.tell_thread();
            }
        });
        match result {
            Err(Errno::EINTR) => return place.give_up(Errno::EINTR),
            // The application has made the descriptor non-blocking.
            Err(Errno::EAGAIN) => {
                // SAFETY: as above.
                let channel = unsafe { &*link }.descriptor();
                // A socket that is closed may have none any more.
                if channel >= 0 {
                    let mut watch = [descriptor::readable(channel)];
                    let (back, result) = place.parked(|| descriptor::poll(&mut watch, None))?;
                    if let Err(error) = result {
                        return back.give_up(error);
                    }
                    place = back;
                }
            }
            _ => {}
        }
        Ok(place.leave())
    }

    fn sleep(self, waker: RawFd, deadline: Deadline) -> Result<Shared<Socket>> {
        let mut watches = [descriptor::readable(waker), descriptor::readable(self.socket.watched())];
        let limit = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let (place, result) = self.parked(|| descriptor::poll(&mut watches, limit))?;
        if let Err(error) = result {
            return place.give_up(error);
        }
        let [_, event] = watches;
        if event.revents != 0 {
            uncancellable(|| place.socket.take_event_since(place.seen));
        }
        Ok(place.leave())
    }

    /// Does `work`, in which the thread may be cancelled.
    fn parked<R>(self, work: impl FnOnce() -> R) -> Result<(Place, R)> {
        Parking::during(&PARKED, &AT_END, self, work)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        match &self.waker {
            None => {
                // Other threads may have left an event to this one.
                if self.socket.waiters.stop_reading(self.with_event) || !self.with_event {
                    self.socket.pump();
                }
            }
            Some(waker) => self.socket.waiters.wake_up(waker),
        }
    }
}

impl Socket {
    /// The descriptor that a thread that is not the reader has to watch as well; -1 for none.
    pub fn watched(&self) -> RawFd {
        if let Some(datagram) = self.datagram() {
            return if self.waiters.has_reader() { -1 } else { datagram.descriptor() };
        }
        match self.link() {
            Some(_) if self.live_link().is_none() || self.waiters.has_reader() => -1,
            Some(link) => link.descriptor(),
            None if self.listening().is_some() => self.number(),
            None => -1,
        }
    }

    /// For the thread of the process: takes an event if there is one, and nobody else is about to.
    pub fn take_event_if_any(&self) {
        let seen = self.waiters.taken();
        let mut watch = [descriptor::readable(self.watched())];
        let is_there = descriptor::poll(&mut watch, Some(Duration::ZERO)) == Ok(1);
        if is_there && self.channel().is_some() && self.waiters.become_reader_since(seen) {
            self.read_event();
        }
    }

    /// Takes an event that was seen, unless another thread has or is about to.
    pub fn take_event_since(&self, seen: u32) {
        if self.channel().is_some() && self.waiters.become_reader_since(seen) {
            self.read_event();
            self.tell_thread();
        }
    }

    /// The turn of a reader that sees an event.
    pub fn read_event(&self) {
        loop {
            let result = self.take_event();
            let is_called = self.waiters.stop_reading(result.is_ok());
            // A channel that works no more is news as well.
            if !matches!(result, Err(Errno::EAGAIN | Errno::EINTR)) {
                self.attend();
            }
            if !is_called || !self.waiters.become_reader_or_call() {
                return;
            }
        }
    }

    /// An event was taken that the thread of the process may be waiting for.
    pub fn tell_thread(&self) {
        if self.is_tended.load(Ordering::SeqCst) || self.is(Stage::Closed) {
            self.hub().ring();
        }
    }
}

/// A limit from now on; none for no limit.
pub fn deadline(limit: Option<Duration>) -> Deadline {
    limit.and_then(|limit| Instant::now().checked_add(limit))
}
