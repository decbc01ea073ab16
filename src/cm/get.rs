// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Taking the next event of a channel.

use super::channel::Channel;
use super::decode;
use super::event::Handed;
use super::uid::{SUBJECTS, Subject};
use super::waiter::Waiter;
use crate::diag;
use crate::errno::{Errno, Result};
use crate::sync::Key;
use crate::uapi::EventReply;
use std::sync::Arc;
use zerocopy::FromZeros;

const NO_DATA: &[u8] = &[];

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
        let subject = SUBJECTS.get(Key::from_raw(reply.uid));
        if waiter.channel().is_closed() {
            // The event may be real: it is as undelivered as those still in the queue.
            subject.inspect(|subject| lose(subject, waiter.channel()));
            return Err(Errno::ECANCELED);
        }
        let event = match subject {
            Some(Subject::Id(id)) => decode::decode(id, &reply),
            Some(Subject::Bell(bell)) => bell.answer(waiter.channel()).map(|contents| (contents, NO_DATA)),
            None => {
                diag::line(format_args!("discarding event {} of an unknown id", reply.event));
                None
            }
        };
        if let Some((contents, private_data)) = event {
            return Ok(waiter.leave()?.deliver(contents, private_data));
        }
    }
}

/// An event about `subject` was taken from the kernel, and nobody gets it.
fn lose(subject: &Subject, channel: &Channel) {
    match subject {
        Subject::Id(id) => id.ledger().discard(),
        Subject::Bell(bell) => {
            bell.answer(channel).inspect(|contents| contents.id.ledger().discard());
        }
    }
}
