// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The connection to ibacm.
//!
//! A thread that asks has a connection to itself; between questions one is kept. A connection on which a question was
//! given up is closed, so that its reply cannot be met later. No lock is held across a call into the kernel, and none
//! is waited for: in a child of `fork` it may be held for ever.

use super::wire::{self, Answer, LONGEST, Reply, Request};
use crate::diag::{self, Level};
use crate::errno::{Errno, Result};
use crate::sync::Lock;
use crate::sys::stream::{Place, Stream};
use crate::sys::{clock, process};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Holds the TCP port of an ibacm that listens there.
const PORT_FILE: &str = "/run/ibacm.port";
/// Where all others listen.
const SOCKET: &str = "/run/ibacm.sock";

/// How long an ibacm that is not there is not looked for again.
const PAUSE: Duration = Duration::from_secs(5);

/// The connection that nobody uses now, and the process that made it.
static IDLE: Lock<Option<(u32, Stream)>> = Lock::new(None);
/// When ibacm was found to be away, in milliseconds; 0: not so.
static AWAY: AtomicU64 = AtomicU64::new(0);
/// Numbers of requests.
static TID: AtomicU64 = AtomicU64::new(1);

/// Whether ibacm was looked for a moment ago, and was not there.
pub fn is_away() -> bool {
    let since = AWAY.load(Ordering::Relaxed);
    since != 0 && milliseconds(clock::now()).saturating_sub(since) < milliseconds(PAUSE)
}

/// Asks. None if there is no answer within the limit.
pub fn exchange(request: &Request, limit: Duration) -> Option<Answer> {
    let deadline = clock::now() + limit;
    if let Some(stream) = idle() {
        match converse(stream, request, deadline) {
            // It was restarted since.
            Err(Errno::EPIPE | Errno::ECONNRESET) => {}
            result => return said(result),
        }
    }
    let stream = connect(deadline);
    let away = if stream.is_ok() { 0 } else { milliseconds(clock::now()).max(1) };
    AWAY.store(away, Ordering::Relaxed);
    said(stream.and_then(|stream| converse(stream, request, deadline)))
}

/// Most machines do without it, which is no failure.
fn say(error: &Errno) {
    let is_there = !matches!(*error, Errno::ENOENT | Errno::ECONNREFUSED);
    if is_there || diag::wants(Level::Command) {
        diag::line(format_args!("no answer from ibacm, going on without: {error:?}"));
    }
}

fn said(result: Result<Option<Answer>>) -> Option<Answer> {
    result.inspect_err(say).ok().flatten()
}

fn milliseconds(time: Duration) -> u64 {
    time.as_millis() as u64
}

/// A connection that is not in use. One that the parent process made is its own.
fn idle() -> Option<Stream> {
    let (generation, stream) = IDLE.try_lock()?.take()?;
    (generation == process::generation()).then_some(stream)
}

fn keep(stream: Stream) {
    if let Some(mut idle) = IDLE.try_lock() {
        let surplus = idle.replace((process::generation(), stream));
        drop(idle);
        drop(surplus);
    }
}

fn connect(deadline: Duration) -> Result<Stream> {
    let port = fs::read_to_string(PORT_FILE).ok().and_then(|text| port(&text));
    let place = match port {
        Some(port) => Place::Port(port),
        // Mostly it is not there, and then a socket is not needed.
        None if !Path::new(SOCKET).exists() => return Err(Errno::ENOENT),
        None => Place::Node(Path::new(SOCKET)),
    };
    Stream::connect(place, left(deadline)?)
}

/// The number at the beginning of the port file; None if there is none, or 0.
fn port(text: &str) -> Option<u16> {
    let text = text.trim_start();
    let digits = text.split(|character: char| !character.is_ascii_digit()).next()?;
    digits.parse().ok().filter(|port| *port != 0)
}

/// Time until the deadline. ETIMEDOUT if there is none.
fn left(deadline: Duration) -> Result<Duration> {
    deadline.checked_sub(clock::now()).filter(|left| !left.is_zero()).ok_or(Errno::ETIMEDOUT)
}

/// Asks on that connection, and keeps it if the reply came.
fn converse(mut stream: Stream, request: &Request, deadline: Duration) -> Result<Option<Answer>> {
    let tid = TID.fetch_add(1, Ordering::Relaxed);
    stream.send(&request.message(tid)?)?;
    let mut room = [0; LONGEST];
    let mut filled = 0;
    loop {
        let (used, answer) = match wire::read(room.get(..filled).unwrap_or_default(), tid) {
            Reply::Garbage => return Err(Errno::EPROTO),
            Reply::Lost => return Err(Errno::ENOMEM),
            Reply::Other(length) => (length, None),
            Reply::Complete(length, answer) => (length, Some(answer)),
            Reply::Incomplete => {
                stream.set_limit(left(deadline)?)?;
                match stream.receive(room.get_mut(filled..).unwrap_or_default()) {
                    Ok(length) => filled += length,
                    Err(Errno::EINTR) => {}
                    Err(error) => return Err(error),
                }
                continue;
            }
        };
        room.copy_within(used..filled, 0);
        filled -= used;
        if let Some(answer) = answer {
            if filled == 0 {
                keep(stream);
            }
            return Ok(answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_file_holds_a_number() {
        assert_eq!(port("6125\n"), Some(6125));
        assert_eq!(port(" 6125 x"), Some(6125));
        for text in ["", "0\n", "x", "65536", "-1"] {
            assert_eq!(port(text), None);
        }
    }
}
