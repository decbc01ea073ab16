// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Ids.

use super::{borrow, ret};
use crate::cm::id::CmId;
use crate::cm::{self, family, migrate};
use crate::ctypes::{__be16, rdma_cm_id, rdma_event_channel, rdma_port_space};
use crate::errno::Errno;
use std::ffi::{c_int, c_void};

/// Makes an id.
///
/// Its events arrive on the channel. With NULL for the channel the id gets one of its own, and calls on it wait for
/// their result.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL in id and for an unknown port space, ENOMEM; without a channel also those of
/// rdma_create_event_channel().
///
/// # Safety
///
/// The channel is NULL or not destroyed; there is room for a pointer at id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_create_id(
    channel: *mut rdma_event_channel,
    id: *mut *mut rdma_cm_id,
    context: *mut c_void,
    ps: rdma_port_space,
) -> c_int {
    if id.is_null() {
        return ret::status(rdma_create_id, Err(Errno::EINVAL));
    }
    // SAFETY: the caller's promise.
    let channel = unsafe { borrow::owned_channel(channel) };
    ret::status(
        rdma_create_id,
        cm::id::create(channel, context, ps, cm::id::usual_type(ps)).map(|made| {
            // SAFETY: checked for NULL; the caller promises the rest.
            unsafe { *id = CmId::for_application(&made) };
        }),
    )
}

/// Ends an id. Events of it that were not taken from the channel are gone.
///
/// This waits until other threads have acknowledged the events of the id that they hold. An event that the calling
/// thread holds itself is no obstacle: it stays valid until it is acknowledged.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL. If the kernel has forgotten the id (EBADF, ENOENT, ENODEV) or the process is
/// a child of the one that made it (EACCES), the id is freed all the same.
///
/// # Safety
///
/// NULL, or an id that no thread uses any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_destroy_id(id: *mut rdma_cm_id) -> c_int {
    // SAFETY: the caller's promise.
    ret::status(rdma_destroy_id, unsafe { borrow::owned_id(id) }.and_then(|id| cm::id::destroy(&id)))
}

/// Moves an id to another event channel, with its events that were not taken yet.
///
/// This waits until other threads have acknowledged the events of the id that they hold; afterwards none comes from
/// the old channel. With NULL for the channel the id gets one of its own, and calls on it wait for their result.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL in id, and for NULL in channel if the id already has a channel of its own.
///
/// # Safety
///
/// The id is NULL or not destroyed, and so is the channel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_migrate_id(id: *mut rdma_cm_id, channel: *mut rdma_event_channel) -> c_int {
    // SAFETY: the caller's promise.
    let (id, channel) = unsafe { (borrow::id(id), borrow::owned_channel(channel)) };
    ret::status(rdma_migrate_id, id.and_then(|id| migrate::migrate(id, channel)))
}

/// The local port number of an id, in network byte order; 0 if it has none.
///
/// # Safety
///
/// NULL, or an id that is not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_src_port(id: *mut rdma_cm_id) -> __be16 {
    // SAFETY: the caller's promise.
    unsafe { borrow::id(id) }.map_or(0, |id| family::port(&id.addresses().0.0))
}

/// The remote port number of an id, in network byte order; 0 if it has none.
///
/// # Safety
///
/// NULL, or an id that is not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_dst_port(id: *mut rdma_cm_id) -> __be16 {
    // SAFETY: the caller's promise.
    unsafe { borrow::id(id) }.map_or(0, |id| family::port(&id.addresses().1.0))
}
