// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Connections: asking for one, answering, and ending it.

pub mod active;
pub mod ece;
pub mod end;
pub mod handshake;
mod parameters;
pub mod passive;
mod stage;

pub use parameters::Offer;
pub use stage::Stage;

use super::device::Limits;
use crate::ctypes::ibv_ece;
use crate::uapi::ConnParam;

/// What an id knows of its connection.
#[derive(Default)]
pub struct Connection {
    /// RDMA reads and atomics that either side may have outstanding at the other, as agreed so far.
    limits: Limits,
    /// What this device wants to tell the peer's.
    pub local_ece: ibv_ece,
    /// What the peer's device has told.
    pub remote_ece: ibv_ece,
    /// Data at the head of the private data of the next request.
    opening: Vec<u8>,
}

impl Connection {
    /// Of an id that a peer's request has made.
    pub fn requested(parameters: &ConnParam, remote_ece: ibv_ece) -> Connection {
        let limits = Limits {
            responder_resources: parameters.responder_resources,
            initiator_depth: parameters.initiator_depth,
        };
        Connection { limits, remote_ece, ..Connection::default() }
    }

    /// Data at the head of the private data of the next request.
    pub fn open_with(&mut self, data: Vec<u8>) {
        self.opening = data;
    }
}
