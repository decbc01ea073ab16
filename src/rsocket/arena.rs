// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Memory for the buffers of sockets. What a socket gives back serves the next one: new pages cost a fault each.

use crate::errno::Result;
use crate::sync::{Guard, Lock};
use crate::sys::pages::{self, Pages};
use std::mem::ManuallyDrop;
use std::ops::Deref;

/// Most bytes that wait for a next socket.
const KEPT: usize = 16 << 20;

/// What waits for a next socket.
pub struct Kept {
    blocks: Vec<Pages>,
    bytes: usize,
}

static KEEP: Lock<Kept> = Lock::new(Kept { blocks: Vec::new(), bytes: 0 });

/// For a process that forks.
pub fn hold() -> Guard<'static, Kept> {
    KEEP.lock()
}

/// Memory of one socket; it serves the next one when this is dropped: nobody may use it any more then, no device either.
pub struct Block(ManuallyDrop<Pages>);

impl Deref for Block {
    type Target = Pages;

    fn deref(&self) -> &Pages {
        &self.0
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: taken once, as the block goes.
        give_back(unsafe { ManuallyDrop::take(&mut self.0) });
    }
}

/// At least that many bytes. They may hold what another connection left there: whoever lets the application read from
/// them, or a peer, clears them first.
pub fn take(length: usize) -> Result<Block> {
    let wanted = length.next_multiple_of(pages::page());
    let mut keep = KEEP.lock();
    if let Some(position) = keep.blocks.iter().rposition(|block| block.length() == wanted) {
        let block = keep.blocks.swap_remove(position);
        keep.bytes -= block.length();
        return Ok(Block(ManuallyDrop::new(block)));
    }
    drop(keep);
    Pages::map(length).map(|pages| Block(ManuallyDrop::new(pages)))
}

fn give_back(block: Pages) {
    let mut keep = KEEP.lock();
    if keep.bytes + block.length() <= KEPT && keep.blocks.try_reserve(1).is_ok() {
        keep.bytes += block.length();
        keep.blocks.push(block);
        return;
    }
    drop(keep);
    drop(block);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_comes_back_and_hoarding_has_an_end() {
        let block = take(123_456).unwrap();
        let address = block.as_ptr();
        drop(block);
        assert_eq!(take(123_456).unwrap().as_ptr(), address);
        drop(take(KEPT + 1).unwrap());
        assert!(KEEP.lock().bytes <= KEPT);
    }
}
