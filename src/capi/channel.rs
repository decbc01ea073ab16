// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Event channels.

use super::ret;
use crate::cm::channel::Channel;
use crate::ctypes::rdma_event_channel;
use crate::sync::Shared;
use std::ptr::NonNull;

/// Opens an event channel.
///
/// Its descriptor can be polled and made non-blocking. It is closed in programs that this one executes.
///
/// # Errors
///
/// NULL and errno: ENODEV without an RDMA device, ENOENT without the device node, EACCES without permission to it,
/// EMFILE or ENFILE without descriptors, ENOMEM.
#[unsafe(no_mangle)]
pub extern "C" fn rdma_create_event_channel() -> *mut rdma_event_channel {
    // The application's reference: rdma_destroy_event_channel() takes it back.
    ret::pointer(rdma_create_event_channel, Channel::open().map(|channel| Shared::into_raw(channel).cast()))
}

/// Closes an event channel. Destroy or migrate its ids before.
///
/// Threads that wait in rdma_get_cm_event() on it do so no more when this returns, and return -1 with ECANCELED within
/// 100 ms. NULL is ignored.
///
/// # Safety
///
/// NULL, or a channel of rdma_create_event_channel() that no thread uses but by waiting on it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_destroy_event_channel(channel: *mut rdma_event_channel) {
    let Some(channel) = NonNull::new(channel.cast::<Channel>()) else { return };
    // SAFETY: the pointer came from rdma_create_event_channel(), and is not used any more.
    Channel::destroy(&unsafe { Shared::from_raw(channel) });
}
