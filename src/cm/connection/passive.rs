// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The side that is asked for a connection.

use super::parameters::{Offer, wanted};
use crate::cm::device::Limits;
use crate::cm::id::CmId;
use crate::cm::queue::state;
use crate::cm::unfinished::Step;
use crate::cm::{query, synchronous};
use crate::ctypes::{
    RDMA_CM_EVENT_CONNECT_ERROR, RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_ESTABLISHED,
    RDMA_CM_EVENT_REJECTED, RDMA_CM_EVENT_UNREACHABLE,
};
use crate::errno::{Errno, Result};
use crate::sys::thread::uncancellable;
use crate::uapi::{Accept, Ece, Listen, Reject};
use crate::ucma::{self, Draft};
use zerocopy::FromZeros;

/// Waits for requests from now on. Holds as many as the backlog says; 0 for the most there are.
pub fn listen(id: &CmId, backlog: i32) -> Result<()> {
    uncancellable(|| {
        let command = || ucma::order(&id.fd(), Listen { id: id.handle(), backlog: backlog as u32 });
        id.unfinished().take(Step::Listen, command, || query::listening(id))
    })
}

/// Accepts the request that made the id. An id with a channel of its own waits until the connection stands: ECONNRESET
/// if the peer is gone at once. EINVAL without queue pair and parameters.
pub fn accept(id: &CmId, offer: Option<Offer<'_>>) -> Result<()> {
    uncancellable(|| {
        let device = id.device().ok_or(Errno::EINVAL)?;
        let _queues = id.queues().lock();
        let queue_pair = id.queue_pair();
        if queue_pair.is_none() && offer.is_none() {
            return Err(Errno::EINVAL);
        }
        let (resources, depth) = wanted(id, device, offer)?;
        let most = device.limits();
        let mut connection = id.connection().lock();
        let asked = connection.limits;
        connection.limits = Limits {
            responder_resources: resources.unwrap_or(asked.responder_resources.min(most.responder_resources)),
            initiator_depth: depth.unwrap_or(asked.initiator_depth.min(most.initiator_depth)),
        };
        let Limits { responder_resources, initiator_depth } = connection.limits;
        // The peer finds its own name and what this side made of it.
        let ece = Ece { vendor_id: connection.remote_ece.vendor_id, attr_mod: connection.local_ece.options };
        let mut draft = Draft::<Accept>::clear();
        let command = draft.body();
        (command.uid, command.id, command.ece) = (id.uid(), id.handle(), ece);
        connection.fill_in(&mut command.conn_param, id, offer)?;
        drop(connection);
        let moved = queue_pair.filter(|_| !id.is_datagram());
        if let Some(queue_pair) = moved {
            state::ready_to_receive(id, queue_pair, Some(responder_resources))?;
            state::ready_to_send(id, queue_pair, Some(initiator_depth))?;
        }
        draft.order(&id.fd()).inspect_err(|_| {
            if let Some(queue_pair) = queue_pair {
                let _ = state::fail(queue_pair);
            }
        })
    })?;
    if id.is_datagram() {
        // Nothing follows.
        if id.is_synchronous() {
            id.acknowledge_kept();
        }
        return Ok(());
    }
    synchronous::complete(
        id,
        &[
            RDMA_CM_EVENT_ESTABLISHED,
            RDMA_CM_EVENT_CONNECT_ERROR,
            RDMA_CM_EVENT_UNREACHABLE,
            RDMA_CM_EVENT_REJECTED,
            RDMA_CM_EVENT_DISCONNECTED,
        ],
    )
}

/// Why a request is refused, as the peer's event tells.
#[derive(Clone, Copy)]
#[repr(u8)]
pub enum Reason {
    /// The application's own reason.
    Consumer = 0,
    /// What the peer's device wants is not to be had (`CM_REJ_VENDOR_OPTION_NOT_SUPPORTED`).
    VendorOption = 35,
}

/// Refuses the request that made the id.
pub fn reject(id: &CmId, data: &[u8], reason: Reason) -> Result<()> {
    let mut command = Reject { id: id.handle(), reason: reason as u8, ..FromZeros::new_zeroed() };
    command.private_data_len = u8::try_from(data.len()).map_err(|_| Errno::EINVAL)?;
    for (place, byte) in command.private_data.iter_mut().zip(data) {
        *place = *byte;
    }
    ucma::order(&id.fd(), command)
}
