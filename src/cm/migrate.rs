// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Moving an id to another channel.

use super::bell;
use super::channel::Channel;
use super::id::CmId;
use super::line::Line;
use crate::errno::{Errno, Result};
use crate::sync::Shared;
use crate::uapi::MigrateId;
use crate::ucma;
use zerocopy::FromZeros;

/// Moves the id, with the events that nobody has taken yet, to `target`; without one to a channel of its own. Waits
/// until other threads have acknowledged what they took from the old channel, so that afterwards no event of the id
/// comes from there. EINVAL if the id has a channel of its own, and `target` is that or none.
pub fn migrate(id: &CmId, target: Option<Shared<Channel>>) -> Result<()> {
    let was_synchronous = id.is_synchronous();
    let synchronous = target.is_none();
    if was_synchronous && synchronous {
        return Err(Errno::EINVAL);
    }
    let old = id.own_channel();
    if was_synchronous && target.as_ref().is_some_and(|target| Shared::is_same(target, &old)) {
        // Its own channel would end with the move.
        return Err(Errno::EINVAL);
    }
    let channel = target.map_or_else(Channel::open, Ok)?;
    let command = MigrateId { id: id.handle(), fd: old.fd().0 as u32, ..FromZeros::new_zeroed() };
    let moved = bell::move_along(id, &old, &channel, || {
        id.expect_channel(&channel)?;
        let reply = ucma::request(&channel.fd(), command)?;
        id.enter_channel(Shared::clone(&channel), synchronous);
        Ok(reply.events_reported)
    });
    if moved.is_err() && synchronous {
        Channel::destroy(&channel);
    }
    let reported = moved?;
    if was_synchronous {
        id.acknowledge_kept();
    }
    // All of them first: it may be the same channel.
    let mut moving = Line::default();
    while let Some(event) = old.take_deferred(|event| event.counts_for(id)) {
        moving.push(event);
    }
    let mut wake_ups = 0;
    while let Some(event) = moving.take(|_| true) {
        // The thread that put it off does not wait for it any more, and must not be waited for.
        event.hold();
        channel.put_off(event);
        wake_ups += 1;
    }
    channel.remind(wake_ups);
    if was_synchronous {
        Channel::destroy(&old);
    }
    id.settle(reported, "rdma_migrate_id");
    Ok(())
}

/// Brings the new id of a request to where its listener is. When a listener moves, the kernel moves the requests that
/// are pending, but leaves their ids on the old channel, where no command finds them by the new one. False if the id is
/// on none of the listener's former channels.
pub fn follow(listener: &CmId, id: &CmId) -> bool {
    listener.was_on(|old| {
        if old.is_closed() {
            return false;
        }
        let command = MigrateId { id: id.handle(), fd: old.fd().0 as u32, ..FromZeros::new_zeroed() };
        ucma::request(&id.fd(), command).is_ok()
    })
}
