// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Event channels.

use super::event::{Handed, Spare};
use super::wake;
use crate::ctypes::rdma_event_channel;
use crate::errno::{Errno, Result};
use crate::sync::{Condition, Lock};
use crate::sys::device;
use crate::ucma::{self, Fd};
use std::collections::VecDeque;
use std::os::fd::{IntoRawFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::time::Duration;

/// How long `rdma_destroy_event_channel` waits for woken threads to leave. They need microseconds; the limit is for a
/// thread that cannot leave because it is the one that destroys, in a signal handler.
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
    spare: Spare,
    /// Events that a synchronous call met while it waited for its own.
    deferred: Lock<VecDeque<Handed>>,
    has_deferred: AtomicBool,
    leaving: Lock<()>,
    left: Condition,
}

const _: () = assert!(size_of::<rdma_event_channel>() == size_of::<AtomicI32>());

impl Channel {
    /// A channel on a new descriptor of the connection manager.
    pub fn open() -> Result<Arc<Channel>> {
        let fd = ucma::node::open()?.into_raw_fd();
        Ok(Arc::new(Channel {
            fd: AtomicI32::new(fd),
            state: AtomicU32::new(0),
            spare: Spare::default(),
            deferred: Lock::default(),
            has_deferred: AtomicBool::new(false),
            leaving: Lock::new(()),
            left: Condition::new(),
        }))
    }

    /// For the application. Of this pointer an [`Arc`] can be made again.
    pub fn for_application(channel: &Arc<Channel>) -> *mut rdma_event_channel {
        Arc::as_ptr(channel).cast_mut().cast()
    }

    /// Where commands go. EBADF comes back once the channel is destroyed.
    #[inline]
    pub fn fd(&self) -> Fd {
        Fd(self.fd.load(Ordering::Relaxed))
    }

    /// Memory for the next event.
    pub fn spare(&self) -> &Spare {
        &self.spare
    }

    /// Puts an event off until [`Channel::deferred`].
    pub fn defer(&self, event: Handed) {
        let mut deferred = self.deferred.lock();
        deferred.push_back(event);
        self.has_deferred.store(true, Ordering::Release);
    }

    /// The oldest event that was put off.
    #[inline]
    pub fn deferred(&self) -> Option<Handed> {
        if self.has_deferred.load(Ordering::Acquire) { self.pop_deferred() } else { None }
    }

    #[cold]
    fn pop_deferred(&self) -> Option<Handed> {
        let mut deferred = self.deferred.lock();
        let event = deferred.pop_front();
        self.has_deferred.store(!deferred.is_empty(), Ordering::Release);
        event
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

    /// A thread waits no more. The last one to leave a destroyed channel closes its descriptor.
    #[inline]
    pub fn leave(&self) {
        if self.state.fetch_sub(1, Ordering::SeqCst) == CLOSED + 1 {
            self.last_left();
        }
    }

    #[cold]
    fn last_left(&self) {
        self.close();
        drop(self.leaving.lock());
        self.left.wake_all();
    }

    /// Whether the channel is destroyed: what a thread waited for does not matter any more.
    pub fn is_closed(&self) -> bool {
        self.state.load(Ordering::SeqCst) & CLOSED != 0
    }

    /// Closes the channel and ends every thread that waits on it. When this returns the descriptor is closed, unless
    /// a waiting thread cannot leave: then the last to leave closes it, and the channel's memory is never freed.
    pub fn destroy(channel: &Arc<Channel>) {
        if !channel.end_waiting() {
            std::mem::forget(Arc::clone(channel));
        }
    }

    /// False if threads are left in the channel.
    fn end_waiting(&self) -> bool {
        let waiting = self.state.fetch_or(CLOSED, Ordering::SeqCst) & !CLOSED;
        // Where no wake-up can be sent, as in the child of a fork, whose parent has the waiting threads, closing the
        // descriptor is all that is left.
        if waiting == 0 || (0..waiting).any(|_| wake::one_waiter(self.fd()).is_err()) {
            self.close();
            return waiting == 0;
        }
        let inside = || self.state.load(Ordering::SeqCst) != CLOSED;
        drop(self.left.wait_while_for(self.leaving.lock(), LEAVE_LIMIT, |()| inside()));
        !inside()
    }

    fn close(&self) {
        let fd = self.fd.swap(NO_FD, Ordering::SeqCst);
        if fd != NO_FD {
            device::close(fd);
        }
    }
}
