// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The memory of an event between `rdma_get_cm_event` and `rdma_ack_cm_event`.

use super::id::CmId;
use super::multicast::Membership;
use super::unacknowledged;
use crate::ctypes::{
    RDMA_CM_EVENT_CONNECT_REQUEST, rdma_cm_event, rdma_cm_event_param, rdma_cm_event_type, rdma_conn_param,
};
use crate::errno::Result;
use crate::sync::Shared;
use crate::sys::memory;
use crate::sys::thread::{self, Token};
use crate::uapi::{EventReply, MAX_PRIVATE_DATA};
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};

/// The application sees the first field and points to it.
#[repr(C)]
struct Event {
    public: rdma_cm_event,
    private_data: PrivateData,
    /// What the kernel wrote.
    reply: EventReply,
    /// The id whose destruction waits for this event; for a connection request, the listener. Set while the event is
    /// in the application's hands.
    counts_for: MaybeUninit<Shared<CmId>>,
    holder: Token,
    /// For an event of a multicast group: it counts for the membership too.
    membership: Option<Shared<Membership>>,
    /// The next one in a line of events.
    next: Option<Handed>,
}

/// Private data of a peer. Applications lay structs over it, which the kernel's place for it is not aligned for.
#[repr(C, align(16))]
pub struct PrivateData(pub [u8; MAX_PRIVATE_DATA]);

/// Parameters without a set bit.
// SAFETY: integers and pointers; all of them may be zero.
pub const NO_PARAM: rdma_cm_event_param = unsafe { std::mem::zeroed() };

/// The ids of an event.
pub struct About {
    /// The id that it is about.
    pub id: Shared<CmId>,
    /// The listener of a connection request.
    pub listener: Option<Shared<CmId>>,
}

/// Memory for one event that nobody has yet.
pub struct Blank(NonNull<Event>);

impl Blank {
    /// ENOMEM without memory.
    fn allocate() -> Result<Blank> {
        let event = memory::allocate::<Event>()?;
        // SAFETY: the memory is new and large enough; the other fields are set by deliver().
        unsafe {
            (&raw mut (*event.as_ptr()).public).write_bytes(0, 1);
            (&raw mut (*event.as_ptr()).private_data).write_bytes(0, 1);
            (&raw mut (*event.as_ptr()).reply).write_bytes(0, 1);
            (&raw mut (*event.as_ptr()).membership).write(None);
        }
        Ok(Blank(event))
    }

    /// Where the kernel puts the event. The place does not move when the blank does.
    pub fn place(&self) -> NonNull<EventReply> {
        // SAFETY: the memory is alive; the address is of the field alone.
        unsafe { NonNull::new_unchecked(&raw mut (*self.0.as_ptr()).reply) }
    }

    /// The public part and the private data, to be filled, and what the kernel wrote.
    pub fn parts(&mut self) -> (&mut rdma_cm_event, &mut PrivateData, &EventReply) {
        let event = self.0.as_ptr();
        // SAFETY: the memory is alive and owned by self; the fields are apart and were set by allocate().
        unsafe { (&mut (*event).public, &mut (*event).private_data, &(*event).reply) }
    }

    /// It will be an event of that membership.
    pub fn belong_to(&mut self, membership: Shared<Membership>) {
        // SAFETY: the memory is alive and owned by self; allocate() has set the field.
        unsafe { (*self.0.as_ptr()).membership = Some(membership) };
    }

    /// Hands it to the calling thread as an event about these ids.
    #[inline]
    pub fn deliver(mut self, about: About) -> Handed {
        let (public, ..) = self.parts();
        public.id = CmId::for_application(&about.id);
        public.listen_id = about.listener.as_ref().map_or(ptr::null_mut(), CmId::for_application);
        let counts_for = about.listener.unwrap_or(about.id);
        let holder = thread::current();
        counts_for.ledger().hand_out(holder);
        let handed = Handed(self.0);
        // SAFETY: the memory is alive and owned by self; fields are written, none read.
        unsafe {
            (*self.0.as_ptr()).counts_for.write(counts_for);
            (&raw mut (*self.0.as_ptr()).holder).write(holder);
            (&raw mut (*self.0.as_ptr()).next).write(None);
        }
        std::mem::forget(self);
        handed
    }
}

impl Drop for Blank {
    fn drop(&mut self) {
        // SAFETY: the memory came from allocate() and is owned by self; nothing else in it needs to be dropped.
        unsafe {
            drop((*self.0.as_ptr()).membership.take());
            memory::release(self.0.as_ptr());
        }
    }
}

/// An event in the hands of the application, or on the way there. Nothing happens when it is dropped: it is open until
/// [`Handed::acknowledge`].
#[derive(Clone, Copy, PartialEq, Eq)]
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

    /// Puts another event behind it, or none; the one that was there. Both are in one line of open events at most.
    pub fn put_behind(self, next: Option<Handed>) -> Option<Handed> {
        // SAFETY: the event is open: deliver() has set the field, which belongs to whoever has the line.
        unsafe { ptr::replace(&raw mut (*self.0.as_ptr()).next, next) }
    }

    /// The event behind it in its line.
    pub fn behind(self) -> Option<Handed> {
        // SAFETY: as in put_behind().
        unsafe { (*self.0.as_ptr()).next }
    }

    /// What happened, and how.
    pub fn kind_and_status(self) -> (rdma_cm_event_type, c_int) {
        // SAFETY: the event is open, so its memory is alive; fields are read by value.
        unsafe { ((*self.as_ptr()).event, (*self.as_ptr()).status) }
    }

    /// The calling thread holds it from now on.
    pub fn hold(self) {
        let event = self.0.as_ptr();
        let holder = thread::current();
        // SAFETY: the event is open: deliver() has set both fields, and no other thread has it.
        unsafe {
            (*event).counts_for.assume_init_ref().ledger().pass_on((*event).holder, holder);
            if let Some(membership) = &(*event).membership {
                membership.ledger().pass_on((*event).holder, holder);
            }
            (*event).holder = holder;
        }
    }

    /// Whether the destruction of that id waits for it.
    pub fn counts_for(self, id: &CmId) -> bool {
        // SAFETY: the event is open: deliver() has set the field.
        ptr::eq(unsafe { &**(*self.0.as_ptr()).counts_for.assume_init_ref() }, id)
    }

    /// Whether it is an event of that membership.
    pub fn is_of(self, membership: &Shared<Membership>) -> bool {
        // SAFETY: the event is open: allocate() has set the field.
        unsafe { (*self.0.as_ptr()).membership.as_ref() }.is_some_and(|own| Shared::is_same(own, membership))
    }

    /// The new id, if it is a connection request.
    pub fn request(self) -> Option<Shared<CmId>> {
        (self.kind_and_status().0 == RDMA_CM_EVENT_CONNECT_REQUEST).then(|| self.id())
    }

    /// The id that it is about.
    pub fn id(self) -> Shared<CmId> {
        // SAFETY: the event is open; the id that it is about came from a Shared, and is not destroyed before the
        // application has the event.
        unsafe { Shared::another(NonNull::new_unchecked((*self.as_ptr()).id.cast::<CmId>())) }
    }

    /// The listener, if it is a connection request.
    pub fn listener(self) -> Option<Shared<CmId>> {
        // SAFETY: the event is open; the listener came from a Shared, and the event counts for it.
        unsafe { NonNull::new((*self.as_ptr()).listen_id.cast::<CmId>()).map(|id| Shared::another(id)) }
    }

    /// Parameters of a connection, and the private data of the peer, as much of it as there is room for. Not for datagrams.
    pub fn connection(self, room: &mut [u8]) -> (rdma_conn_param, usize) {
        // SAFETY: the event is open, and no other thread has it; of the union all bytes are set, and any are such
        // parameters. The private data stands in the event itself.
        unsafe {
            let conn = (*self.as_ptr()).param.conn;
            let data = &(*self.0.as_ptr()).private_data.0;
            let length = usize::from(conn.private_data_len).min(data.len()).min(room.len());
            for (place, byte) in room.iter_mut().zip(data.iter().take(length)) {
                *place = *byte;
            }
            (rdma_conn_param { private_data: ptr::null(), ..conn }, length)
        }
    }

    /// It counts for another id from now on: the one that it counted for may be destroyed.
    pub fn count_for(self, id: Shared<CmId>) {
        let event = self.0.as_ptr();
        // SAFETY: the event is open: deliver() has set both fields, and no other thread has it.
        unsafe {
            let holder = (*event).holder;
            id.ledger().expect();
            id.ledger().hand_out(holder);
            let before = std::mem::replace((*event).counts_for.assume_init_mut(), id);
            before.ledger().acknowledge(holder);
        }
    }

    /// Ends the event: its memory is used for the next.
    #[inline]
    pub fn acknowledge(self) {
        unacknowledged::forget(self);
        let event = self.0.as_ptr();
        // SAFETY: deliver() has set both fields, and they are read once: an open event is acknowledged once.
        let (counts_for, holder) = unsafe { ((*event).counts_for.assume_init_read(), (*event).holder) };
        // SAFETY: allocate() has set the field, and this thread alone has the event.
        if unsafe { (*event).membership.is_some() } {
            self.acknowledge_membership(holder);
        }
        counts_for.channel().spare().put(Blank(self.0));
        counts_for.ledger().acknowledge(holder);
    }
}

impl Handed {
    #[cold]
    fn acknowledge_membership(self, holder: Token) {
        // SAFETY: allocate() has set the field, and this thread alone has the event.
        let membership = unsafe { (*self.0.as_ptr()).membership.take() };
        if let Some(membership) = membership {
            membership.ledger().acknowledge(holder);
        }
    }
}

/// Keeps the memory of one acknowledged event for the next.
#[derive(Default)]
pub struct Spare(AtomicPtr<Event>);

impl Spare {
    /// The kept memory, else new one. ENOMEM without memory.
    #[inline]
    pub fn take(&self) -> Result<Blank> {
        match NonNull::new(self.0.swap(ptr::null_mut(), Ordering::Acquire)) {
            Some(event) => Ok(Blank(event)),
            None => Blank::allocate(),
        }
    }

    /// Keeps this one, and frees the one kept so far.
    #[inline]
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
