// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What the thread keeps of an event of the connection manager, which it acknowledges at once.

use crate::cm::event::Handed;
use crate::ctypes::{rdma_cm_event_type, rdma_conn_param};
use std::ffi::c_int;

/// Most private data of a peer.
const DATA: usize = 256;

/// What the kernel told of an id.
pub struct News {
    /// What happened.
    pub kind: rdma_cm_event_type,
    /// How: 0, a negative errno, or the reason of a refusal.
    pub status: c_int,
    /// Parameters of a connection.
    pub numbers: rdma_conn_param,
    data: [u8; DATA],
    length: usize,
}

impl News {
    /// What the event says.
    pub fn of(event: Handed) -> News {
        let (kind, status) = event.kind_and_status();
        let mut data = [0; DATA];
        let (numbers, length) = event.connection(&mut data);
        News { kind, status, numbers, data, length }
    }

    /// Private data of the peer.
    pub fn data(&self) -> &[u8] {
        self.data.get(..self.length).unwrap_or_default()
    }
}
