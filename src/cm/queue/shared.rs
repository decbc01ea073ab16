// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Making and destroying the shared receive queue of an id.

use super::Queues;
use crate::cm::id::CmId;
use crate::errno::{Errno, Result};
use crate::sys::thread::uncancellable;
use crate::verbs::{CompletionQueue, SharedQueue, SharedQueueAttributes};

/// Makes the shared receive queue of an id; one for extended reliable connections with a completion queue, if the
/// attributes have none. EINVAL for an id without device, for one that has such a queue, and without a kind; else what
/// libibverbs says.
pub fn create(id: &CmId, attributes: &mut SharedQueueAttributes<'_>) -> Result<()> {
    uncancellable(|| {
        let device = id.device().ok_or(Errno::EINVAL)?;
        let context = device.verbs();
        let mut queues = id.queues().lock();
        if id.shared_queue().is_some() || !attributes.has_kind() {
            return Err(Errno::EINVAL);
        }
        let pd = attributes.pd().unwrap_or(id.pd());
        if pd.is_null() {
            return Err(Errno::EINVAL);
        }
        attributes.set_pd(pd);
        let mut made = Queues::default();
        if attributes.is_xrc() {
            let xrcd = attributes.xrcd().map_or_else(|| device.xrcd(), Ok)?;
            if attributes.cq().is_none() {
                made = Queues::create(id, context, 0, attributes.size())?;
            }
            let own = made.receive.as_ref().map(CompletionQueue::queue);
            attributes.set_xrc(xrcd, attributes.cq().or(own).ok_or(Errno::EINVAL)?);
        }
        let queue = SharedQueue::create(context, attributes)?;
        if id.pd().is_null() {
            id.set_pd(pd);
        }
        id.set_shared_queue(queue.release());
        queues.keep(id, made);
        Ok(())
    })
}

/// Destroys the shared receive queue of an id, with the completion queue that the library made for it.
pub fn destroy(id: &CmId) {
    let mut queues = id.queues().lock();
    let shared_queue = id.take_shared_queue();
    // Queues of a queue pair that is still there are in use: they go with it.
    let unused = (!id.has_queue_pair()).then(|| queues.take(id));
    // As for a queue pair.
    drop(queues);
    drop(shared_queue);
    drop(unused);
}
