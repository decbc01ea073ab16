// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Connections: asking for one, answering, and ending it.

pub mod active;
pub mod ece;
pub mod end;
pub mod handshake;
mod parameters;
pub mod passive;

pub use parameters::Offer;

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
    stage: Stage,
}

/// How far a connection is, as events have told.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Open,
    Established,
    /// Nothing follows but the end of its time-wait state.
    Over,
    /// It failed on this side: what the kernel reports of its end afterwards is old news.
    Failed,
}

impl Connection {
    /// Whether it is known to stand.
    pub fn stands(&self) -> bool {
        self.stage == Stage::Established
    }

    /// Whether its end has been told.
    pub fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over | Stage::Failed)
    }

    /// Of an id that a peer's request has made.
    pub fn requested(parameters: &ConnParam, remote_ece: ibv_ece) -> Connection {
        let limits = Limits {
            responder_resources: parameters.responder_resources,
            initiator_depth: parameters.initiator_depth,
        };
        Connection { limits, remote_ece, ..Connection::default() }
    }

    /// Data at the head of the private data of the next request.
    pub fn open_with(&mut self, data: &[u8]) {
        self.opening = data.to_owned();
    }
}
