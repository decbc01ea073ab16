// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Which directions of a connection are open.

use std::sync::atomic::{AtomicU32, Ordering};

/// This side wants no more data.
pub const READ_SHUT: u32 = 1 << 0;
/// This side sends no more data.
pub const WRITE_SHUT: u32 = 1 << 1;
/// The peer said that it sends no more.
pub const PEER_SHUT: u32 = 1 << 2;
/// There is no peer any more.
pub const PEER_GONE: u32 = 1 << 3;
/// Nothing works any more.
pub const BROKEN: u32 = 1 << 4;

/// Bits that are set one after the other, and never cleared.
#[derive(Default)]
pub struct Ends(AtomicU32);

impl Ends {
    /// Sets bits; returns those that were set before.
    pub fn set(&self, bits: u32) -> u32 {
        self.0.fetch_or(bits, Ordering::SeqCst)
    }

    /// All that are set.
    pub fn bits(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }

    /// Whether nothing has ended.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.0.load(Ordering::SeqCst) == 0
    }

    /// Whether any of the bits is set.
    pub fn any(&self, bits: u32) -> bool {
        self.0.load(Ordering::SeqCst) & bits != 0
    }

    /// Whether all of the bits are set.
    pub fn all(&self, bits: u32) -> bool {
        self.0.load(Ordering::SeqCst) & bits == bits
    }

    /// No data comes any more, but what is here already.
    pub fn is_end_of_data(&self) -> bool {
        self.any(READ_SHUT | PEER_SHUT | PEER_GONE | BROKEN)
    }

    /// No data can be sent any more.
    pub fn is_end_of_sending(&self) -> bool {
        self.any(WRITE_SHUT | PEER_GONE | BROKEN)
    }

    /// Nothing can be told to the peer any more.
    pub fn is_over(&self) -> bool {
        self.any(PEER_GONE | BROKEN)
    }
}
