// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Event channels.

use super::bell::Bells;
use super::event::{Handed, Spare};
use super::forks;
use super::line::Line;
use super::{id, unacknowledged, waiter, wake};
use crate::ctypes::rdma_event_channel;
use crate::diag;
use crate::errno::{Errno, Result};
use crate::sync::{Condition, Lock, Shared};
use crate::sys::thread::uncancellable;
use crate::sys::{device, process};
use crate::ucma::{self, Fd};
use std::os::fd::{AsRawFd, IntoRawFd, RawFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, Ordering};
use std::time::Duration;

/// How long `rdma_destroy_event_channel` waits for woken threads to leave. They need microseconds; the limit is for a
/// thread that never will, as one that a signal handler took out of the wait by a long jump.
const LEAVE_LIMIT: Duration = Duration::from_secs(1);

/// Set in [`Channel::state`] when the channel is destroyed.
const CLOSED: u32 = 1 << 31;
/// Handed to the application in place of a descriptor that is closed.
const NO_FD: RawFd = -1;

/// The application sees the first field, as `struct rdma_event_channel`.
#[repr(C)]
pub struct Channel {
    /// Read anew for each command: the application may have put another descriptor of the device here.
    fd: AtomicI32,
    /// Threads in `rdma_get_cm_event`, and [`CLOSED`].
    state: AtomicU32,
    /// Of the process that opened it.
    generation: u32,
    spare: Spare,
    /// Events that a synchronous call met while it waited for its own.
    deferred: Lock<Line>,
    /// Whether there is more to do for an event from the kernel than to hand it over: others were put off, or
    /// diagnostics are on. One question for both, since each instruction counts in a wake-up.
    has_more_to_do: AtomicBool,
    /// Set by [`Channel::destroy`], for the threads that are still inside.
    kept: AtomicPtr<Channel>,
    leaving: Lock<()>,
    left: Condition,
    /// User events that the kernel has no command for.
    bells: Bells,
}

const _: () = assert!(size_of::<rdma_event_channel>() == size_of::<AtomicI32>());

impl Channel {
    /// A channel on a new descriptor of the connection manager. ENOMEM without memory; else as for
    /// [`node::open`](ucma::node::open).
    pub fn open() -> Result<Shared<Channel>> {
        forks::prepare()?;
        let fd = ucma::node::open()?;
        let channel = Shared::try_new(Channel {
            fd: AtomicI32::new(fd.as_raw_fd()),
            state: AtomicU32::new(0),
            generation: process::generation(),
            spare: Spare::default(),
            deferred: Lock::default(),
            has_more_to_do: AtomicBool::new(diag::enabled()),
            kept: AtomicPtr::new(ptr::null_mut()),
            leaving: Lock::new(()),
            left: Condition::new(),
            bells: Bells::default(),
        })?;
        let _ = fd.into_raw_fd();
        Ok(channel)
    }

    /// For the application. Of this pointer a reference can be made again.
    pub fn for_application(channel: &Shared<Channel>) -> *mut rdma_event_channel {
        Shared::as_ptr(channel).cast()
    }

    /// Where commands go. EBADF comes back once the channel is destroyed.
    #[inline]
    pub fn fd(&self) -> Fd {
        Fd(self.fd.load(Ordering::Relaxed))
    }

    /// Whether the calling process is a child of the one that opened the channel. The kernel takes no command from it.
    pub fn is_inherited(&self) -> bool {
        self.generation != process::generation()
    }

    /// Its user events that ride on hidden ids.
    pub fn bells(&self) -> &Bells {
        &self.bells
    }

    /// Memory for the next event.
    pub fn spare(&self) -> &Spare {
        &self.spare
    }

    /// Puts an event off: it comes back from [`Channel::exchange`] or [`Channel::take_deferred`]. For each the caller sees to a
    /// wake-up in the kernel, so that the descriptor stays readable.
    pub fn put_off(&self, event: Handed) {
        let mut deferred = self.deferred.lock();
        deferred.push(event);
        self.has_more_to_do.store(true, Ordering::Release);
    }

    /// Puts that many wake-ups into the kernel, which are there when this returns. An event that was put off and has none
    /// comes with the next one.
    pub fn remind(&self, wake_ups: u32) {
        if wake_ups == 0 {
            return;
        }
        uncancellable(|| {
            for _ in 0..wake_ups {
                let _ = wake::twice(|| wake::one_waiter(self.fd()));
            }
            if wake::is_command_missing() {
                wake::wait_until_rung(self.fd());
            }
        });
    }

    /// The oldest event that was put off and is wanted. Its wake-up stays behind, and finds nothing.
    pub fn take_deferred(&self, is_wanted: impl Fn(&Handed) -> bool) -> Option<Handed> {
        if !self.has_more_to_do.load(Ordering::Acquire) {
            return None;
        }
        let mut deferred = self.deferred.lock();
        let event = deferred.take(is_wanted)?;
        self.has_more_to_do.store(!deferred.is_empty() || diag::enabled(), Ordering::Release);
        Some(event)
    }

    /// An event was taken from the kernel: those that were put off come first. The application gets what this returns.
    #[inline]
    pub fn exchange(&self, event: Handed) -> Handed {
        if self.has_more_to_do.load(Ordering::Acquire) { self.exchange_and_note(event) } else { event }
    }

    #[cold]
    #[inline(never)]
    fn exchange_and_note(&self, event: Handed) -> Handed {
        let mut deferred = self.deferred.lock();
        deferred.push(event);
        let first = deferred.take(|_| true).unwrap_or(event);
        drop(deferred);
        first.hold();
        unacknowledged::note(first)
    }

    /// A thread is about to wait for an event. ECANCELED if the channel is destroyed.
    #[inline]
    pub fn enter(&self) -> Result<()> {
        if self.state.fetch_add(1, Ordering::SeqCst) & CLOSED == 0 {
            Ok(())
        } else {
            self.leave();
            Err(Errno::ECANCELED)
        }
    }

    /// A thread waits no more. Of a destroyed channel only the last one to leave may touch anything afterwards.
    #[inline]
    pub fn leave(&self) {
        if self.state.fetch_sub(1, Ordering::SeqCst) == CLOSED + 1 {
            self.last_left();
        }
    }

    #[cold]
    fn last_left(&self) {
        drop(self.leaving.lock());
        self.left.wake_all();
        self.release();
    }

    /// Whether the channel is destroyed: what a thread waited for does not matter any more.
    pub fn is_closed(&self) -> bool {
        self.state.load(Ordering::SeqCst) & CLOSED != 0
    }

    /// Closes the channel and ends every thread that waits on it. A thread that cannot leave keeps the channel's memory.
    pub fn destroy(channel: &Shared<Channel>) {
        // A thread that is cancelled, or interrupted by a signal, may be the one that destroys what it waited on.
        waiter::withdraw(channel);
        channel.kept.store(Shared::into_raw(Shared::clone(channel)), Ordering::SeqCst);
        let waiting = channel.state.fetch_or(CLOSED, Ordering::SeqCst) & !CLOSED;
        // Where no wake-up can be sent, as in the child of a fork, whose parent has the waiting threads, closing the
        // descriptor is all that is left.
        if waiting > 0 && (0..waiting).all(|_| wake::one_waiter(channel.fd()).is_ok()) {
            let inside = |_: &mut ()| channel.state.load(Ordering::SeqCst) != CLOSED;
            drop(channel.left.wait_while_for(channel.leaving.lock(), LEAVE_LIMIT, inside));
        }
        // Mostly there is none: an id takes its own along. A kernel that mixes up channels may have left others here.
        while let Some(event) = channel.take_deferred(|_| true) {
            id::lose(event);
        }
        let fd = channel.fd.swap(NO_FD, Ordering::SeqCst);
        if fd != NO_FD {
            device::close(fd);
        }
        if waiting == 0 {
            channel.release();
        }
    }

    /// Gives up the reference that threads inside a destroyed channel live on: the last of them, or nobody, is left.
    fn release(&self) {
        let kept = self.kept.swap(ptr::null_mut(), Ordering::SeqCst);
        if let Some(kept) = NonNull::new(kept) {
            // SAFETY: destroy() made the pointer from a reference, and it was just taken out.
            drop(unsafe { Shared::from_raw(kept) });
        }
    }
}
