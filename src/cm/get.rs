// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Taking the next event of a channel.

use super::channel::Channel;
use super::event::Handed;
use super::waiter::Waiter;
use super::{decode, id};
use crate::diag;
use crate::errno::{Errno, Result};
use crate::sync::Key;
use crate::uapi::EventReply;
use std::sync::Arc;
use zerocopy::FromZeros;

/// The next event of the channel, waited for unless its descriptor is non-blocking (EAGAIN). EINTR if a signal ends
/// the wait, ECANCELED if the channel is destroyed meanwhile.
pub fn next(channel: Arc<Channel>) -> Result<Handed> {
    match channel.deferred() {
        Some(event) => Ok(event),
        None => from_kernel(channel),
    }
}

/// As [`next`], past the events that a synchronous call put off.
pub fn from_kernel(channel: Arc<Channel>) -> Result<Handed> {
    let mut waiter = Waiter::enter(channel)?;
    let mut reply = EventReply::new_zeroed();
    loop {
        waiter = waiter.wait(&mut reply)?;
        let id = id::by_key(Key::from_raw(reply.uid));
        if waiter.channel().is_closed() {
            // The event may be real: it is as undelivered as those still in the queue.
            id.inspect(|id| id.ledger().discard());
            return Err(Errno::ECANCELED);
        }
        let Some(id) = id else {
            diag::line(format_args!("discarding event {} of an unknown id", reply.event));
            continue;
        };
        if let Some((contents, private_data)) = decode::decode(id, &reply) {
            return Ok(waiter.leave()?.deliver(contents, private_data));
        }
    }
}
