// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Calls on an id that has a channel of its own: they return when their result is there.

use super::event::Handed;
use super::get;
use super::id::CmId;
use crate::ctypes::{
    RDMA_CM_EVENT_DEVICE_REMOVAL, RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_REJECTED,
    RDMA_CM_EVENT_UNREACHABLE, rdma_cm_event_type,
};
use crate::errno::{Errno, Result};
use crate::sys::{clock, device};
use std::time::Duration;

/// How long after the news of an unreachable peer a better answer may come.
const PATIENCE: Duration = Duration::from_secs(3);

/// Waits for the first event out of `results`, which stays in the public struct until the next call, and returns what
/// it tells. The first of `results` is what the caller hopes for: a connection that ends instead is an ECONNRESET. ENODEV
/// if the device goes away meanwhile: then no result comes. Other events keep their order for `rdma_get_cm_event` on the
/// id's channel. For an id on a channel of the application there is nothing to wait for.
///
/// A signal does not end the wait: the kernel is already at work, and a second call would not find its way back.
pub fn complete(id: &CmId, results: &[rdma_cm_event_type]) -> Result<()> {
    told(id, Wait { results, unreachable: Unreachable::IsAsOthers })?
}

/// As [`complete`], for a connection that stands and whose end was asked for just now. That the peer is out of reach the
/// kernel may have said before, and is no answer: it is taken for one if nothing else comes.
pub fn complete_end(id: &CmId, results: &[rdma_cm_event_type]) -> Result<()> {
    told(id, Wait { results, unreachable: Unreachable::MayBeOld })?
}

/// As [`complete`], but tells apart what the event tells and, as the outer error, that no event could be had. Then the
/// call may be made again, and waits for the same event.
pub fn complete_step(id: &CmId, results: &[rdma_cm_event_type]) -> Result<Result<()>> {
    told(id, Wait { results, unreachable: Unreachable::IsAsOthers })
}

fn told(id: &CmId, mut wait: Wait<'_>) -> Result<Result<()>> {
    if !id.is_synchronous() {
        return Ok(Ok(()));
    }
    id.acknowledge_kept();
    loop {
        match wait.once(id) {
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error),
            Ok(event) => return Ok(keep(id, event, wait.results)),
        }
    }
}

/// The oldest event out of `results` that came before it was asked for, and was put off.
pub fn came_before(id: &CmId, results: &[rdma_cm_event_type]) -> Option<Handed> {
    id.channel().take_deferred(|event| results.contains(&event.kind_and_status().0))
}

/// Waits for the first event out of `results`, or that the device goes away. EINTR if a signal ends the wait.
pub fn wait(id: &CmId, results: &[rdma_cm_event_type]) -> Result<Handed> {
    Wait { results, unreachable: Unreachable::IsAsOthers }.once(id)
}

struct Wait<'a> {
    results: &'a [rdma_cm_event_type],
    unreachable: Unreachable,
}

/// What to do with [`RDMA_CM_EVENT_UNREACHABLE`].
enum Unreachable {
    IsAsOthers,
    /// The first one is put off.
    MayBeOld,
    /// One was put off: the answer, if there is no other at that time.
    IsLastResort(Duration),
}

impl Wait<'_> {
    /// Until a result comes, or a signal.
    fn once(&mut self, id: &CmId) -> Result<Handed> {
        let channel = id.channel();
        let mut wake_ups = 0;
        let result = loop {
            if let Some(event) = self.last_resort(id) {
                break Ok(event);
            }
            match get::from_kernel(channel) {
                Err(error) => break Err(error),
                Ok(None) => wake_ups += 1,
                Ok(Some(event)) if self.is_result(event) => break Ok(event),
                Ok(Some(event)) => {
                    // Now, as the thread may be cancelled in its next wait. The wake-up would end that, and comes later.
                    channel.put_off(event);
                    wake_ups += 1;
                }
            }
        };
        channel.remind(wake_ups);
        result
    }

    fn is_result(&mut self, event: Handed) -> bool {
        let (kind, _) = event.kind_and_status();
        if kind == RDMA_CM_EVENT_UNREACHABLE && matches!(self.unreachable, Unreachable::MayBeOld) {
            self.unreachable = Unreachable::IsLastResort(clock::now() + PATIENCE);
            return false;
        }
        self.results.contains(&kind) || kind == RDMA_CM_EVENT_DEVICE_REMOVAL
    }

    /// What was put off as old news, if nothing else comes in time.
    #[inline]
    fn last_resort(&mut self, id: &CmId) -> Option<Handed> {
        let Unreachable::IsLastResort(limit) = self.unreachable else { return None };
        if device::becomes_readable(id.fd().0, limit) {
            return None;
        }
        self.unreachable = Unreachable::IsAsOthers;
        came_before(id, &[RDMA_CM_EVENT_UNREACHABLE])
    }
}

/// Leaves the event in the public struct and returns what it tells.
pub fn keep(id: &CmId, event: Handed, results: &[rdma_cm_event_type]) -> Result<()> {
    id.keep_event(event);
    let (kind, status) = event.kind_and_status();
    match kind {
        RDMA_CM_EVENT_DISCONNECTED if results.first() != Some(&kind) => Err(Errno::ECONNRESET),
        RDMA_CM_EVENT_DEVICE_REMOVAL => Err(Errno::ENODEV),
        RDMA_CM_EVENT_REJECTED if status != 0 => Err(Errno::ECONNREFUSED),
        _ if status != 0 => Err(Errno::from_raw(status)),
        _ => Ok(()),
    }
}
