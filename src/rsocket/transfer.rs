// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Calls that send and receive.

use super::datagram::{self, Arrival};
use super::ends::WRITE_SHUT;
use super::link::{FIRST_CHUNK, Link};
use super::service;
use super::socket::{self, Socket};
use super::stage::Stage;
use super::wait::{self, Awaited, Deadline};
use crate::errno::{Errno, Result};
use crate::sync::Shared;
use crate::sys::iovec::Pieces;
use crate::sys::thread::uncancellable;
use std::ffi::{c_int, c_void};
use std::os::fd::RawFd;

/// How a call went on.
pub enum Step {
    /// It is finished, and returns that.
    Done(usize),
    /// There is nothing to do now.
    Wait(Awaited),
}

/// Repeats steps until one is the last, and waits between them. A call that has done something returns that instead of an
/// error.
fn run(
    number: RawFd,
    flags: c_int,
    limit: fn(&Socket) -> Deadline,
    mut step: impl FnMut(&Shared<Socket>) -> (usize, Result<Step>),
) -> Result<usize> {
    let mut socket = socket::find(number)?;
    let mut deadline = None;
    loop {
        let (done, result) = uncancellable(|| {
            let stepped = step(&socket);
            socket.attend();
            service::tend(&socket);
            stepped
        });
        let awaited = match result {
            Ok(Step::Done(done)) => return Ok(done),
            Err(_) if done > 0 => return Ok(done),
            Err(error) => return Err(error),
            Ok(Step::Wait(awaited)) => awaited,
        };
        if flags & libc::MSG_DONTWAIT != 0 || socket.is_nonblocking() {
            return if done > 0 { Ok(done) } else { Err(Errno::EAGAIN) };
        }
        if deadline.is_none() {
            deadline = limit(&socket);
        }
        socket = match wait::until(socket, awaited, deadline) {
            Ok(socket) => socket,
            Err(_) if done > 0 => return Ok(done),
            Err(error) => return Err(error),
        };
    }
}

impl Socket {
    /// The connection; None while it is on the way.
    #[inline]
    fn connection(&self) -> Result<Option<&Link>> {
        match self.stage() {
            Stage::Connected => self.link().map(Some).ok_or(Errno::ENOTCONN),
            stage if stage.is_opening() => Ok(None),
            Stage::Closed => Err(Errno::EBADF),
            Stage::Failed => Err(match self.take_error() {
                0 => Errno::ENOTCONN,
                error => Errno::from_raw(error),
            }),
            _ => Err(Errno::ENOTCONN),
        }
    }
}

fn receive_limit(socket: &Socket) -> Deadline {
    wait::deadline(socket.options.lock().receive_limit)
}

fn send_limit(socket: &Socket) -> Deadline {
    wait::deadline(socket.options.lock().send_limit)
}

/// Receives what is there, waiting for it; all that there is room for with MSG_WAITALL. 0 at the end of the stream.
pub fn receive(number: RawFd, pieces: &mut Pieces<'_>, flags: c_int) -> Result<usize> {
    receive_from(number, pieces, flags, &mut Arrival::default())
}

/// The same, and tells who sent a datagram.
pub fn receive_from(
    number: RawFd,
    pieces: &mut Pieces<'_>,
    flags: c_int,
    arrival: &mut Arrival,
) -> Result<usize> {
    let mut done = 0;
    run(number, flags, receive_limit, |socket| {
        if let Some(datagram) = socket.datagram() {
            return (0, datagram::receive_step(socket, datagram, pieces, flags, arrival));
        }
        let result = receive_step(socket, pieces, flags, &mut done);
        (done, result)
    })
}

fn receive_step(socket: &Socket, pieces: &mut Pieces<'_>, flags: c_int, done: &mut usize) -> Result<Step> {
    let peek = flags & libc::MSG_PEEK != 0;
    let all = flags & libc::MSG_WAITALL != 0 && !peek;
    let Some(link) = socket.connection()? else { return Ok(Step::Wait(Awaited::Opened)) };
    if pieces.left() == 0 {
        return Ok(Step::Done(*done));
    }
    if !link.has_data() {
        link.look();
    }
    // In this order: what came before the end is here when the end is seen.
    let is_end = link.ends.is_end_of_data();
    *done += link.receive(pieces, peek);
    if *done > 0 && (!all || pieces.left() == 0) {
        return Ok(Step::Done(*done));
    }
    if is_end && !link.has_data() {
        // With something received the reason is left for the next call.
        let fault = if *done > 0 { 0 } else { link.take_fault() };
        return match fault {
            0 => Ok(Step::Done(*done)),
            error => Err(Errno::from_raw(error)),
        };
    }
    Ok(Step::Wait(Awaited::Data))
}

/// Sends all, waiting for room. EPIPE after a shutdown, ECONNRESET without a peer.
pub fn send(number: RawFd, pieces: &mut Pieces<'_>, flags: c_int) -> Result<usize> {
    send_to(number, pieces, flags, None)
}

/// The same; a datagram goes to that address. EISCONN for one on a stream.
pub fn send_to(number: RawFd, pieces: &mut Pieces<'_>, flags: c_int, to: Option<&[u8]>) -> Result<usize> {
    let total = pieces.left();
    let mut chunk = FIRST_CHUNK;
    run(number, flags, send_limit, |socket| {
        if let Some(datagram) = socket.datagram() {
            return (0, datagram::send_step(socket, datagram, pieces, to));
        }
        if to.is_some() {
            return (0, Err(Errno::EISCONN));
        }
        let result = send_step(socket, pieces, &mut chunk, total);
        (total - pieces.left(), result)
    })
}

fn send_step(socket: &Socket, pieces: &mut Pieces<'_>, chunk: &mut u32, total: usize) -> Result<Step> {
    let Some(link) = socket.connection()? else { return Ok(Step::Wait(Awaited::Opened)) };
    check_sending(link, total - pieces.left())?;
    if pieces.left() > 0 && !link.tell_mappings()? {
        return Ok(Step::Wait(Awaited::Room));
    }
    link.send(pieces, chunk)?;
    if pieces.left() == 0 {
        return Ok(Step::Done(total));
    }
    check_sending(link, total - pieces.left())?;
    Ok(Step::Wait(Awaited::Room))
}

fn check_sending(link: &Link, done: usize) -> Result<()> {
    if !link.ends.is_end_of_sending() {
        return Ok(());
    }
    // With something sent the reason is left for the next call.
    let fault = if done > 0 { 0 } else { link.take_fault() };
    match fault {
        0 if link.ends.any(WRITE_SHUT) => Err(Errno::EPIPE),
        0 => Err(Errno::ECONNRESET),
        error => Err(Errno::from_raw(error)),
    }
}

/// Writes to memory that the peer has mapped. EINVAL if nothing is mapped at the offset.
pub fn write_mapped(number: RawFd, pieces: &mut Pieces<'_>, offset: u64, flags: c_int) -> Result<usize> {
    let total = pieces.left();
    let mut chunk = FIRST_CHUNK;
    run(number, flags, send_limit, |socket| {
        let result = write_step(socket, pieces, &mut chunk, offset, total);
        (total - pieces.left(), result)
    })
}

fn write_step(
    socket: &Socket,
    pieces: &mut Pieces<'_>,
    chunk: &mut u32,
    offset: u64,
    total: usize,
) -> Result<Step> {
    let Some(link) = socket.connection()? else { return Ok(Step::Wait(Awaited::Opened)) };
    check_sending(link, total - pieces.left())?;
    if !link.tell_mappings()? {
        return Ok(Step::Wait(Awaited::Room));
    }
    while pieces.left() > 0 {
        let at = offset.checked_add((total - pieces.left()) as u64).ok_or(Errno::EINVAL)?;
        if link.write_mapped(pieces, chunk, at)? == 0 {
            return Ok(Step::Wait(Awaited::Buffer));
        }
    }
    Ok(Step::Done(total))
}

/// Maps memory of the application for the peer to write to, or for this side only. ENOTCONN without a connection.
///
/// # Safety
///
/// The memory stays until it is unmapped, or the socket closed.
pub unsafe fn map(
    number: RawFd,
    start: *mut c_void,
    length: usize,
    for_peer: bool,
    offset: u64,
) -> Result<()> {
    let socket = socket::find(number)?;
    // SAFETY: the caller's promise.
    uncancellable(|| unsafe {
        socket.connection()?.ok_or(Errno::ENOTCONN)?.map(start, length, for_peer, offset)
    })
}

/// Ends a mapping of exactly that memory. EINVAL without one.
pub fn unmap(number: RawFd, start: *const c_void, length: usize) -> Result<()> {
    let socket = socket::find(number)?;
    uncancellable(|| socket.link().ok_or(Errno::EINVAL)?.unmap(start, length))
}
