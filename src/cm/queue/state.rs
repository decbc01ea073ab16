// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Moving a queue pair through the states of its connection.
//!
//! Callers hold the lock of the id's queues, so that the queue pair is not destroyed meanwhile.

use super::attributes::{self, Change};
use crate::cm::id::CmId;
use crate::ctypes::{
    IBV_QP_ACCESS_FLAGS, IBV_QP_PKEY_INDEX, IBV_QP_PORT, IBV_QP_QKEY, IBV_QP_SQ_PSN, IBV_QP_STATE,
    IBV_QPS_ERR, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD, RDMA_UDP_QKEY, ibv_qp_attr,
    ibv_qp_state,
};
use crate::errno::{Errno, Result};
use crate::ucma::node;
use crate::verbs::QueuePair;
use std::ffi::c_int;

/// Version of the kernel's interface that cannot tell the attributes of a new queue pair.
const ABI_WITHOUT_INIT: u32 = 3;
/// Attributes that the kernel sets for RoCE (hardware addresses, VLAN), by mistake also on InfiniBand.
const ROCE_ONLY: c_int = 0xe0_0000;

/// No attribute but the state.
fn only(state: ibv_qp_state) -> ibv_qp_attr {
    // The mask says that nothing else counts.
    ibv_qp_attr { qp_state: state, ..ibv_qp_attr::CLEAR }
}

/// A new queue pair takes receives.
pub fn init(id: &CmId, queue_pair: QueuePair) -> Result<()> {
    if node::abi()? == ABI_WITHOUT_INIT {
        let mask = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
        return queue_pair.modify(&mut first(id)?, mask);
    }
    let Change { mut attributes, mask } = attributes::of_state(id, IBV_QPS_INIT)?;
    queue_pair.modify(&mut attributes, mask)
}

/// A new queue pair sends and receives datagrams.
pub fn ready_for_datagrams(id: &CmId, queue_pair: QueuePair) -> Result<()> {
    if node::abi()? == ABI_WITHOUT_INIT {
        let mut attributes = ibv_qp_attr { qkey: RDMA_UDP_QKEY, ..first(id)? };
        let mask = IBV_QP_STATE | IBV_QP_QKEY | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
        queue_pair.modify(&mut attributes, mask)?;
    } else {
        let Change { mut attributes, mask } = attributes::of_state(id, IBV_QPS_INIT)?;
        queue_pair.modify(&mut attributes, mask)?;
    }
    queue_pair.modify(&mut only(IBV_QPS_RTR), IBV_QP_STATE)?;
    queue_pair.modify(&mut only(IBV_QPS_RTS), IBV_QP_STATE | IBV_QP_SQ_PSN)
}

/// What an old kernel does not tell.
fn first(id: &CmId) -> Result<ibv_qp_attr> {
    let device = id.device().ok_or(Errno::EINVAL)?;
    let pkey_index = device.verbs().pkey_index(id.port(), id.pkey())?;
    Ok(ibv_qp_attr { pkey_index, port_num: id.port(), ..only(IBV_QPS_INIT) })
}

/// The queue pair is ready to receive. The most RDMA reads that the peer may have outstanding, if not what the kernel
/// says.
pub fn ready_to_receive(id: &CmId, queue_pair: QueuePair, responder_resources: Option<u8>) -> Result<()> {
    // Some attributes are known only now.
    let Change { mut attributes, mask } = attributes::of_state(id, IBV_QPS_INIT)?;
    queue_pair.modify(&mut attributes, mask)?;
    let Change { mut attributes, mut mask } = attributes::of_state(id, IBV_QPS_RTR)?;
    if id.device().is_some_and(|device| device.is_infiniband(id.port())) {
        mask &= !ROCE_ONLY;
    }
    if let Some(resources) = responder_resources {
        attributes.max_dest_rd_atomic = resources;
    }
    queue_pair.modify(&mut attributes, mask)
}

/// The queue pair is ready to send. The most RDMA reads that it may have outstanding, if not what the kernel says.
pub fn ready_to_send(id: &CmId, queue_pair: QueuePair, initiator_depth: Option<u8>) -> Result<()> {
    let Change { mut attributes, mask } = attributes::of_state(id, IBV_QPS_RTS)?;
    if let Some(depth) = initiator_depth {
        attributes.max_rd_atomic = depth;
    }
    queue_pair.modify(&mut attributes, mask)
}

/// Everything posted completes with an error.
pub fn fail(queue_pair: QueuePair) -> Result<()> {
    queue_pair.modify(&mut only(IBV_QPS_ERR), IBV_QP_STATE)
}

/// A queue pair for datagrams sends again, after one that could not be sent. EINVAL if it cannot.
pub fn resume(queue_pair: QueuePair) -> Result<()> {
    queue_pair.modify(&mut only(IBV_QPS_RTS), IBV_QP_STATE)
}

/// Nothing more is sent.
pub fn drain(queue_pair: QueuePair) -> Result<()> {
    queue_pair.modify(&mut only(IBV_QPS_SQD), IBV_QP_STATE)
}
