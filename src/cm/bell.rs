// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! User events for kernels that have no command for them, or do not want it for an id.
//!
//! Each user event rides on an event of the kernel's own: a bell is a hidden id on the same channel that is made to
//! ring. So everything that an application can do with a channel keeps working, for its descriptor is readable exactly
//! while there is something to take. A user event is pending exactly as long as its bell hangs: from
//! [`write()`] until [`Bell::answer`], or until its id is destroyed. It follows its id to another channel.
//!
//! Locks: `hanging` is held across commands to the kernel, so that an id does not move or end while a bell of it is
//! being hung; `pending` for a few instructions, inside or outside of the former. Nothing here may be cancelled.

use super::channel::Channel;
use super::event::{About, NO_PARAM};
use super::id::CmId;
use super::uid::{SUBJECTS, Subject};
use super::wake;
use crate::ctypes::{RDMA_CM_EVENT_USER, rdma_cm_event};
use crate::errno::{Errno, Result};
use crate::sync::{Condition, Key, Lock};
use crate::sys::thread::uncancellable;
use crate::uapi::MigrateId;
use crate::ucma::{self, Fd};
use std::collections::VecDeque;
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zerocopy::FromZeros;

/// A user event on its way.
pub struct Bell {
    id: Arc<CmId>,
    key: Key,
    /// The kernel's number of the hidden id.
    handle: u32,
    status: c_int,
    arg: u64,
    answered: AtomicBool,
}

/// The bells of an id.
#[derive(Default)]
pub struct Bells {
    hanging: Lock<()>,
    pending: Lock<Pending>,
    answered: Condition,
}

#[derive(Default)]
struct Pending {
    /// Oldest first.
    bells: VecDeque<Arc<Bell>>,
    /// Whether somebody waits for one to be answered.
    awaited: bool,
}

impl Pending {
    /// Takes the bell out; false if it was not there. Bells ring in order, so it is mostly the first.
    fn remove(&mut self, bell: &Arc<Bell>) -> bool {
        let position = self.bells.iter().position(|pending| Arc::ptr_eq(pending, bell));
        position.and_then(|position| self.bells.remove(position)).is_some()
    }
}

/// Queues a user event of the id. When this returns the event is in the channel, as on a kernel with the command: a
/// non-blocking read right afterwards sees it. ENODEV without an active port; what the kernel says otherwise.
#[cold]
#[inline(never)]
pub fn write(id: &CmId, status: c_int, arg: u64) -> Result<()> {
    uncancellable(|| {
        let id = id.shared()?;
        let guard = id.bells().hanging.lock();
        let channel = id.own_channel();
        // The kernel also refuses an id that is just moving to another channel. Now it stays where it is.
        match wake::write(channel.fd(), id.handle(), status, arg) {
            Err(Errno::EINVAL) => {}
            other => return other,
        }
        let bell = hang(&id, channel.fd(), status, arg)?;
        id.bells().pending.lock().bells.push_back(Arc::clone(&bell));
        if let Err(error) = wake::resolve(channel.fd(), bell.handle) {
            id.bells().pending.lock().remove(&bell);
            let _ = bell.end(channel.fd());
            return Err(error);
        }
        drop(guard);
        if !bell.answered.load(Ordering::Acquire) {
            wake::wait_until_rung(channel.fd());
        }
        Ok(())
    })
}

fn hang(id: &Arc<CmId>, fd: Fd, status: c_int, arg: u64) -> Result<Arc<Bell>> {
    let subject = SUBJECTS.insert_with(|key| {
        let handle = wake::hide(fd, key.raw())?;
        let answered = AtomicBool::new(false);
        Ok(Subject::Bell(Arc::new(Bell { id: Arc::clone(id), key, handle, status, arg, answered })))
    })?;
    match subject {
        Subject::Bell(bell) => Ok(bell),
        Subject::Id(_) => Err(Errno::EIO),
    }
}

impl Bell {
    /// The bell rang and `channel` is where it was heard: its user event is the caller's, in `public`. None if the event
    /// was withdrawn meanwhile.
    #[cold]
    pub fn answer(self: &Arc<Self>, channel: &Channel, public: &mut rdma_cm_event) -> Option<About> {
        if !self.claim(channel) {
            return None;
        }
        public.event = RDMA_CM_EVENT_USER;
        public.status = self.status;
        public.param = NO_PARAM;
        public.param.arg = self.arg;
        Some(About { id: Arc::clone(&self.id), listener: None })
    }

    /// The bell rang, and nobody gets its user event.
    pub fn silence(self: &Arc<Self>, channel: &Channel) {
        if self.claim(channel) {
            self.id.ledger().discard();
        }
    }

    /// Takes the event into the account of its id. False if it was withdrawn.
    fn claim(self: &Arc<Self>, channel: &Channel) -> bool {
        let bells = self.id.bells();
        let mut pending = bells.pending.lock();
        if !pending.remove(self) {
            return false;
        }
        // Under the lock: whoever finds the bell gone must find the event in the account.
        self.id.ledger().expect();
        if pending.awaited {
            bells.answered.wake_all();
        }
        drop(pending);
        self.answered.store(true, Ordering::Release);
        uncancellable(|| self.end_anywhere(channel.fd()));
        true
    }

    /// Gives up the number and the hidden id.
    fn end(&self, fd: Fd) -> Result<()> {
        SUBJECTS.remove(self.key);
        wake::end(fd, self.handle).map(|_| ())
    }

    /// As [`Bell::end`], for a bell whose id may be moving to another channel, and the bell with it.
    fn end_anywhere(&self, fd: Fd) {
        if self.end(fd) == Err(Errno::EINVAL) {
            let _hanging = self.id.bells().hanging.lock();
            let _ = self.end(self.id.fd());
        }
    }
}

/// Withdraws all user events of an id that nobody has taken.
pub fn withdraw_all(id: &CmId) {
    uncancellable(|| {
        let _hanging = id.bells().hanging.lock();
        let pending = std::mem::take(&mut id.bells().pending.lock().bells);
        for bell in pending {
            let _ = bell.end(id.fd());
        }
    });
}

/// Runs `migrate`, which moves the id from the descriptor `from` to `to`, then moves its pending user events, in order.
/// An event that a thread is just taking from the old channel counts as taken when this returns.
pub fn move_along<R>(id: &CmId, from: Fd, to: Fd, migrate: impl FnOnce() -> Result<R>) -> Result<R> {
    uncancellable(|| {
        let bells = id.bells();
        let hanging = bells.hanging.lock();
        let result = migrate()?;
        let pending: Vec<_> = bells.pending.lock().bells.iter().cloned().collect();
        let rang = |bell: &Arc<Bell>| {
            let command = MigrateId { id: bell.handle, fd: from.0 as u32, ..FromZeros::new_zeroed() };
            ucma::request(&to, command).is_ok_and(|reply| reply.events_reported > 0)
        };
        let heard: Vec<_> = pending.into_iter().filter(rang).collect();
        drop(hanging);
        if !heard.is_empty() {
            let mut pending = bells.pending.lock();
            pending.awaited = true;
            let any_left = |pending: &mut Pending| {
                heard.iter().any(|heard| pending.bells.iter().any(|bell| Arc::ptr_eq(bell, heard)))
            };
            bells.answered.wait_while(pending, any_left).awaited = false;
        }
        Ok(result)
    })
}
