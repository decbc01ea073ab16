// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Connections.

use super::{borrow, ret};
use crate::cm::connection::passive::{self, Reason};
use crate::cm::connection::{active, ece, end};
use crate::ctypes::{ibv_ece, ibv_event_type, rdma_cm_id, rdma_conn_param};
use crate::errno::Errno;
use std::ffi::{c_int, c_void};

/// Waits for connection requests on a bound id from now on; each comes as RDMA_CM_EVENT_CONNECT_REQUEST with a new id.
/// The backlog is the number of requests that the kernel holds, 0 for the most it allows.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL and for an id in another state, EADDRINUSE for a port that is taken.
///
/// # Safety
///
/// NULL, or an id that is not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_listen(id: *mut rdma_cm_id, backlog: c_int) -> c_int {
    // SAFETY: the caller's promise.
    let id = unsafe { borrow::id(id) };
    ret::status(rdma_listen, id.and_then(|id| passive::listen(id, backlog)))
}

/// Asks the destination, whose route is resolved, for a connection; on an id for datagrams, for the way to its
/// service. NULL for conn_param stands for the most that the device can do.
///
/// The result is RDMA_CM_EVENT_ESTABLISHED, or RDMA_CM_EVENT_CONNECT_RESPONSE on an id without queue pair; or
/// RDMA_CM_EVENT_REJECTED, RDMA_CM_EVENT_UNREACHABLE or RDMA_CM_EVENT_CONNECT_ERROR.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL in id, for an id without device or in another state, for NULL in conn_param
/// without queue pair, for more than the device can do, and for more private data than the message has room for: 255
/// bytes here, 56 in a request by IP address and 180 in one for datagrams. On an id with a channel of its own also
/// ECONNREFUSED if the peer refuses, ECONNRESET if it is gone at once, ETIMEDOUT if it does not answer.
///
/// # Safety
///
/// The id is NULL or not destroyed; conn_param is NULL or valid, as is its private data.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_connect(id: *mut rdma_cm_id, conn_param: *mut rdma_conn_param) -> c_int {
    // SAFETY: the caller's promise.
    let (id, offer) = unsafe { (borrow::id(id), borrow::offer(conn_param)) };
    ret::status(rdma_connect, id.and_then(|id| active::connect(id, offer)))
}

/// Accepts a connection request: the id is that of its event. NULL for conn_param stands for what the peer asks, as far
/// as the device can do it.
///
/// The result is RDMA_CM_EVENT_ESTABLISHED, or another if the peer is gone; for datagrams none follows.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL in id, for an id that no request made, for NULL in conn_param without queue pair,
/// for more than the device can do, and for more private data than the message has room for: 255 bytes here, 196 in a
/// reply and 136 in one for datagrams. On an id with a channel of its own also ECONNRESET if the peer is gone.
///
/// # Safety
///
/// The id is NULL or not destroyed; conn_param is NULL or valid, as is its private data.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_accept(id: *mut rdma_cm_id, conn_param: *mut rdma_conn_param) -> c_int {
    // SAFETY: the caller's promise.
    let (id, offer) = unsafe { (borrow::id(id), borrow::offer(conn_param)) };
    ret::status(rdma_accept, id.and_then(|id| passive::accept(id, offer)))
}

/// Refuses a connection request, and sends data with the refusal, up to 148 bytes. The peer sees
/// RDMA_CM_EVENT_REJECTED with status 28 (consumer defined). The id is to be destroyed afterwards.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL in id, for an id that no request made and for too much data.
///
/// # Safety
///
/// The id is NULL or not destroyed; private_data is NULL or that long.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_reject(
    id: *mut rdma_cm_id,
    private_data: *const c_void,
    private_data_len: u8,
) -> c_int {
    // SAFETY: the caller's promise.
    let (id, data) =
        unsafe { (borrow::id(id), borrow::bytes(private_data, private_data_len.into()).unwrap_or_default()) };
    ret::status(rdma_reject, id.and_then(|id| passive::reject(id, data, Reason::Consumer)))
}

/// As rdma_reject(), because what the peer's device wants cannot be had: the peer sees status 35 (vendor option not
/// supported).
///
/// # Errors
///
/// As rdma_reject().
///
/// # Safety
///
/// The id is NULL or not destroyed; private_data is NULL or that long.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_reject_ece(
    id: *mut rdma_cm_id,
    private_data: *const c_void,
    private_data_len: u8,
) -> c_int {
    // SAFETY: the caller's promise.
    let (id, data) =
        unsafe { (borrow::id(id), borrow::bytes(private_data, private_data_len.into()).unwrap_or_default()) };
    ret::status(rdma_reject_ece, id.and_then(|id| passive::reject(id, data, Reason::VendorOption)))
}

/// Ends the handshake after RDMA_CM_EVENT_CONNECT_RESPONSE, for an id whose queue pair the application made and moved
/// itself.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL, for an id with a queue pair of its own and for one in another state.
///
/// # Safety
///
/// NULL, or an id that is not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_establish(id: *mut rdma_cm_id) -> c_int {
    // SAFETY: the caller's promise.
    let id = unsafe { borrow::id(id) };
    ret::status(rdma_establish, id.and_then(active::establish))
}

/// Ends a connection. The id's queue pair fails what is posted, and the peer is told. Both sides get
/// RDMA_CM_EVENT_DISCONNECTED, and later perhaps RDMA_CM_EVENT_TIMEWAIT_EXIT.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL and for an id that is not connected, any more or yet.
///
/// # Safety
///
/// NULL, or an id that is not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_disconnect(id: *mut rdma_cm_id) -> c_int {
    // SAFETY: the caller's promise.
    let id = unsafe { borrow::id(id) };
    ret::status(rdma_disconnect, id.and_then(end::disconnect))
}

/// Tells the kernel of an asynchronous event of the id's queue pair: IBV_EVENT_COMM_EST stands for the peer's
/// confirmation, which may be late or lost.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL; what the kernel says.
///
/// # Safety
///
/// NULL, or an id that is not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_notify(id: *mut rdma_cm_id, event: ibv_event_type) -> c_int {
    // SAFETY: the caller's promise.
    let id = unsafe { borrow::id(id) };
    ret::status(rdma_notify, id.and_then(|id| end::notify(id, event)))
}

/// Says what to tell the peer's device (enhanced connection establishment), for a queue pair that the application makes
/// itself. To be called before rdma_connect() or rdma_accept().
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL, for an id with a queue pair, for vendor 0 and for bits in comp_mask.
///
/// # Safety
///
/// The id is NULL or not destroyed; ece is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_set_local_ece(id: *mut rdma_cm_id, ece: *mut ibv_ece) -> c_int {
    // SAFETY: the caller's promise.
    let (id, local) = unsafe { (borrow::id(id), ece.as_ref().ok_or(Errno::EINVAL)) };
    ret::status(rdma_set_local_ece, id.and_then(|id| ece::set_local(id, *local?)))
}

/// What the peer's device has told (enhanced connection establishment); zeros if nothing.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL and for an id with a queue pair.
///
/// # Safety
///
/// The id is NULL or not destroyed; ece is NULL or has room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_remote_ece(id: *mut rdma_cm_id, ece: *mut ibv_ece) -> c_int {
    // SAFETY: the caller's promise.
    let id = if ece.is_null() { Err(Errno::EINVAL) } else { unsafe { borrow::id(id) } };
    ret::status(
        rdma_get_remote_ece,
        id.and_then(ece::remote).map(|remote| {
            // SAFETY: checked for NULL; the caller promises the rest.
            unsafe { ece.write(remote) };
        }),
    )
}
