// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! A thread inside `rdma_get_cm_event`.
//!
//! The application may cancel the thread while it waits in the kernel. Then no code of this library runs on its way
//! out: destructors of the stack do not (`docs/architecture.md`), those of thread-local storage do. So all that a
//! waiting thread owns is parked in thread-local storage while it waits.

use super::channel::Channel;
use super::event::Blank;
use crate::errno::{Errno, Result};
use crate::uapi::{EventReply, GetEvent};
use crate::ucma;
use std::cell::Cell;
use std::sync::Arc;

thread_local! {
    static PARKED: Cell<Option<Waiter>> = const { Cell::new(None) };
}

/// The calling thread's presence in a channel, and the memory for the event that it waits for.
pub struct Waiter {
    channel: Arc<Channel>,
    blank: Option<Blank>,
}

impl Waiter {
    /// Enters the channel. ECANCELED if it is destroyed, ENOMEM without memory.
    pub fn enter(channel: Arc<Channel>) -> Result<Waiter> {
        channel.enter()?;
        let mut waiter = Waiter { channel, blank: None };
        waiter.blank = Some(waiter.channel.spare().take()?);
        Ok(waiter)
    }

    /// Waits for the kernel's next event, which it puts into `reply`.
    pub fn wait(self, reply: &mut EventReply) -> Result<Waiter> {
        let fd = self.channel.fd();
        let mut slot = Some(self);
        // A signal handler may wait on a channel of its own: what was parked before comes back afterwards.
        exchange(&mut slot);
        let result = ucma::execute(&fd, GetEvent { response: 0 }, reply);
        exchange(&mut slot);
        result?;
        slot.ok_or(Errno::ECANCELED)
    }

    /// The channel that the event came from.
    pub fn channel(&self) -> &Arc<Channel> {
        &self.channel
    }

    /// Leaves the channel, with the memory for the event.
    pub fn leave(mut self) -> Result<Blank> {
        self.blank.take().map_or_else(Blank::allocate, Ok)
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        if let Some(blank) = self.blank.take() {
            self.channel.spare().put(blank);
        }
        self.channel.leave();
    }
}

/// A thread that is already past the end of its thread-local storage keeps what it owns on the stack.
fn exchange(slot: &mut Option<Waiter>) {
    let _ = PARKED.try_with(|parked| *slot = parked.replace(slot.take()));
}
