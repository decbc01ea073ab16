// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Calls on an id that has a channel of its own: they return when their result is there.

use super::get;
use super::id::CmId;
use crate::ctypes::{RDMA_CM_EVENT_REJECTED, rdma_cm_event_type};
use crate::errno::{Errno, Result};
use std::sync::Arc;

/// Waits for the first event out of `results`, which stays in the public struct until the next call, and returns what
/// it tells. Other events keep their order for `rdma_get_cm_event` on the id's channel. For an id on a channel of the
/// application there is nothing to wait for.
///
/// A signal does not end the wait: the kernel is already at work, and a second call would not find its way back.
pub fn complete(id: &Arc<CmId>, results: &[rdma_cm_event_type]) -> Result<()> {
    if !id.is_synchronous() {
        return Ok(());
    }
    id.acknowledge_kept();
    loop {
        let event = match get::from_kernel(id.channel()) {
            Err(Errno::EINTR) => continue,
            other => other?,
        };
        let (kind, status) = event.kind_and_status();
        if !results.contains(&kind) {
            id.channel().defer(event);
            continue;
        }
        id.keep_event(event);
        return match status {
            0 => Ok(()),
            _ if kind == RDMA_CM_EVENT_REJECTED => Err(Errno::ECONNREFUSED),
            _ => Err(Errno::from_raw(status)),
        };
    }
}
