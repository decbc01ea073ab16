// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The end of a socket.

use super::ends::{READ_SHUT, WRITE_SHUT};
use super::link::Link;
use super::repoll;
use super::service;
use super::socket::{self, Socket};
use super::stage::Stage;
use super::wait::{self, Awaited};
use super::wire::Message;
use crate::diag;
use crate::errno::{Errno, Result};
use crate::sync::Shared;
use crate::sys::device;
use crate::sys::park::Parking;
use crate::sys::thread::uncancellable;
use crate::sys::thread_end::AtThreadEnd;
use std::ffi::{c_int, c_void};
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

/// How long closing waits for a peer that does not take what was sent, if the application says nothing.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long it waits before that is told, if diagnostics are on.
const LONG: Duration = Duration::from_secs(5);

/// Ends one direction, or both.
pub fn shutdown(number: RawFd, how: c_int) -> Result<()> {
    let socket = socket::find(number)?;
    let bits = match how {
        libc::SHUT_RD => READ_SHUT,
        libc::SHUT_WR => WRITE_SHUT,
        libc::SHUT_RDWR => READ_SHUT | WRITE_SHUT,
        _ => return Err(Errno::EINVAL),
    };
    if let Some(datagram) = socket.datagram() {
        return uncancellable(|| datagram.shutdown(&socket, bits));
    }
    let link = socket.link().filter(|_| socket.stage() == Stage::Connected).ok_or(Errno::ENOTCONN)?;
    uncancellable(|| {
        end(&socket, link, bits);
        service::tend(&socket);
    });
    Ok(())
}

/// Tells the peer, and every thread that waits.
fn end(socket: &Socket, link: &Link, bits: u32) {
    let before = link.ends.set(bits);
    let sends = before & WRITE_SHUT == 0;
    if link.ends.all(READ_SHUT | WRITE_SHUT) || link.ends.is_over() {
        link.tell_end(Message::Disconnect);
    } else if bits & WRITE_SHUT != 0 && sends {
        // A peer that has said so before has nothing to say any more.
        let both = link.ends.any(super::ends::PEER_SHUT);
        link.tell_end(if both { Message::Disconnect } else { Message::Shutdown });
    }
    if socket.stir() {
        link.knock();
    }
}

/// A socket that is closed, but has not said all.
pub struct Closing {
    socket: Shared<Socket>,
    until: Instant,
}

impl Closing {
    /// Whether it has, or it is too late.
    pub fn is_done(&self, now: Instant) -> bool {
        self.socket.take_event_if_any();
        self.socket.look_and_arm();
        now >= self.until || self.socket.has(Awaited::Told)
    }

    /// When it is too late.
    pub fn until(&self) -> Instant {
        self.until
    }

    /// Where something may happen; -1 if nothing tells of it.
    pub fn watched(&self) -> RawFd {
        self.socket.channel().unwrap_or(-1)
    }

    /// The thread sees to the rest.
    fn go_on(self) {
        uncancellable(|| {
            self.socket.release_number();
            let hub = Shared::clone(self.socket.hub());
            hub.close_later(self);
        });
    }
}

/// A call that waits for that. However its thread leaves it, the socket says all.
struct Lingering(Option<Closing>);

impl Drop for Lingering {
    fn drop(&mut self) {
        if let Some(closing) = self.0.take() {
            let _ = service::settle_at_exit();
            closing.go_on();
        }
    }
}

thread_local! {
    static PARKED: Parking<Lingering> = const { Parking::new() };
}

static AT_END: AtThreadEnd = AtThreadEnd::new(end_of_thread);

unsafe extern "C" fn end_of_thread(_: *mut c_void) {
    PARKED.with(Parking::end);
}

/// Closes a socket, or a set of them. Whatever it returns, the number is free.
pub fn close(number: RawFd) -> Result<()> {
    let Ok(socket) = socket::withdraw(number) else { return repoll::close(number) };
    if socket.is_foreign() {
        // Nothing but the descriptor is this process's own.
        device::close(number);
        std::mem::forget(socket);
        return Ok(());
    }
    uncancellable(|| socket.leave_sets());
    let linger = socket.options.lock().linger;
    let patience = match linger {
        Some(Duration::ZERO) => None,
        Some(limit) => Some(limit),
        None => Some(PATIENCE),
    };
    let may_have_sent = socket.stage() == Stage::Connected || socket.datagram().is_some();
    uncancellable(|| {
        let _attempt = socket.attempt.lock();
        socket.set_stage(Stage::Closed);
    });
    let told = match patience {
        Some(patience) if may_have_sent => say_all(socket, patience, linger.is_none()),
        _ => Some(socket),
    };
    uncancellable(|| {
        let Some(socket) = told else { return };
        if let Some(link) = socket.link().filter(|_| socket.waiters.wake_all()) {
            // A thread is blocked in there.
            link.fail();
        }
        // Others may have references.
        socket.release_number();
    });
    Ok(())
}

/// Waits until the peer has everything; a socket that never waits leaves that to the thread. None if that goes on.
fn say_all(socket: Shared<Socket>, patience: Duration, may_go_on: bool) -> Option<Shared<Socket>> {
    let is_told = uncancellable(|| {
        if let Some(link) = socket.link() {
            end(&socket, link, READ_SHUT | WRITE_SHUT);
        }
        socket.has(Awaited::Told)
    });
    if is_told {
        return Some(socket);
    }
    let begin = Instant::now();
    let until = begin + patience;
    let mut may_say = diag::enabled();
    let closing = Closing { socket, until };
    // Without memory for that it waits after all.
    if closing.socket.is_nonblocking() && may_go_on && service::settle_at_exit().is_ok() {
        closing.go_on();
        return None;
    }
    let mut waited = Shared::clone(&closing.socket);
    let mut lingering = Lingering(Some(closing));
    loop {
        let limit = if may_say { until.min(begin + LONG) } else { until };
        let wait = || wait::until(waited, Awaited::Told, Some(limit));
        // Where there are no means to wait, the thread sees to the rest.
        let (back, result) = Parking::during(&PARKED, &AT_END, lingering, wait).ok()?;
        lingering = back;
        match result {
            Err(Errno::EINTR) => {}
            Err(Errno::EAGAIN) if limit < until => {
                may_say = false;
                diag::line(format_args!("rclose waits: the peer has not taken all that was sent"));
            }
            Ok(_) | Err(Errno::EAGAIN) => return lingering.0.take().map(|closing| closing.socket),
            Err(_) => return None,
        }
        waited = Shared::clone(&lingering.0.as_ref()?.socket);
    }
}
