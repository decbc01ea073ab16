// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The end of a socket.

use super::ends::{READ_SHUT, WRITE_SHUT};
use super::link::Link;
use super::repoll;
use super::service;
use super::socket::{self, Socket, Stage};
use super::wait::{self, Awaited};
use super::wire::Message;
use crate::errno::{Errno, Result};
use crate::sync::Shared;
use crate::sys::device;
use crate::sys::thread::uncancellable;
use std::ffi::c_int;
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

/// How long closing waits for a peer that does not take what was sent, if the application says nothing.
const PATIENCE: Duration = Duration::from_secs(10);

/// Ends one direction, or both.
pub fn shutdown(number: RawFd, how: c_int) -> Result<()> {
    let socket = socket::find(number)?;
    let bits = match how {
        libc::SHUT_RD => READ_SHUT,
        libc::SHUT_WR => WRITE_SHUT,
        libc::SHUT_RDWR => READ_SHUT | WRITE_SHUT,
        _ => return Err(Errno::EINVAL),
    };
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
        let Some(link) = self.socket.link() else { return true };
        self.socket.take_event_if_any();
        link.look_and_arm();
        now >= self.until || link.is_all_told()
    }

    /// When it is too late.
    pub fn until(&self) -> Instant {
        self.until
    }

    /// Where something may happen; -1 if nothing tells of it.
    pub fn watched(&self) -> RawFd {
        self.socket.watched()
    }
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
    let is_connected = socket.stage() == Stage::Connected;
    uncancellable(|| {
        let _attempt = socket.attempt.lock();
        socket.set_stage(Stage::Closed);
    });
    let told = match (socket.link(), patience) {
        (Some(link), Some(patience)) if is_connected => {
            uncancellable(|| end(&socket, link, READ_SHUT | WRITE_SHUT));
            link.is_all_told() || linger_on(&socket, patience, linger.is_none())
        }
        _ => true,
    };
    uncancellable(|| {
        if !told {
            return;
        }
        if let Some(link) = socket.link().filter(|_| socket.waiters.wake_all()) {
            // A thread is blocked in there.
            link.fail();
        }
        // Others may have references.
        socket.release_number();
        drop(socket);
    });
    Ok(())
}

/// Waits until the peer has everything; a socket that never waits leaves that to the thread. False if that goes on.
fn linger_on(socket: &Shared<Socket>, patience: Duration, may_go_on: bool) -> bool {
    let until = Instant::now() + patience;
    // Without memory for that it waits after all.
    if socket.is_nonblocking() && may_go_on && service::settle_at_exit().is_ok() {
        go_on(socket, until);
        return false;
    }
    loop {
        match wait::until(Shared::clone(socket), Awaited::Told, Some(until)) {
            Err(Errno::EINTR) => {}
            Ok(_) | Err(Errno::EAGAIN) => return true,
            // There are no means to wait.
            Err(_) => {
                let _ = service::settle_at_exit();
                go_on(socket, until);
                return false;
            }
        }
    }
}

/// The thread sees to the rest.
fn go_on(socket: &Shared<Socket>, until: Instant) {
    uncancellable(|| {
        socket.release_number();
        socket.hub().close_later(Closing { socket: Shared::clone(socket), until });
    });
}
