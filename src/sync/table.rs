// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! A growing table whose keys are numbers safe to hand to a stranger.
//!
//! A key names a slot and the slot's generation. When an entry leaves, the generation moves on, so a key that comes
//! back late, twice, or was never given out finds nothing. Each slot has a lock of its own, held for a few
//! instructions: look-ups of different entries never wait for each other. The lock of the free list is inside none of
//! them and is taken only when entries come and go.

use super::Lock;
use crate::errno::{Errno, Result};
use std::sync::OnceLock;

/// Slots of the first chunk; each further chunk is twice as large.
const FIRST: usize = 64;
/// Enough chunks for 2^31 slots.
const CHUNKS: usize = 26;

/// The name of an entry: never 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key(u64);

impl Key {
    /// A number that came back from outside. It may be anything; the table decides.
    pub fn from_raw(raw: u64) -> Key {
        Key(raw)
    }

    /// The number to hand out.
    pub fn raw(self) -> u64 {
        self.0
    }

    fn new(index: u32, generation: u32) -> Key {
        Key(u64::from(generation) << 32 | u64::from(index))
    }

    fn index(self) -> u32 {
        self.0 as u32
    }

    fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

struct Slot<E> {
    generation: u32,
    entry: Option<E>,
}

#[derive(Default)]
struct FreeList {
    /// The lowest index never used so far.
    next: u32,
    returned: Vec<u32>,
}

type Chunk<E> = Box<[Lock<Slot<E>>]>;

/// Entries by [`Key`].
pub struct Table<E> {
    chunks: [OnceLock<Chunk<E>>; CHUNKS],
    free: Lock<FreeList>,
}

impl<E: Clone> Table<E> {
    /// An empty table; no memory is taken before the first entry.
    pub const fn new() -> Table<E> {
        Table {
            chunks: [const { OnceLock::new() }; CHUNKS],
            free: Lock::new(FreeList { next: 0, returned: Vec::new() }),
        }
    }

    /// Stores the entry that `make` returns for its own key. ENOMEM without memory or free keys; whatever `make`
    /// fails with otherwise.
    pub fn insert_with(&self, make: impl FnOnce(Key) -> Result<E>) -> Result<E> {
        let index = self.take_index()?;
        let slot = self.slot(index).ok_or(Errno::ENOMEM)?;
        let key = Key::new(index, slot.lock().generation);
        match make(key) {
            Ok(entry) => {
                slot.lock().entry = Some(entry.clone());
                Ok(entry)
            }
            Err(error) => {
                self.free.lock().returned.push(index);
                Err(error)
            }
        }
    }

    /// The entry of that name, if it is still there.
    pub fn get(&self, key: Key) -> Option<E> {
        let slot = self.slot(key.index())?.lock();
        if slot.generation == key.generation() { slot.entry.clone() } else { None }
    }

    /// Takes the entry out: from now on its key is unknown.
    pub fn remove(&self, key: Key) -> Option<E> {
        let mut slot = self.slot(key.index())?.lock();
        if slot.generation != key.generation() {
            return None;
        }
        let entry = slot.entry.take()?;
        slot.generation = next_generation(slot.generation);
        drop(slot);
        self.free.lock().returned.push(key.index());
        Some(entry)
    }

    fn take_index(&self) -> Result<u32> {
        let mut free = self.free.lock();
        if let Some(index) = free.returned.pop() {
            return Ok(index);
        }
        let index = free.next;
        let (chunk, _) = place(index);
        let cell = self.chunks.get(chunk).ok_or(Errno::ENOMEM)?;
        // Under the lock of the free list nobody else can be filling the cell.
        if cell.get().is_none() {
            let _ = cell.set(new_chunk(FIRST << chunk)?);
        }
        // Every index given out can come back without memory: giving back must not fail.
        free.returned.try_reserve(index as usize + 1).map_err(|_| Errno::ENOMEM)?;
        free.next += 1;
        Ok(index)
    }

    fn slot(&self, index: u32) -> Option<&Lock<Slot<E>>> {
        let (chunk, offset) = place(index);
        self.chunks.get(chunk)?.get()?.get(offset)
    }
}

impl<E: Clone> Default for Table<E> {
    fn default() -> Self {
        Table::new()
    }
}

/// Generation 0 is never used: a key is never 0.
fn next_generation(generation: u32) -> u32 {
    generation.checked_add(1).unwrap_or(1)
}

fn place(index: u32) -> (usize, usize) {
    let position = index as usize + FIRST;
    let chunk = position.ilog2() as usize - FIRST.ilog2() as usize;
    (chunk, position - (FIRST << chunk))
}

fn new_chunk<E>(slots: usize) -> Result<Chunk<E>> {
    let mut chunk = Vec::new();
    chunk.try_reserve_exact(slots).map_err(|_| Errno::ENOMEM)?;
    chunk.resize_with(slots, || Lock::new(Slot { generation: 1, entry: None }));
    Ok(chunk.into_boxed_slice())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[test]
    fn a_key_dies_with_its_entry() {
        let table = Table::new();
        let mut first = None;
        table
            .insert_with(|key| {
                first = Some(key);
                Ok(7)
            })
            .unwrap();
        let first = first.unwrap();
        assert_eq!(table.get(first), Some(7));
        assert_eq!(table.remove(first), Some(7));
        assert_eq!(table.remove(first), None);
        let mut second = None;
        table
            .insert_with(|key| {
                second = Some(key);
                Ok(8)
            })
            .unwrap();
        assert_eq!(second.unwrap().index(), first.index(), "the slot is used again");
        assert_eq!(table.get(first), None, "under another key");
    }

    #[test]
    fn a_failed_entry_leaves_nothing() {
        let table: Table<u8> = Table::new();
        assert_eq!(table.insert_with(|_| Err(Errno::ENODEV)), Err(Errno::ENODEV));
        let mut again = None;
        table
            .insert_with(|key| {
                again = Some(key);
                Ok(1)
            })
            .unwrap();
        assert_eq!(again.unwrap().index(), 0);
    }

    #[test]
    fn unknown_keys_find_nothing() {
        let table: Table<u8> = Table::new();
        for raw in [0, 1, u64::from(u32::MAX), 1 << 32, u64::MAX] {
            assert_eq!(table.get(Key::from_raw(raw)), None);
            assert_eq!(table.remove(Key::from_raw(raw)), None);
        }
    }

    #[test]
    fn generations_wrap_past_zero() {
        assert_eq!(next_generation(u32::MAX), 1);
    }

    proptest! {
        #[test]
        fn behaves_like_a_map(steps in proptest::collection::vec((any::<bool>(), any::<prop::sample::Index>()), 1..400)) {
            let table = Table::new();
            let mut model = HashMap::new();
            let mut keys = Vec::new();
            for (number, (insert, pick)) in steps.into_iter().enumerate() {
                if insert || keys.is_empty() {
                    let mut key = None;
                    table.insert_with(|k| { key = Some(k); Ok(number) }).unwrap();
                    let key: Key = key.unwrap();
                    prop_assert_ne!(key.raw(), 0);
                    prop_assert!(model.insert(key.raw(), number).is_none(), "a key was given out twice");
                    keys.push(key);
                } else {
                    let key = *pick.get(&keys);
                    prop_assert_eq!(table.remove(key), model.remove(&key.raw()));
                }
                for key in &keys {
                    prop_assert_eq!(table.get(*key), model.get(&key.raw()).copied());
                }
            }
        }
    }
}
