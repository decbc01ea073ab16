// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The end of a connection, and events of a queue pair that the kernel wants to know.

use crate::cm::id::CmId;
use crate::cm::queue::state;
use crate::cm::synchronous;
use crate::ctypes::{
    IBV_TRANSPORT_IB, IBV_TRANSPORT_IWARP, RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_UNREACHABLE,
    ibv_event_type,
};
use crate::errno::{Errno, Result};
use crate::sys::thread::uncancellable;
use crate::uapi::{Disconnect, Notify};
use crate::ucma;

/// Ends the connection: everything posted completes with an error, and the peer is told. An id with a channel of its own
/// waits until the peer knows, unless the end has been told before. EINVAL for an id that is not connected.
pub fn disconnect(id: &CmId) -> Result<()> {
    let device = id.device().ok_or(Errno::EINVAL)?;
    if id.has_queue_pair() {
        uncancellable(|| {
            let _queues = id.queues().lock();
            // The peer is told even where the queue pair cannot be moved any more.
            let _ = match (id.queue_pair(), device.transport()) {
                (Some(queue_pair), IBV_TRANSPORT_IB) => state::fail(queue_pair),
                (Some(queue_pair), IBV_TRANSPORT_IWARP) => state::drain(queue_pair),
                _ => Ok(()),
            };
        });
    }
    ucma::order(&id.fd(), Disconnect { id: id.handle() })?;
    if !id.is_synchronous() {
        return Ok(());
    }
    let results = [RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_UNREACHABLE];
    if let Some(event) = synchronous::came_before(id, &[RDMA_CM_EVENT_DISCONNECTED]) {
        id.acknowledge_kept();
        return synchronous::keep(id, event, &results);
    }
    // Datagrams have no connection whose end could be told.
    if id.stage().is_over() || id.is_datagram() {
        Ok(())
    } else if id.stage().stands() {
        synchronous::complete_end(id, &results)
    } else {
        synchronous::complete(id, &results)
    }
}

/// Tells the kernel of an asynchronous event of the queue pair.
pub fn notify(id: &CmId, event: ibv_event_type) -> Result<()> {
    ucma::order(&id.fd(), Notify { id: id.handle(), event })
}
