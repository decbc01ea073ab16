// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Enhanced connection establishment for queue pairs that the application makes itself.

use crate::cm::id::CmId;
use crate::ctypes::ibv_ece;
use crate::errno::{Errno, Result};

/// What to tell the peer. EINVAL without a maker, for unknown bits, and for an id that has a queue pair.
pub fn set_local(id: &CmId, ece: ibv_ece) -> Result<()> {
    if id.has_queue_pair() || ece.vendor_id == 0 || ece.comp_mask != 0 {
        return Err(Errno::EINVAL);
    }
    id.connection().lock().local_ece = ece;
    Ok(())
}

/// What the peer has told. EINVAL for an id that has a queue pair.
pub fn remote(id: &CmId) -> Result<ibv_ece> {
    if id.has_queue_pair() {
        return Err(Errno::EINVAL);
    }
    Ok(id.connection().lock().remote_ece)
}
