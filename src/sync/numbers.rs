// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Entries by small numbers that somebody else gives out, such as descriptors. Looking up takes no lock.

use super::table::{Chunk, Slot, new_chunk};
use super::{Guard, Lock};
use crate::errno::{Errno, Result};
use std::sync::OnceLock;

/// Slots of the first chunk; each further chunk is twice as large.
const FIRST: usize = 64;
const CHUNKS: usize = 26;

/// Entries by number.
pub struct Numbers<E> {
    chunks: [OnceLock<Chunk<E>>; CHUNKS],
    /// Held while an entry comes or goes.
    changing: Lock<()>,
}

impl<E: Clone> Numbers<E> {
    /// Without entries; no memory is taken before the first.
    pub const fn new() -> Numbers<E> {
        Numbers { chunks: [const { OnceLock::new() }; CHUNKS], changing: Lock::new(()) }
    }

    /// Stores an entry, in place of the one that has the number, if there is one. ENOMEM without memory.
    pub fn insert(&self, number: u32, entry: E) -> Result<Option<E>> {
        let (chunk, offset) = place(number);
        let cell = self.chunks.get(chunk).ok_or(Errno::ENOMEM)?;
        let _changing = self.changing.lock();
        if cell.get().is_none() {
            let _ = cell.set(new_chunk(FIRST << chunk)?);
        }
        let slot = cell.get().and_then(|slots| slots.get(offset)).ok_or(Errno::ENOMEM)?;
        let generation = slot.generation();
        let before = if generation % 2 == 1 { slot.take(generation) } else { None };
        if slot.generation() % 2 == 1 {
            // A look-up that never ends: its thread exists in the parent of this process only.
            return Err(Errno::ENOMEM);
        }
        slot.fill(entry);
        Ok(before)
    }

    /// For a process that forks, so that all is whole in the child.
    pub fn hold(&self) -> Guard<'_, ()> {
        self.changing.lock()
    }

    /// For the child of a fork, which has one thread: look-ups at work were those of others, and do not end.
    pub fn forget_look_ups(&self) {
        self.chunks.iter().filter_map(OnceLock::get).flatten().for_each(Slot::forget_look_ups);
    }

    /// The entry of that number.
    #[inline]
    pub fn get(&self, number: u32) -> Option<E> {
        self.slot(number)?.current()
    }

    /// Takes out the entry of that number, if it is the wanted one.
    pub fn remove(&self, number: u32, is_wanted: impl FnOnce(&E) -> bool) -> Option<E> {
        let slot = self.slot(number)?;
        let _changing = self.changing.lock();
        let generation = slot.generation();
        if generation % 2 == 0 || !slot.get(generation).as_ref().is_some_and(is_wanted) {
            return None;
        }
        slot.take(generation)
    }

    #[inline]
    fn slot(&self, number: u32) -> Option<&Slot<E>> {
        let (chunk, offset) = place(number);
        self.chunks.get(chunk)?.get()?.get(offset)
    }
}

impl<E: Clone> Default for Numbers<E> {
    fn default() -> Self {
        Numbers::new()
    }
}

/// Chunk and offset of a number.
#[inline]
fn place(number: u32) -> (usize, usize) {
    let from_first = number as usize + FIRST;
    let chunk = from_first.ilog2() - FIRST.ilog2();
    (chunk as usize, from_first - (FIRST << chunk))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_follow_one_another() {
        assert_eq!(place(0), (0, 0));
        assert_eq!(place(63), (0, 63));
        assert_eq!(place(64), (1, 0));
        assert_eq!(place(191), (1, 127));
        assert_eq!(place(192), (2, 0));
        assert!(place(u32::MAX).0 >= CHUNKS);
    }

    #[test]
    fn entries_come_and_go() {
        let numbers = Numbers::new();
        for number in [0, 63, 64, 100_000] {
            assert_eq!(numbers.get(number), None);
            assert_eq!(numbers.insert(number, number), Ok(None));
            assert_eq!(numbers.get(number), Some(number));
            assert_eq!(numbers.remove(number, |_| false), None);
            assert_eq!(numbers.insert(number, 1), Ok(Some(number)));
            assert_eq!(numbers.remove(number, |entry| *entry == 1), Some(1));
            assert_eq!(numbers.get(number), None);
        }
        assert_eq!(numbers.insert(u32::MAX, 1), Err(Errno::ENOMEM));
    }
}
