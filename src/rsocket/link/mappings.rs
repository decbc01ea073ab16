// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Memory that one side offers the other to write to directly.

use super::{Link, wire};
use crate::errno::{Errno, Result};
use crate::sys::iovec::Pieces;
use crate::sys::memory;
use crate::verbs::{Access, Registered, Remote};
use std::ffi::c_void;
use std::sync::atomic::Ordering;

/// What this side has mapped.
#[derive(Default)]
pub(super) struct Mappings(Vec<Mapping>);

struct Mapping {
    memory: Registered,
    offset: u64,
    /// Place in the peer's table, for what the peer may write to.
    index: Option<u16>,
    told: bool,
}

/// What a peer offers.
struct Offered {
    offset: u64,
    place: Remote,
    length: u32,
}

impl Link {
    /// Maps memory of the application at an offset: for the peer to write to, or for this side only. ENOMEM if the peer
    /// has no room in its table, EINVAL for an offset that is taken or more than can be told.
    ///
    /// # Safety
    ///
    /// The memory stays until it is unmapped, or the socket closed.
    pub unsafe fn map(&self, start: *mut c_void, length: usize, for_peer: bool, offset: u64) -> Result<()> {
        let size = u32::try_from(length).map_err(|_| Errno::EINVAL)?;
        offset.checked_add(size.into()).ok_or(Errno::EINVAL)?;
        let mut mappings = self.mappings.lock();
        let index = if for_peer { Some(self.free_index(&mappings.0)?) } else { None };
        let access = if for_peer { Access::Peers } else { Access::Local };
        // SAFETY: the caller's promise; the domain is the device's, which the id keeps.
        let memory = unsafe { Registered::register(self.id.pd(), start, length, access)? };
        memory::push(&mut mappings.0, Mapping { memory, offset, index, told: !for_peer })?;
        self.has_untold.store(true, Ordering::Release);
        drop(mappings);
        // Without room now it is told before the next data.
        let _ = self.tell_mappings()?;
        Ok(())
    }

    fn free_index(&self, mappings: &[Mapping]) -> Result<u16> {
        let count = self.peer.get().ok_or(Errno::ENOTCONN)?.mappings;
        (0..count)
            .find(|index| !mappings.iter().any(|mapping| mapping.index == Some(*index)))
            .ok_or(Errno::ENOMEM)
    }

    /// Ends a mapping of exactly that memory. EINVAL without one.
    pub fn unmap(&self, start: *const c_void, length: usize) -> Result<()> {
        let mut mappings = self.mappings.lock();
        let is_it = |mapping: &Mapping| {
            mapping.memory.address() == start.addr() as u64 && mapping.memory.length() == length
        };
        let position = mappings.0.iter().position(is_it).ok_or(Errno::EINVAL)?;
        mappings.0.swap_remove(position);
        Ok(())
    }

    /// Tells the peer of what is mapped for it. False if there is no room to tell of all.
    pub fn tell_mappings(&self) -> Result<bool> {
        if !self.has_untold.load(Ordering::Acquire) {
            return Ok(true);
        }
        let mut mappings = self.mappings.lock();
        let Some(peer) = self.peer.get() else { return Ok(false) };
        for mapping in mappings.0.iter_mut().filter(|mapping| !mapping.told) {
            let Some(index) = mapping.index else { continue };
            let entry = wire::Entry {
                place: Remote { address: mapping.memory.address(), key: mapping.memory.remote_key() },
                length: u32::try_from(mapping.memory.length()).map_err(|_| Errno::EINVAL)?,
            };
            let offset = if peer.swapped { mapping.offset.swap_bytes() } else { mapping.offset };
            let mut bytes = [0; wire::MAPPING];
            let parts = offset.to_ne_bytes().into_iter().chain(entry.in_memory(peer.swapped));
            for (place, byte) in bytes.iter_mut().zip(parts) {
                *place = byte;
            }
            if !self.tell_mapping(&bytes, peer.mapping(index), index)? {
                return Ok(false);
            }
            mapping.told = true;
        }
        self.has_untold.store(false, Ordering::Release);
        Ok(true)
    }

    /// Writes to what the peer has mapped at the offset, as much as there is room for. EINVAL if nothing is mapped there.
    pub fn write_mapped(&self, pieces: &mut Pieces<'_>, chunk: &mut u32, offset: u64) -> Result<u32> {
        let offered = self.offered(offset).ok_or(Errno::EINVAL)?;
        // offered() has found the offset within.
        let inside = offset.wrapping_sub(offered.offset);
        let most = u64::from(offered.length).saturating_sub(inside) as u32;
        let target = Remote { address: offered.place.address.wrapping_add(inside), key: offered.place.key };
        self.write_to(pieces, chunk, target, most)
    }

    /// The mapping that the offset is in. Each is read once: the peer may write it at any time.
    fn offered(&self, offset: u64) -> Option<Offered> {
        (0..usize::from(self.sizes.mappings)).find_map(|index| {
            let place = self.layout.mappings + index * wire::MAPPING;
            let number = |at| self.block.number(place + at).load(Ordering::Acquire);
            let [a, b, c, d, e, f, g, h] = number(16).to_ne_bytes();
            let found = Offered {
                offset: number(0),
                place: Remote { address: number(8), key: u32::from_ne_bytes([a, b, c, d]) },
                length: u32::from_ne_bytes([e, f, g, h]),
            };
            let inside = offset.checked_sub(found.offset)?;
            (inside < found.length.into()).then_some(found)
        })
    }
}
