// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Making and destroying the queue pair of an id.

use super::{Queues, state};
use crate::cm::device::Device;
use crate::cm::id::CmId;
use crate::ctypes::{IBV_QPT_XRC_RECV, IBV_QPT_XRC_SEND, ibv_cq, ibv_ece, ibv_qp_cap};
use crate::diag;
use crate::errno::{Errno, Result};
use crate::sys::thread::uncancellable;
use crate::verbs::{CompletionQueue, Context, QueuePair, QueuePairAttributes, SharedQueue};
use std::{mem, ptr};

/// Makes the queue pair of an id and brings it into the first state of its life. Completion queues that the attributes
/// lack are made too. EINVAL for an id without device, for one that has a queue pair, and for attributes that
/// contradict the id; else what libibverbs says.
pub fn create(id: &CmId, attributes: &mut QueuePairAttributes<'_>) -> Result<()> {
    uncancellable(|| {
        let device = id.device().ok_or(Errno::EINVAL)?;
        let context = device.verbs();
        let mut queues = id.queues().lock();
        if id.has_queue_pair() {
            return Err(Errno::EINVAL);
        }
        fill_in_domains(id, device, attributes)?;
        let wanted = attributes.sizes();
        let made = fill_in_queues(id, context, attributes);
        let made = made.and_then(|made| Ok((made, QueuePair::create(context, attributes)?)));
        let (made, queue_pair) = made.inspect_err(|error| explain(context, wanted, *error))?;
        let is_reply = start_ece(id, *queue_pair)?;
        if id.is_datagram() {
            state::ready_for_datagrams(id, *queue_pair)?;
        } else {
            state::init(id, *queue_pair)?;
        }
        if is_reply {
            id.connection().lock().local_ece.options = queue_pair.ece()?.options;
        }
        id.set_pd(queue_pair.pd());
        id.set_queue_pair(queue_pair.release());
        queues.keep(id, made);
        Ok(())
    })
}

/// Holds what was wanted against what the device has.
fn explain(context: &Context, wanted: ibv_qp_cap, error: Errno) {
    if let Some(Ok(most)) = diag::enabled().then(|| context.attributes()) {
        diag::line(format_args!(
            "no queue pair of {wanted:?}: {error:?}. The device has at most {} requests in a queue, {} pieces in a \
             request, {} entries in a completion queue, and {} queue pairs",
            most.max_qp_wr, most.max_sge, most.max_cqe, most.max_qp
        ));
    }
}

/// Destroys the queue pair of an id, with the completion queues that the library made for it.
pub fn destroy(id: &CmId) {
    let mut queues = id.queues().lock();
    let queue_pair = id.take_queue_pair();
    let groups = mem::take(&mut queues.groups);
    let unused = queues.take(id);
    // Destroying waits until the application has acknowledged asynchronous events, perhaps in a thread that is about to
    // end the connection first. Meanwhile the calling thread may be cancelled.
    drop(queues);
    if let Some(queue_pair) = queue_pair {
        groups.detach_all(*queue_pair);
    }
    drop(unused);
}

fn fill_in_domains(id: &CmId, device: &Device, attributes: &mut QueuePairAttributes<'_>) -> Result<()> {
    match attributes.pd(device.verbs()) {
        Some((_, true)) => {}
        Some((_, false)) => return Err(Errno::EINVAL),
        None if id.pd().is_null() => return Err(Errno::EINVAL),
        None => attributes.set_pd(id.pd()),
    }
    if id.queue_pair_type() == IBV_QPT_XRC_RECV && attributes.xrcd().is_none() {
        attributes.set_xrcd(device.xrcd()?);
    }
    Ok(())
}

/// A side for which nothing was given and nothing needs to be made shares the queue of the other side: the driver
/// wants both.
fn fill_in_queues(id: &CmId, context: &Context, attributes: &mut QueuePairAttributes<'_>) -> Result<Queues> {
    let (given_send, given_receive, given_shared) = attributes.queues();
    let (own_send, own_receive) = id.completion_queues();
    let contradicts =
        |given: *mut ibv_cq, own: *mut ibv_cq| !given.is_null() && !own.is_null() && given != own;
    if contradicts(given_send, own_send) || contradicts(given_receive, own_receive) {
        return Err(Errno::EINVAL);
    }
    let or = |given: *mut ibv_cq, other: *mut ibv_cq| if given.is_null() { other } else { given };
    let (mut send, mut receive) = (or(given_send, own_send), or(given_receive, own_receive));
    let shared = id.shared_queue();
    let sizes = attributes.sizes();
    let receives = match shared {
        Some(shared) if sizes.max_recv_wr == 0 && receive.is_null() && given_shared.is_null() => {
            shared.size()
        }
        _ => sizes.max_recv_wr,
    };
    let made = Queues::create(
        id,
        context,
        if send.is_null() { sizes.max_send_wr } else { 0 },
        if receive.is_null() { receives } else { 0 },
    )?;
    let made_or = |made: &Option<CompletionQueue>, other| made.as_ref().map_or(other, CompletionQueue::queue);
    (send, receive) = (made_or(&made.send, send), made_or(&made.receive, receive));
    if ![IBV_QPT_XRC_RECV, IBV_QPT_XRC_SEND].contains(&id.queue_pair_type()) {
        (send, receive) = (or(send, receive), or(receive, send));
        if send.is_null() {
            return Err(Errno::EINVAL);
        }
    }
    let own_shared = shared.map_or(ptr::null_mut(), SharedQueue::as_ptr);
    attributes.set_queues(send, receive, if given_shared.is_null() { own_shared } else { given_shared });
    Ok(made)
}

/// Notes what the device wants to tell the peer, and tells it what a peer that asks for a connection has said. True if
/// there was such a peer.
fn start_ece(id: &CmId, queue_pair: QueuePair) -> Result<bool> {
    let local = queue_pair.ece()?;
    let mut connection = id.connection().lock();
    connection.local_ece = local;
    let remote = connection.remote_ece;
    drop(connection);
    if remote.vendor_id == 0 {
        return Ok(false);
    }
    // The bits of another maker mean nothing here.
    let options = if remote.vendor_id == local.vendor_id { remote.options } else { 0 };
    queue_pair.set_ece(ibv_ece { vendor_id: local.vendor_id, options, comp_mask: 0 })?;
    Ok(true)
}
