// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Endpoints.

use super::{borrow, ret};
use crate::cm::endpoint;
use crate::cm::id::CmId;
use crate::ctypes::{ibv_pd, ibv_qp_init_attr, rdma_addrinfo, rdma_cm_id};
use crate::errno::Errno;
use std::ffi::c_int;

/// Makes an id with a channel of its own from an address of rdma_getaddrinfo(). With RAI_PASSIVE it is bound, ready for
/// rdma_listen(); else its address and route are resolved, ready for rdma_connect(). With attributes it gets a queue
/// pair, or, with RAI_PASSIVE, each id of rdma_get_request() does. NULL for pd stands for the device's own.
///
/// Resolving the address and the route may take 2000 ms each, or what the environment variable
/// RDMACM_RESOLVE_TIMEOUT_MS says.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL in id or res; those of rdma_create_id(), rdma_bind_addr(), rdma_resolve_addr(),
/// rdma_resolve_route() and rdma_create_qp().
///
/// # Safety
///
/// There is room for a pointer at id; res is valid; pd and the attributes are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_create_ep(
    id: *mut *mut rdma_cm_id,
    res: *mut rdma_addrinfo,
    pd: *mut ibv_pd,
    qp_init_attr: *mut ibv_qp_init_attr,
) -> c_int {
    if id.is_null() {
        return ret::status(rdma_create_ep, Err(Errno::EINVAL));
    }
    // SAFETY: the caller's promise.
    let (info, attributes) = unsafe { (borrow::addrinfo(res), qp_init_attr.as_mut()) };
    ret::status(
        rdma_create_ep,
        info.and_then(|info| endpoint::create(&info, pd, attributes)).map(|made| {
            // SAFETY: checked for NULL; the caller promises the rest.
            unsafe { *id = CmId::for_application(&made) };
        }),
    )
}

/// Ends an id, with its queue pair and its shared receive queue. NULL is ignored.
///
/// # Safety
///
/// NULL, or an id that no thread uses any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_destroy_ep(id: *mut rdma_cm_id) {
    // SAFETY: the caller's promise.
    if let Ok(id) = unsafe { borrow::owned_id(id) } {
        endpoint::destroy(&id);
    }
}

/// Waits for the next connection request of a listener that has a channel of its own. *id is the new id, which has one
/// too; its event is in (*id)->event until the next call on it.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL and for a listener on a channel of the application, EINTR if a signal ended the
/// wait. A request that cannot be had is refused, and errno says why, such as EMFILE or ENOMEM: the next call waits for
/// the next one.
///
/// # Safety
///
/// The listener is NULL or not destroyed; id is NULL or has room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_request(listen: *mut rdma_cm_id, id: *mut *mut rdma_cm_id) -> c_int {
    if id.is_null() {
        return ret::status(rdma_get_request, Err(Errno::EINVAL));
    }
    // SAFETY: the caller's promise.
    let listener = unsafe { borrow::id(listen) };
    ret::status(
        rdma_get_request,
        listener.and_then(endpoint::next_request).map(|made| {
            // SAFETY: checked for NULL; the caller promises the rest.
            unsafe { *id = CmId::for_application(&made) };
        }),
    )
}
