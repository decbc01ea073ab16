// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The program's descriptors that this object knows, and what they stand for.
//!
//! A description is what duplicates of a descriptor share. It is kept under its *key*, a hidden descriptor that is open
//! as long as the description lives, so that no two have the same. A descriptor that the program knows is a *number*: its
//! place names the key. Places are never freed, so a look-up takes no lock: it holds the description, and then looks
//! whether the number still stands for it. The last to let go, a duplicate that is closed or a call that returns, ends it.

use crate::description::{Description, Kind};
use crate::{errno, process, thread};
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use libc::c_int;

/// Places of the first chunk; each further chunk is twice as large.
const FIRST: u32 = 64;
const CHUNKS: usize = 26;

/// What there is for each descriptor, with all bits 0 before it is used.
#[repr(C)]
struct Place {
    /// The key that the number stands for, plus one.
    key: AtomicU32,
    /// That of the key.
    description: Description,
}

static PLACES: [AtomicPtr<Place>; CHUNKS] = [const { AtomicPtr::new(ptr::null_mut()) }; CHUNKS];

/// Chunk, its size, and the offset in it.
fn position(number: u32) -> Option<(usize, usize, usize)> {
    let from_first = number.checked_add(FIRST)?;
    let chunk = from_first.ilog2() - FIRST.ilog2();
    let size = FIRST << chunk;
    Some((chunk as usize, size as usize, (from_first - size) as usize))
}

fn place(number: c_int) -> Option<&'static Place> {
    let (chunk, _, offset) = position(u32::try_from(number).ok()?)?;
    let start = PLACES.get(chunk)?.load(Ordering::Acquire);
    // SAFETY: a chunk that is there is never freed, and has more places than the offset.
    (!start.is_null()).then(|| unsafe { &*start.add(offset) })
}

/// Makes the chunk of the place, if it is not there yet. None without memory.
fn make_place(number: c_int) -> Option<&'static Place> {
    let (chunk, size, _) = position(u32::try_from(number).ok()?)?;
    let cell = PLACES.get(chunk)?;
    if cell.load(Ordering::Acquire).is_null() {
        // SAFETY: nothing but sizes.
        let new = unsafe { libc::calloc(size, size_of::<Place>()) }.cast::<Place>();
        if new.is_null() {
            return None;
        }
        let raced = cell.compare_exchange(ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire).is_err();
        if raced {
            // SAFETY: nobody else has seen it.
            unsafe { libc::free(new.cast()) };
        }
    }
    place(number)
}

/// A description in use: it does not end meanwhile.
pub struct Held {
    key: c_int,
    description: &'static Description,
}

impl Held {
    /// The hidden descriptor: that of a socket over RDMA, for one.
    pub fn key(&self) -> c_int {
        self.key
    }

    /// What is known of it.
    pub fn description(&self) -> &'static Description {
        self.description
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        thread::lets_go(self.key);
        release(self.key);
    }
}

/// Whether the number stands for something. No more than a hint.
pub fn is_known(number: c_int) -> bool {
    place(number).is_some_and(|place| place.key.load(Ordering::Relaxed) != 0)
}

/// What the number stands for.
pub fn find(number: c_int) -> Option<Held> {
    let place = place(number)?;
    loop {
        let stored = place.key.load(Ordering::Acquire);
        let key = c_int::try_from(stored.checked_sub(1)?).ok()?;
        let description = description(key)?;
        if !description.hold() {
            // It ends, and the number has another meaning in a moment.
            core::hint::spin_loop();
            continue;
        }
        if place.key.load(Ordering::Acquire) == stored {
            thread::holds(key);
            return Some(Held { key, description });
        }
        release(key);
    }
}

/// The description of a key.
pub fn description(key: c_int) -> Option<&'static Description> {
    place(key).map(|place| &place.description)
}

/// Room for a description under the key. None without memory.
pub fn make_description(key: c_int) -> Option<&'static Description> {
    make_place(key).map(|place| &place.description)
}

/// The number stands for what is held, from now on. False without memory.
pub fn assign(number: c_int, held: &Held) -> bool {
    let Some(place) = make_place(number) else { return false };
    held.description.hold();
    put(place, held.key);
    true
}

/// The number stands for a description that was just made, and that has one user. False without memory.
pub fn assign_new(number: c_int, key: c_int) -> bool {
    make_place(number).map(|place| put(place, key)).is_some()
}

/// The same for a number that stands for nothing yet. False if it does, or without memory.
pub fn assign_first(number: c_int, key: c_int) -> bool {
    let Some(place) = make_place(number) else { return false };
    place.key.compare_exchange(0, key as u32 + 1, Ordering::AcqRel, Ordering::Acquire).is_ok()
}

fn put(place: &Place, key: c_int) {
    // Keys are descriptors.
    let before = place.key.swap(key as u32 + 1, Ordering::AcqRel);
    drop_stored(before);
}

/// The number stands for nothing any more. The key that it stood for, of which the caller has the use now.
pub fn take(number: c_int) -> Option<c_int> {
    let stored = place(number)?.key.swap(0, Ordering::AcqRel);
    c_int::try_from(stored.checked_sub(1)?).ok()
}

/// The number was closed behind our back, or is new: it stands for nothing.
pub fn forget(number: c_int) {
    if is_known(number) && process::is_own() {
        take(number).into_iter().for_each(release);
    }
}

fn drop_stored(stored: u32) {
    if let Some(key) = stored.checked_sub(1).and_then(|key| c_int::try_from(key).ok()) {
        release(key);
    }
}

/// One user less.
pub fn release(key: c_int) {
    if let Some(description) = description(key) {
        errno::kept(|| description.release(key));
    }
}

/// All numbers that stand for the key stand for the other one instead, or for nothing. Calls each with its number.
pub fn redirect(key: c_int, other: Option<&Held>, mut each: impl FnMut(c_int)) {
    let wanted = key as u32 + 1;
    for number in 0..end() {
        let Some(place) = place(number) else { continue };
        if place.key.load(Ordering::Acquire) != wanted {
            continue;
        }
        let new = other.map_or(0, |other| {
            other.description.hold();
            other.key as u32 + 1
        });
        let swapped = place.key.compare_exchange(wanted, new, Ordering::AcqRel, Ordering::Acquire).is_ok();
        drop_stored(if swapped { wanted } else { new });
        if swapped {
            each(number);
        }
    }
}

/// The first number that has no place.
pub fn end() -> c_int {
    let chunks = PLACES.iter().rposition(|cell| !cell.load(Ordering::Acquire).is_null());
    chunks.map_or(0, |last| c_int::try_from((FIRST << (last + 1)) - FIRST).unwrap_or(c_int::MAX))
}

/// Whether the number is the hidden descriptor of a description that lives.
pub fn is_key(number: c_int) -> bool {
    description(number).is_some_and(Description::is_used)
}

/// The key of the bridge whose description is at this address. A set may have been duplicated before it got a bridge, so its
/// number need not stand for it.
pub fn key_at(address: u64) -> Option<c_int> {
    let mut first = 0;
    for (chunk, cell) in PLACES.iter().enumerate() {
        let (start, size) = (cell.load(Ordering::Acquire).addr(), (FIRST as usize) << chunk);
        let offset = usize::try_from(address).ok()?.wrapping_sub(start);
        if start != 0 && offset < size * size_of::<Place>() {
            let key = c_int::try_from(first + offset / size_of::<Place>()).ok()?;
            let is_there = |known: &Description| ptr::from_ref(known).addr() as u64 == address;
            let is_bridge = |known: &Description| known.is_used() && known.is(Kind::Bridge);
            return description(key).filter(|known| is_there(known) && is_bridge(known)).map(|_| key);
        }
        first += size;
    }
    None
}
