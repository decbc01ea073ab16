// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! From the peer to the application's memory.

use super::Link;
use crate::sys::iovec::Pieces;
use std::sync::atomic::Ordering;

impl Link {
    /// Whether data is here.
    #[inline]
    pub fn has_data(&self) -> bool {
        self.received.load(Ordering::Acquire) != self.consumed.load(Ordering::Relaxed)
    }

    /// Whether a call that receives need not wait.
    pub fn is_readable(&self) -> bool {
        self.has_data() || self.ends.is_end_of_data()
    }

    /// Bytes that ever came.
    pub fn arrived(&self) -> u64 {
        self.received.load(Ordering::Acquire)
    }

    /// Hands out what is here, as much as there is room for. It stays here if the application only peeks.
    pub fn receive(&self, pieces: &mut Pieces<'_>, peek: bool) -> usize {
        let receiving = self.receiving.lock();
        let consumed = self.consumed.load(Ordering::Relaxed);
        let available = self.received.load(Ordering::Acquire) - consumed;
        let length = pieces.left().min(usize::try_from(available).unwrap_or(usize::MAX));
        if length == 0 {
            return 0;
        }
        let capacity = self.layout.receive;
        let mut at = (consumed % capacity as u64) as usize;
        let first = length.min(capacity - at);
        pieces.write(first, |room| {
            self.block.copy_out(at, &room);
            at += room.length();
        });
        let mut at = 0;
        pieces.write(length - first, |room| {
            self.block.copy_out(at, &room);
            at += room.length();
        });
        if peek {
            return length;
        }
        self.consumed.store(consumed + length as u64, Ordering::Release);
        drop(receiving);
        if self.owes_room() {
            self.keep_up(&mut self.progress.lock());
        }
        length
    }
}
