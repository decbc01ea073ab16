// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! How far sockets are on their way.

/// How far a socket is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Stage {
    /// Nothing was done with it.
    New,
    /// It has an address.
    Bound,
    /// It waits for connections.
    Listening,
    /// It looks for the way to the peer's address.
    Resolving,
    /// It looks for the path.
    Routing,
    /// It has asked the peer.
    Connecting,
    /// It has answered a peer.
    Accepting,
    /// The connection stood, and may have ended since.
    Connected,
    /// There was no connection to be had.
    Failed,
    /// The application has closed it.
    Closed,
}

impl Stage {
    /// In the order of their numbers.
    const ALL: [Stage; 10] = [
        Stage::New,
        Stage::Bound,
        Stage::Listening,
        Stage::Resolving,
        Stage::Routing,
        Stage::Connecting,
        Stage::Accepting,
        Stage::Connected,
        Stage::Failed,
        Stage::Closed,
    ];

    /// The one of a number.
    pub fn of(number: u8) -> Stage {
        Stage::ALL.get(usize::from(number)).copied().unwrap_or(Stage::Closed)
    }

    /// Whether it is on the way to a connection.
    pub fn is_opening(self) -> bool {
        matches!(self, Stage::Resolving | Stage::Routing | Stage::Connecting | Stage::Accepting)
    }
}
