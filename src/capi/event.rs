// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Events.

use super::{borrow, ret};
use crate::cm::event::Handed;
use crate::cm::{get, name, user};
use crate::ctypes::{rdma_cm_event, rdma_cm_event_type, rdma_cm_id, rdma_event_channel};
use crate::errno::{Errno, Result};
use std::ffi::{c_char, c_int};
use std::ptr::{self, NonNull};

/// Takes the next event of a channel, and waits for one unless the channel's descriptor is non-blocking. Give it back
/// with rdma_ack_cm_event(), from whichever thread.
///
/// # Errors
///
/// 0, or -1 and errno, with NULL in *event: EINVAL for NULL, EAGAIN if there is no event on a non-blocking channel,
/// EINTR if a signal ended the wait, ECANCELED if the channel was destroyed, ENOMEM.
///
/// # Safety
///
/// The channel is NULL or not destroyed when the call begins; event is NULL or has room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_cm_event(
    channel: *mut rdma_event_channel,
    event: *mut *mut rdma_cm_event,
) -> c_int {
    if event.is_null() {
        return ret::status(rdma_get_cm_event, Err(Errno::EINVAL));
    }
    // SAFETY: the caller's promise.
    let result = unsafe { borrow::channel(channel) }.and_then(get::next);
    let (taken, result) = match result {
        Ok(taken) => (taken.as_ptr(), Ok(())),
        Err(error) => {
            get::pause_after(error);
            (ptr::null_mut(), Err(error))
        }
    };
    // SAFETY: checked for NULL; the caller promises the rest.
    unsafe { *event = taken };
    ret::status(rdma_get_cm_event, result)
}

/// Gives an event back. Its memory, the private data in it included, is not valid any more.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL.
///
/// # Safety
///
/// NULL, or an event of rdma_get_cm_event() that was not given back before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_ack_cm_event(event: *mut rdma_cm_event) -> c_int {
    let Some(event) = NonNull::new(event) else { return ret::status(rdma_ack_cm_event, Err(Errno::EINVAL)) };
    // SAFETY: the caller's promise.
    unsafe { Handed::from_ptr(event) }.acknowledge();
    0
}

/// The name of a kind of event; "UNKNOWN EVENT" for a value that is none. The string is not to be freed.
#[unsafe(no_mangle)]
pub extern "C" fn rdma_event_str(event: rdma_cm_event_type) -> *const c_char {
    name::of_event(event).as_ptr()
}

/// Puts an event of the application's own into the channel that an id is on, so that a thread waiting there wakes.
///
/// The receiver sees RDMA_CM_EVENT_USER, the id, the status in event->status and the argument in event->param.arg, in
/// the order in which events were written. It counts for rdma_destroy_id() like every other event.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL and for an event other than RDMA_CM_EVENT_USER; what the kernel says, such as
/// ENOMEM.
///
/// # Safety
///
/// NULL, or an id that is not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_write_cm_event(
    id: *mut rdma_cm_id,
    event: rdma_cm_event_type,
    status: c_int,
    arg: u64,
) -> c_int {
    // SAFETY: the caller's promise.
    let result: Result<()> = unsafe { borrow::id(id) }.and_then(|id| user::write(id, event, status, arg));
    ret::status(rdma_write_cm_event, result)
}
