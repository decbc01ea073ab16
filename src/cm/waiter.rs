// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! A thread inside `rdma_get_cm_event`.
//!
//! The application may cancel the thread while it waits in the kernel. Then no code of this library runs on its way
//! out (`docs/architecture.md`). So all that a waiting thread owns is parked (`sys::park`).

use super::channel::Channel;
use super::event::{Blank, PrivateData};
use super::multicast::Membership;
use crate::ctypes::rdma_cm_event;
use crate::errno::Result;
use crate::sync::Shared;
use crate::sys::park::Parking;
use crate::sys::thread_end::AtThreadEnd;
use crate::uapi::{Ece, EventReply, GetEvent};
use crate::ucma::{self, Fd};
use std::ffi::c_void;
use std::ptr::{self, NonNull};

thread_local! {
    static PARKED: Parking<Waiter> = const { Parking::new() };
}

static AT_END: AtThreadEnd = AtThreadEnd::new(end);

unsafe extern "C" fn end(_: *mut c_void) {
    PARKED.with(Parking::end);
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
        let (fd, place) = (self.presence.channel().fd(), self.blank.place());
        let (waiter, result) = Parking::during(&PARKED, &AT_END, self, || receive(fd, place))?;
        waiter.after(result)
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
    PARKED.with(|parking| {
        let waiter = parking.take().filter(|waiter| !ptr::eq(waiter.presence.channel(), channel));
        // The thread remembers already what this would need memory for.
        let _ = waiter.map(|waiter| parking.park(waiter, &AT_END));
    });
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
