// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Events that the application writes itself.

use super::id::CmId;
use super::{bell, wake};
use crate::ctypes::{RDMA_CM_EVENT_USER, rdma_cm_event_type};
use crate::errno::{Errno, Result};
use std::ffi::c_int;

/// Puts a user event at the end of the queue of the id's channel. EINVAL for any other kind; ENODEV if the kernel has
/// no command for it and no active port either.
#[inline]
pub fn write(id: &CmId, event: rdma_cm_event_type, status: c_int, arg: u64) -> Result<()> {
    if event != RDMA_CM_EVENT_USER {
        return Err(Errno::EINVAL);
    }
    match wake::write(id.fd(), id.handle(), status, arg) {
        Err(Errno::EINVAL) => bell::write(id, status, arg),
        Err(Errno::EFAULT) => wake::write_whole(id.fd(), id.handle(), status, arg),
        other => other,
    }
}
