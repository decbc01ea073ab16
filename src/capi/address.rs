// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Addresses and routes.

use super::{borrow, ret};
use crate::cm;
use crate::ctypes::rdma_cm_id;
use libc::sockaddr;
use std::ffi::c_int;

/// Binds an id to a local address. If it belongs to an RDMA device, the id is bound to the device too: id->verbs,
/// id->pd and id->port_num are set.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL, for an address of an unknown family and for an id that is bound already,
/// EADDRNOTAVAIL for an address that is not local, EADDRINUSE for a port that is taken, ENODEV if the device cannot be
/// opened.
///
/// # Safety
///
/// The id is NULL or not destroyed; the address is NULL or as large as its family says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_bind_addr(id: *mut rdma_cm_id, addr: *mut sockaddr) -> c_int {
    // SAFETY: the caller's promise.
    let (id, address) = unsafe { (borrow::id(id), borrow::address(addr)) };
    ret::status(rdma_bind_addr, id.and_then(|id| cm::address::bind(id, address?)))
}

/// Finds the device and the hardware address towards a destination, within a time in milliseconds. The source, if it
/// is not NULL, is bound to first.
///
/// The result is RDMA_CM_EVENT_ADDR_RESOLVED or RDMA_CM_EVENT_ADDR_ERROR.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL in id or dst_addr, for an address of an unknown family, and for an id in
/// another state; what the kernel says, such as ENETUNREACH or ENODEV. On an id with a channel of its own also what
/// the event tells, such as ETIMEDOUT.
///
/// # Safety
///
/// The id is NULL or not destroyed; each address is NULL or as large as its family says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_resolve_addr(
    id: *mut rdma_cm_id,
    src_addr: *mut sockaddr,
    dst_addr: *mut sockaddr,
    timeout_ms: c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    let (id, source, destination) =
        unsafe { (borrow::id(id), borrow::optional_address(src_addr), borrow::address(dst_addr)) };
    ret::status(
        rdma_resolve_addr,
        id.and_then(|id| cm::address::resolve(id, source?, destination?, timeout_ms as u32)),
    )
}

/// Finds the path to the resolved destination, within a time in milliseconds.
///
/// The result is RDMA_CM_EVENT_ROUTE_RESOLVED or RDMA_CM_EVENT_ROUTE_ERROR.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL, for an id that is not bound to a device, and for one in another state. On an
/// id with a channel of its own also what the event tells, such as ETIMEDOUT.
///
/// # Safety
///
/// NULL, or an id that is not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_resolve_route(id: *mut rdma_cm_id, timeout_ms: c_int) -> c_int {
    // SAFETY: the caller's promise.
    let id = unsafe { borrow::id(id) };
    ret::status(rdma_resolve_route, id.and_then(|id| cm::address::resolve_route(id, timeout_ms as u32)))
}
