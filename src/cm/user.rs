// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Events that the application writes itself.

use super::id::CmId;
use crate::ctypes::{RDMA_CM_EVENT_USER, rdma_cm_event_type};
use crate::errno::{Errno, Result};
use crate::uapi::WriteCmEvent;
use crate::ucma;
use std::ffi::c_int;

/// Puts a user event at the end of the queue of the id's channel. EINVAL for any other kind.
#[inline]
pub fn write(id: &CmId, event: rdma_cm_event_type, status: c_int, arg: u64) -> Result<()> {
    if event != RDMA_CM_EVENT_USER {
        return Err(Errno::EINVAL);
    }
    let command =
        WriteCmEvent { id: id.handle(), reserved: 0, event, status: status as u32, param: arg.into() };
    ucma::order(&id.fd(), command)
}
