// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Multicast groups.

use super::{borrow, ret};
use crate::cm::multicast;
use crate::ctypes::{
    RDMA_CM_JOIN_MC_ATTR_ADDRESS, RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS, RDMA_CM_JOIN_MC_ATTR_RESERVED,
    RDMA_MC_JOIN_FLAG_FULLMEMBER, RDMA_MC_JOIN_FLAG_RESERVED, rdma_cm_id, rdma_cm_join_mc_attr_ex,
};
use crate::errno::{Errno, Result};
use libc::sockaddr;
use std::ffi::{c_int, c_void};

/// Joins a multicast group as a full member. The queue pair of the id, if it has one, receives from the group.
///
/// The result is RDMA_CM_EVENT_MULTICAST_JOIN or RDMA_CM_EVENT_MULTICAST_ERROR; either has the context in
/// event->param.ud.private_data.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL in id or addr, for an address of an unknown family, and for an id without device.
/// On an id with a channel of its own also what the event tells.
///
/// # Safety
///
/// The id is NULL or not destroyed; the address is NULL or as large as its family says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_join_multicast(
    id: *mut rdma_cm_id,
    addr: *mut sockaddr,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the caller's promise.
    ret::status(rdma_join_multicast, unsafe { join(id, addr, RDMA_MC_JOIN_FLAG_FULLMEMBER, context) })
}

/// As rdma_join_multicast(), with the kind of membership. Both fields of the attributes have to be set.
///
/// # Errors
///
/// As rdma_join_multicast(); EINVAL for an unknown kind, EOPNOTSUPP for unknown bits in comp_mask and for a kind that the
/// kernel does not know.
///
/// # Safety
///
/// The id is NULL or not destroyed; the attributes are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_join_multicast_ex(
    id: *mut rdma_cm_id,
    mc_join_attr: *mut rdma_cm_join_mc_attr_ex,
    context: *mut c_void,
) -> c_int {
    const NEEDED: u32 = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
    // SAFETY: the caller's promise.
    let result = match unsafe { mc_join_attr.as_ref() } {
        Some(attr) if attr.comp_mask >= RDMA_CM_JOIN_MC_ATTR_RESERVED => Err(Errno::EOPNOTSUPP),
        Some(attr) if attr.comp_mask == NEEDED && attr.join_flags < RDMA_MC_JOIN_FLAG_RESERVED => {
            // SAFETY: the caller's promise.
            unsafe { join(id, attr.addr, attr.join_flags, context) }
        }
        _ => Err(Errno::EINVAL),
    };
    ret::status(rdma_join_multicast_ex, result)
}

/// # Safety
///
/// As [`rdma_join_multicast`].
unsafe fn join(id: *mut rdma_cm_id, addr: *mut sockaddr, flags: u32, context: *mut c_void) -> Result<()> {
    // SAFETY: the caller's promise.
    let (id, address) = unsafe { (borrow::owned_id(id)?, borrow::address(addr)?) };
    multicast::join(&id, address, flags, context)
}

/// Leaves a multicast group. Waits until other threads have acknowledged the events of the membership that they hold.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL and for an address of an unknown family, EADDRNOTAVAIL for a group that the id is
/// not in.
///
/// # Safety
///
/// The id is NULL or not destroyed; the address is NULL or as large as its family says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_leave_multicast(id: *mut rdma_cm_id, addr: *mut sockaddr) -> c_int {
    // SAFETY: the caller's promise.
    let (id, address) = unsafe { (borrow::id(id), borrow::address(addr)) };
    ret::status(rdma_leave_multicast, id.and_then(|id| multicast::leave(id, address?)))
}
