// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Calls on an id that has a channel of its own: they return when their result is there.

use super::get;
use super::id::CmId;
use crate::ctypes::{RDMA_CM_EVENT_DEVICE_REMOVAL, RDMA_CM_EVENT_REJECTED, rdma_cm_event_type};
use crate::errno::{Errno, Result};

/// Waits for the first event out of `results`, which stays in the public struct until the next call, and returns what
/// it tells. ENODEV if the device goes away meanwhile: then no result comes. Other events keep their order for
/// `rdma_get_cm_event` on the id's channel. For an id on a channel of the application there is nothing to wait for.
///
/// A signal does not end the wait: the kernel is already at work, and a second call would not find its way back.
pub fn complete(id: &CmId, results: &[rdma_cm_event_type]) -> Result<()> {
    if !id.is_synchronous() {
        return Ok(());
    }
    id.acknowledge_kept();
    let channel = id.channel();
    let (mut others, mut wake_ups) = (Vec::new(), 0);
    let result = loop {
        match get::from_kernel(channel, &mut wake_ups) {
            Err(Errno::EINTR) => {}
            Err(error) => break Err(error),
            Ok(event) => {
                let (kind, status) = event.kind_and_status();
                if results.contains(&kind) || kind == RDMA_CM_EVENT_DEVICE_REMOVAL {
                    id.keep_event(event);
                    break outcome(kind, status);
                }
                others.push(event);
            }
        }
    };
    for event in others {
        channel.defer(event);
    }
    for _ in 0..wake_ups {
        channel.remind();
    }
    result
}

fn outcome(kind: rdma_cm_event_type, status: i32) -> Result<()> {
    match kind {
        RDMA_CM_EVENT_DEVICE_REMOVAL => Err(Errno::ENODEV),
        RDMA_CM_EVENT_REJECTED if status != 0 => Err(Errno::ECONNREFUSED),
        _ if status != 0 => Err(Errno::from_raw(status)),
        _ => Ok(()),
    }
}
