// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Events that the application writes itself, and one that this library does.

use super::id::CmId;
use super::{bell, wake};
use crate::ctypes::{
    RDMA_CM_EVENT_ADDRINFO_RESOLVED, RDMA_CM_EVENT_INTERNAL, RDMA_CM_EVENT_USER, rdma_cm_event_type,
};
use crate::errno::{Errno, Result};
use std::ffi::c_int;

/// An event as it is written.
#[derive(Clone, Copy)]
pub struct Written {
    /// RDMA_CM_EVENT_USER, or RDMA_CM_EVENT_INTERNAL.
    pub event: rdma_cm_event_type,
    /// The application's own.
    pub status: c_int,
    /// The application's own, or what an internal event means.
    pub arg: u64,
}

/// Puts a user event at the end of the queue of the id's channel. EINVAL for any other kind; ENODEV if the kernel has
/// no command for it and there is no RDMA device.
#[inline]
pub fn write(id: &CmId, event: rdma_cm_event_type, status: c_int, arg: u64) -> Result<()> {
    if event != RDMA_CM_EVENT_USER {
        return Err(Errno::EINVAL);
    }
    put(id, Written { event, status, arg })
}

/// Puts RDMA_CM_EVENT_ADDRINFO_RESOLVED at the end of the queue of the id's channel.
pub fn announce_addresses(id: &CmId) -> Result<()> {
    let arg = RDMA_CM_EVENT_ADDRINFO_RESOLVED.into();
    put(id, Written { event: RDMA_CM_EVENT_INTERNAL, status: 0, arg })
}

#[inline(always)]
fn put(id: &CmId, event: Written) -> Result<()> {
    wake::write(id.fd(), id.handle(), event).or_else(|error| put_otherwise(id, event, error))
}

#[cold]
#[inline(never)]
fn put_otherwise(id: &CmId, event: Written, error: Errno) -> Result<()> {
    match error {
        // Of a closed descriptor too: the id may have moved meanwhile, and its former channel be destroyed.
        Errno::EINVAL | Errno::EBADF => bell::write(id, event),
        Errno::EFAULT => wake::write_whole(id.fd(), id.handle(), event),
        other => Err(other),
    }
}
