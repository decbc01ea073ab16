// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! A thread inside `rdma_get_cm_event`.
//!
//! The application may cancel the thread while it waits in the kernel. Then no code of this library runs on its way
//! out: destructors of the stack do not (`docs/architecture.md`), but what the thread calls at its very end does. So all
//! that a waiting thread owns is parked in thread-local storage while it waits.

use super::channel::Channel;
use super::event::{Blank, PrivateData};
use super::multicast::Membership;
use crate::ctypes::rdma_cm_event;
use crate::errno::{Errno, Result};
use crate::sync::Shared;
use crate::sys::thread_end::AtThreadEnd;
use crate::uapi::{Ece, EventReply, GetEvent};
use crate::ucma::{self, Fd};
use std::cell::Cell;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};

thread_local! {
    /// What the thread owns while it waits. It is not left to the language to end it with the thread: remembering that
    /// takes memory, and without memory it ends the process.
    static PARKED: Cell<Option<ManuallyDrop<Waiter>>> = const { Cell::new(None) };
    /// Whether the thread remembers to do it.
    static REMEMBERS: Cell<bool> = const { Cell::new(false) };
}

static AT_END: AtThreadEnd = AtThreadEnd::new(end);

unsafe extern "C" fn end(_: *mut c_void) {
    REMEMBERS.set(false);
    drop(PARKED.take().map(ManuallyDrop::into_inner));
}

/// The calling thread's presence in a channel, with the memory for the event that it waits for.
pub struct Waiter {
    blank: Blank,
    presence: Presence,
}

impl Waiter {
    /// Enters the channel. ECANCELED if it is destroyed, ENOMEM without memory.
    #[inline(always)]
    pub fn enter(channel: &Channel) -> Result<Waiter> {
        channel.enter()?;
        let presence = Presence(NonNull::from(channel));
        Ok(Waiter { blank: channel.spare().take()?, presence })
    }

    /// Waits for the kernel's next event. Without one the thread has left the channel. ENOMEM without memory to wait with.
    #[inline(always)]
    pub fn wait(self) -> Result<Waiter> {
        if !REMEMBERS.get() {
            AT_END.remember()?;
            REMEMBERS.set(true);
        }
        let (fd, place) = (self.presence.channel().fd(), self.blank.place());
        // A signal handler may wait on a channel of its own: what was parked before comes back afterwards.
        let outer = PARKED.replace(Some(ManuallyDrop::new(self)));
        let result = receive(fd, place);
        let waiter = PARKED.replace(outer).ok_or(Errno::ECANCELED)?;
        ManuallyDrop::into_inner(waiter).after(result)
    }

    #[inline(always)]
    fn after(self, result: Result<()>) -> Result<Waiter> {
        match result {
            Ok(()) => Ok(self),
            Err(error) => {
                let Waiter { blank, presence } = self;
                presence.channel().spare().put(blank);
                Err(error)
            }
        }
    }

    /// The channel that the event came from, and the parts of the event.
    pub fn parts(&mut self) -> (&Channel, &mut rdma_cm_event, &mut PrivateData, &EventReply) {
        let (public, private_data, reply) = self.blank.parts();
        (self.presence.channel(), public, private_data, reply)
    }

    /// What the kernel wrote is an event of that membership.
    pub fn belong_to(&mut self, membership: Shared<Membership>) {
        self.blank.belong_to(membership);
    }

    /// The event, and the presence: the thread leaves the channel when that is dropped.
    pub fn split(self) -> (Blank, Presence) {
        (self.blank, self.presence)
    }
}

/// The calling thread does not wait on that channel any more, if it did: it was taken out of the wait.
pub fn withdraw(channel: &Channel) {
    let waiter = PARKED.take();
    if waiter.as_ref().is_some_and(|waiter| ptr::eq(waiter.presence.channel(), channel)) {
        drop(waiter.map(ManuallyDrop::into_inner));
    } else {
        PARKED.set(waiter);
    }
}

#[inline(always)]
fn receive(fd: Fd, place: NonNull<EventReply>) -> Result<()> {
    // SAFETY: the place is in the blank of the calling thread's waiter, which is alive, parked or on the stack, and
    // which nobody else knows.
    let reply = unsafe { &mut *place.as_ptr() };
    // All else is written by every kernel that tells of an event.
    reply.ece = Ece { vendor_id: 0, attr_mod: 0 };
    ucma::execute(&fd, GetEvent { response: 0 }, reply)
}

/// One of the threads that the channel counts.
pub struct Presence(NonNull<Channel>);

impl Presence {
    fn channel(&self) -> &Channel {
        // SAFETY: the memory of a channel stays while it counts a thread: see Channel::destroy().
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.channel().leave();
    }
}
