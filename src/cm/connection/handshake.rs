// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What the library does itself when the kernel reports how a connection goes on.

use super::active;
use crate::cm::id::CmId;
use crate::cm::queue::state;
use crate::ctypes::ibv_ece;
use crate::errno::{Errno, Result};
use crate::uapi::Ece;
use crate::verbs::QueuePair;

/// What a peer's answer led to.
pub enum Answered {
    /// The connection stands.
    Established,
    /// The id has no queue pair: the application ends the handshake itself.
    ForApplication,
}

/// The peer accepted: the id's queue pair is moved to where it can send, and the peer is told.
pub fn answered(id: &CmId, ece: Ece) -> Result<Answered> {
    let remote = ibv_ece { vendor_id: ece.vendor_id, options: ece.attr_mod, comp_mask: 0 };
    let _queues = id.queues().lock();
    let Some(queue_pair) = id.queue_pair() else {
        id.connection().lock().remote_ece = remote;
        return Ok(Answered::ForApplication);
    };
    finish(id, queue_pair, remote).map(|()| Answered::Established).inspect_err(|_| {
        let _ = state::fail(queue_pair);
        id.stage().fail();
    })
}

fn finish(id: &CmId, queue_pair: QueuePair, remote: ibv_ece) -> Result<()> {
    let local = id.connection().lock().local_ece;
    // A peer without a maker has not understood; one with another maker cannot have answered this side's.
    if remote.vendor_id != 0 && remote.vendor_id != local.vendor_id {
        return Err(Errno::EINVAL);
    }
    id.connection().lock().remote_ece.vendor_id = remote.vendor_id;
    let options = if remote.vendor_id == 0 { 0 } else { remote.options };
    queue_pair.set_ece(ibv_ece { vendor_id: local.vendor_id, options, comp_mask: 0 })?;
    state::ready_to_receive(id, queue_pair, None)?;
    state::ready_to_send(id, queue_pair, None)?;
    active::confirm(id)?;
    id.connection().lock().local_ece.options = queue_pair.ece()?.options;
    Ok(())
}

/// The peer refused: everything posted completes with an error.
pub fn refused(id: &CmId) {
    let _queues = id.queues().lock();
    if let Some(queue_pair) = id.queue_pair() {
        let _ = state::fail(queue_pair);
    }
}
