// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The side that asks for a connection.

use super::parameters::{Offer, wanted};
use crate::cm::device::Limits;
use crate::cm::id::CmId;
use crate::cm::synchronous;
use crate::ctypes::{
    RDMA_CM_EVENT_CONNECT_ERROR, RDMA_CM_EVENT_CONNECT_RESPONSE, RDMA_CM_EVENT_DISCONNECTED,
    RDMA_CM_EVENT_ESTABLISHED, RDMA_CM_EVENT_REJECTED, RDMA_CM_EVENT_UNREACHABLE,
};
use crate::errno::{Errno, Result};
use crate::sys::thread::uncancellable;
use crate::uapi::{Accept, Connect, Ece};
use crate::ucma::{self, Draft};
use zerocopy::FromZeros;

/// Asks the resolved destination for a connection, or for the way to its datagram service. An id with a channel of its
/// own waits for the answer: ECONNREFUSED if the peer refuses, ECONNRESET if it is gone at once. EINVAL without a
/// device.
pub fn connect(id: &CmId, offer: Option<Offer<'_>>) -> Result<()> {
    uncancellable(|| {
        let device = id.device().ok_or(Errno::EINVAL)?;
        let _queues = id.queues().lock();
        let (resources, depth) = wanted(id, device, offer)?;
        let most = device.limits();
        let mut connection = id.connection().lock();
        connection.limits = Limits {
            responder_resources: resources.unwrap_or(most.responder_resources),
            initiator_depth: depth.unwrap_or(most.initiator_depth),
        };
        let local = connection.local_ece;
        let mut draft = Draft::<Connect>::clear();
        let command = draft.body();
        command.id = id.handle();
        command.ece = Ece { vendor_id: local.vendor_id, attr_mod: local.options };
        connection.fill_in(&mut command.conn_param, id, offer)?;
        let has_opening = !connection.opening.is_empty();
        drop(connection);
        draft.order(&id.fd())?;
        if has_opening {
            id.connection().lock().opening = Vec::new();
        }
        Ok::<_, Errno>(())
    })?;
    synchronous::complete(id, &ANSWERS)
}

/// What ends the wait of a connecting id.
const ANSWERS: [u32; 6] = [
    RDMA_CM_EVENT_ESTABLISHED,
    RDMA_CM_EVENT_CONNECT_RESPONSE,
    RDMA_CM_EVENT_CONNECT_ERROR,
    RDMA_CM_EVENT_UNREACHABLE,
    RDMA_CM_EVENT_REJECTED,
    RDMA_CM_EVENT_DISCONNECTED,
];

/// Ends the handshake for an id whose queue pair the application moves itself. EINVAL if the id has one.
pub fn establish(id: &CmId) -> Result<()> {
    if id.has_queue_pair() {
        return Err(Errno::EINVAL);
    }
    confirm(id)
}

/// Tells the peer that its answer arrived and the queue pair is ready.
pub fn confirm(id: &CmId) -> Result<()> {
    ucma::order(&id.fd(), Accept { id: id.handle(), ..FromZeros::new_zeroed() })
}
