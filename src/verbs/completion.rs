// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Completion queues.

use super::context::Context;
use super::ffi;
use crate::ctypes::{ibv_comp_channel, ibv_cq};
use crate::errno::{Errno, Result};
use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

/// A completion channel.
struct Channel(NonNull<ibv_comp_channel>);

impl Drop for Channel {
    fn drop(&mut self) {
        // SAFETY: the channel is open and closed once. It stays if a queue of the application's is on it too.
        unsafe { ffi::ibv_destroy_comp_channel(self.0.as_ptr()) };
    }
}

/// A completion queue with a completion channel of its own. Destroyed when dropped.
pub struct CompletionQueue {
    queue: NonNull<ibv_cq>,
    channel: Channel,
}

// SAFETY: libibverbs' functions on completion queues and channels may be called from any thread at once.
unsafe impl Send for CompletionQueue {}
// SAFETY: as above.
unsafe impl Sync for CompletionQueue {}

impl CompletionQueue {
    /// A new one with room for `size` completions, at least.
    #[allow(
        clippy::not_unsafe_ptr_arg_deref,
        reason = "the context is the application's; nobody looks behind it"
    )]
    pub fn create(context: &Context, size: u32, cq_context: *mut c_void) -> Result<CompletionQueue> {
        let size = c_int::try_from(size).map_err(|_| Errno::EINVAL)?;
        // SAFETY: the context is open; NULL is checked for.
        let channel = NonNull::new(unsafe { ffi::ibv_create_comp_channel(context.as_ptr()) })
            .map(Channel)
            .ok_or_else(Errno::last)?;
        // SAFETY: the context and the channel are open; NULL is checked for.
        let queue = NonNull::new(unsafe {
            ffi::ibv_create_cq(context.as_ptr(), size, cq_context, channel.0.as_ptr(), 0)
        })
        .ok_or_else(Errno::last)?;
        Ok(CompletionQueue { queue, channel })
    }

    /// For the application.
    pub fn queue(&self) -> *mut ibv_cq {
        self.queue.as_ptr()
    }

    /// For the application.
    pub fn channel(&self) -> *mut ibv_comp_channel {
        self.channel.0.as_ptr()
    }
}

impl Drop for CompletionQueue {
    fn drop(&mut self) {
        // SAFETY: the queue is alive and destroyed once. It stays if a queue pair of the application's uses it.
        unsafe { ffi::ibv_destroy_cq(self.queue.as_ptr()) };
    }
}
