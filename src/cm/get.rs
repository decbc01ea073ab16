// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Taking the next event of a channel.
//!
//! What every event passes through is inlined into the C entry point on purpose: in a wake-up each instruction counts
//! (`make bench`). What is rare stays outside.

use super::channel::Channel;
use super::event::{About, Handed};
use super::id::CmId;
use super::uid::{self, IDS, hidden};
use super::waiter::Waiter;
use super::{bell, decode, multicast, unacknowledged, wake};
use crate::ctypes::RDMA_CM_EVENT_ESTABLISHED;
use crate::diag;
use crate::errno::{Errno, Result};
use crate::sync::{Key, Shared};
use crate::sys::thread::uncancellable;
use crate::uapi::EventReply;
use std::time::Duration;

/// How long a thread stays away from its caller after its channel was destroyed under it.
const PAUSE: Duration = Duration::from_millis(20);

/// To be called when [`next`] failed, before its caller is told. Many programs destroy their channel and end, with a
/// thread in there that takes every error for a fatal one. The C library would never have woken it: so let the program
/// end first.
#[cold]
pub fn pause_after(error: Errno) {
    if error == Errno::ECANCELED {
        std::thread::sleep(PAUSE);
    }
}

/// The next event of the channel, waited for unless its descriptor is non-blocking (EAGAIN). EINTR if a signal ends
/// the wait, ECANCELED if the channel is destroyed meanwhile.
#[inline(always)]
pub fn next(channel: &Channel) -> Result<Handed> {
    let mut waiter = Waiter::enter(channel)?;
    loop {
        waiter = match waiter.wait() {
            Err(Errno::EAGAIN) if bell::have_hung() => return overdue(channel),
            other => other?,
        };
        if let Some(about) = take(&mut waiter)? {
            let (blank, presence) = waiter.split();
            let event = channel.exchange(blank.deliver(about));
            drop(presence);
            return Ok(event);
        }
        if let Some(event) = put_off(channel) {
            return Ok(event);
        }
    }
}

/// As [`next`], but the event that the kernel has now, whatever was put off before. None if it was not for the
/// application: perhaps the wake-up for one of those.
pub fn from_kernel(channel: &Channel) -> Result<Option<Handed>> {
    let mut waiter = Waiter::enter(channel)?.wait()?;
    let Some(about) = take(&mut waiter)? else { return Ok(None) };
    let (blank, _presence) = waiter.split();
    Ok(Some(unacknowledged::note(blank.deliver(about))))
}

/// What the kernel wrote was not for the application: perhaps the wake-up for an event that was put off.
#[cold]
fn put_off(channel: &Channel) -> Option<Handed> {
    let event = channel.take_deferred(|_| true)?;
    event.hold();
    Some(unacknowledged::note(event))
}

/// The kernel has no event. There may be one that it could not be made to announce.
#[cold]
fn overdue(channel: &Channel) -> Result<Handed> {
    let mut waiter = Waiter::enter(channel)?;
    let (_, public, ..) = waiter.parts();
    let about = bell::overdue(channel, public).ok_or(Errno::EAGAIN)?;
    let (blank, _presence) = waiter.split();
    Ok(channel.exchange(blank.deliver(about)))
}

/// Makes an event of what the kernel wrote. None if it is not for the application.
#[inline(always)]
fn take(waiter: &mut Waiter) -> Result<Option<About>> {
    let (channel, public, private_data, reply) = waiter.parts();
    let id = IDS.get(Key::from_raw(reply.uid));
    if channel.is_closed() {
        lose(id);
        return Err(Errno::ECANCELED);
    }
    match id {
        Some(id) => decode::decode(id, reply, public, private_data),
        None => take_other(waiter),
    }
}

/// An event was taken from a channel that is destroyed by now. It may be a real one: then it is as undelivered as those
/// that are still in the kernel.
#[cold]
fn lose(id: Option<Shared<CmId>>) {
    if let Some(id) = id {
        id.ledger().discard();
    }
}

/// An event with a number that no id of the application has.
#[cold]
#[inline(never)]
fn take_other(waiter: &mut Waiter) -> Result<Option<About>> {
    let (channel, public, private_data, reply) = waiter.parts();
    match reply.uid {
        hidden::BELL => return Ok(bell::answer(channel, reply.id, public)),
        hidden::WAKE_UP => {
            uncancellable(|| wake::end_hidden(channel.fd(), reply.id));
            return Ok(None);
        }
        hidden::SILENT => {
            if let Some(id) = unnamed(reply) {
                return decode::decode(id, reply, public, private_data);
            }
        }
        uid => {
            if let Some(membership) =
                multicast::of_uid(uid).filter(|membership| membership.expects(reply.event))
            {
                let about = uncancellable(|| membership.happened(reply, public));
                waiter.belong_to(membership);
                return Ok(Some(about));
            }
        }
    }
    diag::line(format_args!("discarding event {} of an unknown id", reply.event));
    Ok(None)
}

/// The id of an event without a number. Old kernels do not know it yet when a connection stands before its acceptance
/// returns; whatever else they say then has no meaning, but counts for the id.
fn unnamed(reply: &EventReply) -> Option<Shared<CmId>> {
    let id = uid::id_of_kernel(reply.id)?;
    if reply.event == RDMA_CM_EVENT_ESTABLISHED {
        return Some(id);
    }
    id.ledger().discard();
    None
}
