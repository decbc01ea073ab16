// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Queue pairs of an id, and the queues that belong to them.

pub mod attributes;
pub mod groups;
pub mod pair;
pub mod shared;
pub mod state;

pub use crate::verbs::{QueuePairAttributes, SharedQueueAttributes};

use self::groups::Groups;
use super::id::CmId;
use crate::ctypes::IBV_QPT_XRC_RECV;
use crate::errno::Result;
use crate::verbs::{CompletionQueue, Context};
use std::ffi::c_void;

/// Completion queues that the library made for an id, and the groups of its queue pair. What the application made itself
/// is none of the library's business.
#[derive(Default)]
pub struct Queues {
    send: Option<CompletionQueue>,
    receive: Option<CompletionQueue>,
    /// Multicast groups that the queue pair receives from.
    pub groups: Groups,
}

impl Queues {
    /// Makes queues of these sizes; 0 for none.
    fn create(id: &CmId, context: &Context, send: u32, receive: u32) -> Result<Queues> {
        let make = |size: u32| {
            let owner: *mut c_void = id.public().cast();
            (size > 0).then(|| CompletionQueue::create(context, size, owner)).transpose()
        };
        let receive = make(receive)?;
        Ok(Queues { send: make(send)?, receive, groups: Groups::default() })
    }

    /// Keeps what was made, and tells the application.
    fn keep(&mut self, id: &CmId, made: Queues) {
        if made.send.is_some() {
            id.set_send_queue(made.send.as_ref());
            self.send = made.send;
        }
        if made.receive.is_some() {
            id.set_receive_queue(made.receive.as_ref());
            self.receive = made.receive;
        }
    }

    /// Takes out what the library made, to be destroyed. A shared receive queue for extended reliable connections keeps
    /// its own.
    #[inline]
    fn take(&mut self, id: &CmId) -> Queues {
        if self.send.is_none() && self.receive.is_none() {
            return Queues::default();
        }
        self.take_made(id)
    }

    fn take_made(&mut self, id: &CmId) -> Queues {
        if id.queue_pair_type() == IBV_QPT_XRC_RECV && id.shared_queue().is_some() {
            return Queues::default();
        }
        let (send, receive) = id.completion_queues();
        let is = |made: &Option<CompletionQueue>, now| made.as_ref().is_some_and(|made| made.queue() == now);
        // What the application has put into the fields stays there.
        if is(&self.send, send) || is(&self.receive, send) {
            id.set_send_queue(None);
        }
        if is(&self.receive, receive) || is(&self.send, receive) {
            id.set_receive_queue(None);
        }
        std::mem::take(self)
    }
}
