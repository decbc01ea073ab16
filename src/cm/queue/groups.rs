// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Multicast groups that the queue pair of an id receives from.

use crate::ctypes::ibv_gid;
use crate::errno::Result;
use crate::sync::Key;
use crate::verbs::QueuePair;

/// The groups, each with the membership that it is for. A group may have several.
#[derive(Default)]
pub struct Groups(Vec<(Key, Group)>);

/// As the kernel names it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// Its address.
    pub gid: [u8; 16],
    /// Its local identifier; 0 on Ethernet.
    pub lid: u16,
}

impl Groups {
    /// The queue pair receives from the group, for this membership too.
    pub fn attach(&mut self, queue_pair: QueuePair, membership: Key, group: Group) -> Result<()> {
        self.0.try_reserve(1)?;
        queue_pair.attach(&ibv_gid { raw: group.gid }, group.lid)?;
        self.0.push((membership, group));
        Ok(())
    }

    /// The membership ends. Without another one in its group the queue pair receives from it no more.
    pub fn detach(&mut self, queue_pair: QueuePair, membership: Key) {
        let Some(position) = self.0.iter().position(|(of, _)| *of == membership) else { return };
        let (_, left) = self.0.swap_remove(position);
        if !self.0.iter().any(|(_, group)| *group == left) {
            // Without success the group still ends with the membership.
            let _ = queue_pair.detach(&ibv_gid { raw: left.gid }, left.lid);
        }
    }

    /// The queue pair ends: the kernel does not destroy one that is in a group.
    pub fn detach_all(mut self, queue_pair: QueuePair) {
        while let Some((membership, _)) = self.0.last() {
            self.detach(queue_pair, *membership);
        }
    }
}
