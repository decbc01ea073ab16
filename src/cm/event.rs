// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The memory of an event between `rdma_get_cm_event` and `rdma_ack_cm_event`.

use super::id::CmId;
use crate::ctypes::{rdma_cm_event, rdma_cm_event_param, rdma_cm_event_type};
use crate::errno::Result;
use crate::sys::memory;
use crate::sys::thread::{self, Token};
use crate::uapi::MAX_PRIVATE_DATA;
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The application sees the first field and points to it.
#[repr(C)]
struct Event {
    public: rdma_cm_event,
    private_data: MaybeUninit<[u8; MAX_PRIVATE_DATA]>,
    /// The id whose destruction waits for this event; for a connection request, the listener.
    counts_for: Arc<CmId>,
    holder: Token,
}

/// What an event tells.
pub struct Contents {
    /// The id it is about.
    pub id: Arc<CmId>,
    /// The listener of a connection request.
    pub listener: Option<Arc<CmId>>,
    /// `RDMA_CM_EVENT_*`.
    pub kind: rdma_cm_event_type,
    /// 0, a negative errno, or the transport's reason.
    pub status: c_int,
    /// The address of private data in it is filled in by [`Blank::deliver`].
    pub param: rdma_cm_event_param,
}

/// Parameters without a set bit.
// SAFETY: integers and pointers; all of them may be zero.
pub const NO_PARAM: rdma_cm_event_param = unsafe { std::mem::zeroed() };

/// An event in the hands of the application, or on the way there. Nothing happens when it is dropped: it is open until
/// [`Handed::acknowledge`].
#[derive(Clone, Copy)]
pub struct Handed(NonNull<Event>);

// SAFETY: an event may be taken by one thread and acknowledged by another.
unsafe impl Send for Handed {}

impl Handed {
    /// For the application.
    pub fn as_ptr(self) -> *mut rdma_cm_event {
        self.0.as_ptr().cast()
    }

    /// What the application gives back.
    ///
    /// # Safety
    ///
    /// The pointer came from [`Handed::as_ptr`] of an event that is still open, and nobody else acknowledges it.
    pub unsafe fn from_ptr(event: NonNull<rdma_cm_event>) -> Handed {
        Handed(event.cast())
    }

    /// What happened, and how.
    pub fn kind_and_status(self) -> (rdma_cm_event_type, c_int) {
        // SAFETY: the event is open, so its memory is alive; fields are read by value.
        unsafe { ((*self.as_ptr()).event, (*self.as_ptr()).status) }
    }

    /// Ends the event: its memory is used for the next.
    pub fn acknowledge(self) {
        let event = self.0.as_ptr();
        // SAFETY: deliver() has set both fields, and they are read once: an open event is acknowledged once.
        let (counts_for, holder) = unsafe { (ptr::read(&raw const (*event).counts_for), (*event).holder) };
        counts_for.channel().spare().put(Blank(self.0));
        counts_for.ledger().acknowledge(holder);
    }
}

/// Memory for one event, with nothing in it.
pub struct Blank(NonNull<Event>);

impl Blank {
    /// ENOMEM without memory.
    pub fn allocate() -> Result<Blank> {
        memory::allocate(1).map(Blank)
    }

    /// Makes it an event in the hands of the calling thread. `private_data` is cut at the size that the kernel's
    /// interface allows.
    pub fn deliver(self, contents: Contents, private_data: &[u8]) -> Handed {
        let Contents { id, listener, kind, status, mut param } = contents;
        let handed = Handed(self.0);
        std::mem::forget(self);
        let event = handed.0.as_ptr();
        let length = private_data.len().min(MAX_PRIVATE_DATA);
        // SAFETY: `event` is this function's own memory of the right size and alignment; each field is written, none
        // read before.
        unsafe {
            if length > 0 {
                let place = (&raw mut (*event).private_data).cast::<u8>();
                place.copy_from_nonoverlapping(private_data.as_ptr(), length);
                // The address is the first field of the parameters of connections and of datagrams alike.
                param.conn.private_data = place.cast();
            }
            (&raw mut (*event).public).write(rdma_cm_event {
                id: CmId::for_application(&id),
                listen_id: listener.as_ref().map_or(ptr::null_mut(), CmId::for_application),
                event: kind,
                status,
                param,
            });
            let counts_for = listener.unwrap_or(id);
            let holder = thread::current();
            counts_for.ledger().hand_out(holder);
            (&raw mut (*event).counts_for).write(counts_for);
            (&raw mut (*event).holder).write(holder);
        }
        handed
    }
}

impl Drop for Blank {
    fn drop(&mut self) {
        // SAFETY: the memory came from allocate() and is owned by self.
        unsafe { memory::release(self.0.as_ptr()) };
    }
}

/// Keeps the memory of one acknowledged event for the next.
#[derive(Default)]
pub struct Spare(AtomicPtr<Event>);

impl Spare {
    /// The kept memory, else new one. ENOMEM without memory.
    pub fn take(&self) -> Result<Blank> {
        match NonNull::new(self.0.swap(ptr::null_mut(), Ordering::Acquire)) {
            Some(event) => Ok(Blank(event)),
            None => Blank::allocate(),
        }
    }

    /// Keeps this one, and frees the one kept so far.
    pub fn put(&self, blank: Blank) {
        let event = self.0.swap(blank.0.as_ptr(), Ordering::AcqRel);
        std::mem::forget(blank);
        drop(NonNull::new(event).map(Blank));
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        drop(NonNull::new(*self.0.get_mut()).map(Blank));
    }
}
