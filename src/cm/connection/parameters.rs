// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Parameters of a connection, from the application's form to the kernel's.

use super::Connection;
use crate::cm::device::Device;
use crate::cm::id::CmId;
use crate::ctypes::{RDMA_MAX_INIT_DEPTH, RDMA_MAX_RESP_RES, RDMA_PS_TCP, rdma_conn_param};
use crate::errno::{Errno, Result};
use crate::uapi::ConnParam;

/// What the application offers its peer.
#[derive(Clone, Copy)]
pub struct Offer<'a> {
    /// The numbers; the pointer among them is not looked at.
    pub numbers: rdma_conn_param,
    /// Data for the peer.
    pub private_data: &'a [u8],
}

/// Repetitions for an application that says nothing: the most there are, or without end.
const RETRIES: u8 = 7;

/// The limits that the application asks for, where it does not leave them to the library. EINVAL where the device cannot
/// hold them, or without a queue pair to speak of.
pub fn wanted(id: &CmId, device: &Device, offer: Option<Offer<'_>>) -> Result<(Option<u8>, Option<u8>)> {
    let Some(Offer { numbers, .. }) = offer else {
        let needed = id.port_space() == RDMA_PS_TCP && !id.has_queue_pair();
        return if needed { Err(Errno::EINVAL) } else { Ok((None, None)) };
    };
    let resources = (numbers.responder_resources != RDMA_MAX_RESP_RES).then_some(numbers.responder_resources);
    let depth = (numbers.initiator_depth != RDMA_MAX_INIT_DEPTH).then_some(numbers.initiator_depth);
    let limits = device.limits();
    let too_much = resources.is_some_and(|resources| resources > limits.responder_resources)
        || depth.is_some_and(|depth| depth > limits.initiator_depth);
    if too_much && id.port_space() == RDMA_PS_TCP { Err(Errno::EINVAL) } else { Ok((resources, depth)) }
}

impl Connection {
    /// Fills in the kernel's form of an offer, which is clear. EINVAL for more private data than it has room for.
    pub fn fill_in(&self, parameters: &mut ConnParam, id: &CmId, offer: Option<Offer<'_>>) -> Result<()> {
        parameters.responder_resources = self.limits.responder_resources;
        parameters.initiator_depth = self.limits.initiator_depth;
        parameters.valid = 1;
        match offer {
            Some(Offer { numbers, .. }) => {
                parameters.flow_control = numbers.flow_control;
                parameters.retry_count = numbers.retry_count;
                parameters.rnr_retry_count = numbers.rnr_retry_count;
                parameters.qp_num = numbers.qp_num;
                parameters.srq = numbers.srq;
            }
            None => {
                parameters.retry_count = RETRIES;
                parameters.rnr_retry_count = RETRIES;
            }
        }
        if let Some(queue_pair) = id.queue_pair() {
            parameters.qp_num = queue_pair.number();
            parameters.srq = queue_pair.is_shared().into();
        }
        let data = offer.map_or(&[][..], |offer| offer.private_data);
        let length = self.opening.len() + data.len();
        parameters.private_data_len = u8::try_from(length).map_err(|_| Errno::EINVAL)?;
        let (head, rest) =
            parameters.private_data.split_at_mut_checked(self.opening.len()).ok_or(Errno::EINVAL)?;
        head.copy_from_slice(&self.opening);
        rest.get_mut(..data.len()).ok_or(Errno::EINVAL)?.copy_from_slice(data);
        Ok(())
    }
}
