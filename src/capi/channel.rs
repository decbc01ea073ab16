// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Event channels.

use super::{borrow, ret};
use crate::cm::channel::Channel;
use crate::ctypes::rdma_event_channel;
use std::sync::Arc;

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
    ret::pointer(Channel::open().map(|channel| {
        let pointer = Channel::for_application(&channel);
        std::mem::forget(channel);
        pointer
    }))
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
    // SAFETY: the caller's promise.
    let Some(channel) = (unsafe { borrow::owned_channel(channel) }) else { return };
    Channel::destroy(&channel);
    // SAFETY: this is the application's reference, which is not used any more. `channel` holds another one.
    unsafe { Arc::decrement_strong_count(Arc::as_ptr(&channel)) };
}
