// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! A growing table whose keys are numbers safe to hand to a stranger.
//!
//! A key names a slot and the slot's generation. When an entry comes or goes, the generation moves on, so a key that
//! comes back late, twice, or was never given out finds nothing. It is odd while there is an entry.
//!
//! Looking up takes no lock: it pins the slot for a few instructions, during which the entry cannot be taken out. The
//! lock of the free list is taken only when entries come and go.

use super::atomic::{AtomicU64, Ordering};
use super::cell::{SharedCell, yield_now};
use super::{Guard, Lock};
use crate::errno::{Errno, Result};
use std::sync::OnceLock;

/// Slots of the first chunk; each further chunk is twice as large.
const FIRST: usize = 64;
/// Bits of an index that count within a chunk: enough for the largest.
const OFFSET_BITS: u32 = 26;
const CHUNKS: usize = 21;
const _: () = assert!(FIRST << (CHUNKS - 1) == 1 << OFFSET_BITS && CHUNKS <= 1 << (u32::BITS - OFFSET_BITS));

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

    /// An entry has an odd generation, so a key is never 0.
    fn is_possible(self) -> bool {
        self.generation() % 2 == 1
    }

    fn index(self) -> u32 {
        self.0 as u32
    }

    fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

pub(super) struct Slot<E> {
    /// Generation in the upper half, look-ups at work in the lower.
    state: AtomicU64,
    /// Written while the generation is even and nobody else has the index; read while it is odd and pinned.
    entry: SharedCell<Option<E>>,
}

const PIN: u64 = 1;
const GENERATION: u64 = 1 << 32;
/// How often a thread lets others run before it gives up on a look-up of a few instructions.
const PATIENCE: u32 = 1 << 20;

// SAFETY: the entry is shared and moved between threads as the state allows.
unsafe impl<E: Send + Sync> Sync for Slot<E> {}

impl<E: Clone> Slot<E> {
    pub(super) fn empty() -> Slot<E> {
        Slot { state: AtomicU64::new(0), entry: SharedCell::new(None) }
    }

    pub(super) fn generation(&self) -> u32 {
        (self.state.load(Ordering::Relaxed) / GENERATION) as u32
    }

    /// The entry of that generation.
    #[inline]
    pub(super) fn get(&self, generation: u32) -> Option<E> {
        let pinned = self.state.fetch_add(PIN, Ordering::Acquire);
        let entry = if (pinned / GENERATION) as u32 == generation {
            // SAFETY: callers ask for odd generations only. While the slot has one and is pinned, the entry is not
            // written.
            unsafe { self.entry.with(|entry| (*entry).clone()) }
        } else {
            None
        };
        self.state.fetch_sub(PIN, Ordering::Release);
        entry
    }

    pub(super) fn forget_look_ups(&self) {
        self.state.fetch_and(!(GENERATION - 1), Ordering::Relaxed);
    }

    /// The entry, of whatever generation.
    #[inline]
    pub(super) fn current(&self) -> Option<E> {
        let pinned = self.state.fetch_add(PIN, Ordering::Acquire);
        let is_odd = (pinned / GENERATION) % 2 == 1;
        // SAFETY: while the generation is odd and the slot is pinned, the entry is not written.
        let entry = if is_odd { unsafe { self.entry.with(|entry| (*entry).clone()) } } else { None };
        self.state.fetch_sub(PIN, Ordering::Release);
        entry
    }

    /// Fills an empty slot, whose index the caller has to itself.
    pub(super) fn fill(&self, entry: E) {
        // SAFETY: the generation is even: nobody reads, and nobody else has the index.
        unsafe { self.entry.with_mut(|place| *place = Some(entry)) };
        self.state.fetch_add(GENERATION, Ordering::Release);
    }

    /// Takes the entry of that generation out, after the look-ups at work. It stays for ever if one of them does not
    /// end: after a fork the thread may exist in the parent only.
    pub(super) fn take(&self, generation: u32) -> Option<E> {
        let unpinned = u64::from(generation) * GENERATION;
        for _ in 0..PATIENCE {
            let next = unpinned.wrapping_add(GENERATION);
            match self.state.compare_exchange(unpinned, next, Ordering::Acquire, Ordering::Relaxed) {
                // SAFETY: the generation is even now: nobody reads. The index is not given out before this returns.
                Ok(_) => return unsafe { self.entry.with_mut(|entry| (*entry).take()) },
                Err(state) if (state / GENERATION) as u32 != generation => return None,
                Err(_) => yield_now(),
            }
        }
        None
    }
}

/// Nothing comes or goes as long as this is there.
pub struct Held<'a>(#[allow(dead_code, reason = "its end counts")] Guard<'a, FreeList>);

#[derive(Default)]
struct FreeList {
    /// The lowest index never used so far.
    next: u32,
    /// How many indices were given out for the first time.
    given: usize,
    returned: Vec<u32>,
}

pub(super) type Chunk<E> = Box<[Slot<E>]>;

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
            free: Lock::new(FreeList { next: 0, given: 0, returned: Vec::new() }),
        }
    }

    /// Stores the entry that `make` returns for its own key. ENOMEM without memory or free keys; whatever `make`
    /// fails with otherwise.
    pub fn insert_with(&self, make: impl FnOnce(Key) -> Result<E>) -> Result<E> {
        let index = self.take_index()?;
        let slot = self.slot(index).ok_or(Errno::ENOMEM)?;
        let result = make(Key::new(index, slot.generation().wrapping_add(1)));
        match &result {
            Ok(entry) => slot.fill(entry.clone()),
            Err(_) => self.free.lock().returned.push(index),
        }
        result
    }

    /// The entry of that name, if it is still there.
    #[inline]
    pub fn get(&self, key: Key) -> Option<E> {
        if key.is_possible() { self.slot(key.index())?.get(key.generation()) } else { None }
    }

    /// Whether the name was given out, and few have been for its slot since.
    pub fn is_recent(&self, key: Key) -> bool {
        const FEW: u32 = 1 << 12;
        let slot = if key.is_possible() { self.slot(key.index()) } else { None };
        slot.is_some_and(|slot| slot.generation().wrapping_sub(key.generation()) <= FEW)
    }

    /// An entry that is wanted, if there is one. For what is rare: this looks at every slot.
    pub fn find(&self, is_wanted: impl Fn(&E) -> bool) -> Option<E> {
        let slots = self.chunks.iter().filter_map(OnceLock::get).flatten();
        slots
            .filter_map(|slot| {
                let generation = slot.generation();
                (generation % 2 == 1).then(|| slot.get(generation)).flatten()
            })
            .find(is_wanted)
    }

    /// For a process that forks, so that the table is whole in the child.
    pub fn hold(&self) -> Held<'_> {
        Held(self.free.lock())
    }

    /// For the child of a fork, which has one thread: look-ups at work were those of others, and do not end.
    pub fn forget_look_ups(&self) {
        self.chunks.iter().filter_map(OnceLock::get).flatten().for_each(Slot::forget_look_ups);
    }

    /// Takes the entry out: from now on its key is unknown.
    pub fn remove(&self, key: Key) -> Option<E> {
        if !key.is_possible() {
            return None;
        }
        let entry = self.slot(key.index())?.take(key.generation())?;
        self.free.lock().returned.push(key.index());
        Some(entry)
    }

    fn take_index(&self) -> Result<u32> {
        let mut free = self.free.lock();
        if let Some(index) = free.returned.pop() {
            return Ok(index);
        }
        let index = free.next;
        let (chunk, offset) = place(index);
        let cell = self.chunks.get(chunk).ok_or(Errno::ENOMEM)?;
        // Under the lock of the free list nobody else can be filling the cell.
        if cell.get().is_none() {
            let _ = cell.set(new_chunk(FIRST << chunk)?);
        }
        // Every index given out can come back without memory: giving back must not fail.
        free.given += 1;
        let given = free.given;
        free.returned.try_reserve(given).map_err(|_| Errno::ENOMEM)?;
        free.next = if offset + 1 < FIRST << chunk { index + 1 } else { (chunk as u32 + 1) << OFFSET_BITS };
        Ok(index)
    }

    #[inline]
    fn slot(&self, index: u32) -> Option<&Slot<E>> {
        let (chunk, offset) = place(index);
        self.chunks.get(chunk)?.get()?.get(offset)
    }
}

impl<E: Clone> Default for Table<E> {
    fn default() -> Self {
        Table::new()
    }
}

/// Chunk and offset of an index: the chunk stands in the upper bits, so that a look-up need not compute it.
#[inline]
fn place(index: u32) -> (usize, usize) {
    ((index >> OFFSET_BITS) as usize, (index & ((1 << OFFSET_BITS) - 1)) as usize)
}

pub(super) fn new_chunk<E: Clone>(slots: usize) -> Result<Chunk<E>> {
    let mut chunk = Vec::new();
    chunk.try_reserve_exact(slots).map_err(|_| Errno::ENOMEM)?;
    chunk.resize_with(slots, Slot::empty);
    Ok(chunk.into_boxed_slice())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn an_entry_is_found_by_what_it_is() {
        let table = Table::new();
        for number in 0..200 {
            table.insert_with(|_| Ok(number)).unwrap();
        }
        assert_eq!(table.find(|number| *number == 150), Some(150));
        assert_eq!(table.find(|number| *number == 200), None);
    }

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
        assert!(table.is_recent(first));
        assert!(!table.is_recent(Key::from_raw(first.raw() + (9 << 32))), "not yet given out");
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
    fn generations_wrap() {
        let slot = Slot::empty();
        slot.state.store(u64::from(u32::MAX - 1) * GENERATION, Ordering::Relaxed);
        slot.fill(5);
        assert_eq!(slot.get(u32::MAX), Some(5));
        assert_eq!(slot.take(u32::MAX), Some(5));
        assert_eq!(slot.generation(), 0);
        slot.fill(6);
        assert_eq!(slot.get(1), Some(6));
    }

    #[test]
    fn look_ups_race_with_comings_and_goings() {
        let table: Table<Arc<u64>> = Table::new();
        let last = AtomicU64::new(0);
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        let raw = last.load(Ordering::Relaxed);
                        if let Some(entry) = table.get(Key::from_raw(raw)) {
                            assert_eq!(*entry, raw);
                        }
                    }
                });
            }
            for _ in 0..100_000 {
                let mut made = None;
                let entry = table
                    .insert_with(|key| {
                        made = Some(key);
                        Ok(Arc::new(key.raw()))
                    })
                    .unwrap();
                last.store(*entry, Ordering::Relaxed);
                assert_eq!(table.remove(made.unwrap()), Some(entry));
            }
            done.store(true, Ordering::Relaxed);
        });
    }

    #[test]
    fn grows_over_many_chunks() {
        let table = Table::new();
        let keys: Vec<Key> = (0..1000)
            .map(|number| {
                let mut made = None;
                table
                    .insert_with(|key| {
                        made = Some(key);
                        Ok(number)
                    })
                    .unwrap();
                made.unwrap()
            })
            .collect();
        for (number, key) in keys.iter().enumerate() {
            assert_eq!(table.get(*key), Some(number));
            assert_eq!(table.remove(*key), Some(number));
        }
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
