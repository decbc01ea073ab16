// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Where datagrams go: the destinations that a socket knows. Anybody who can send a notice gets into the table, so it is
//! bounded and forgets (see also `belief`).

use super::belief::Belief;
use super::own_id::OwnId;
use super::queue::Queue;
use super::way::Way;
use crate::cm::id::CmId;
use crate::errno::Result;
use crate::sync::Shared;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Most destinations.
const MOST: usize = 4096;
/// Unused for that long, one makes room for another.
const AGE: Duration = Duration::from_secs(300);
/// Most ways that are being found; those who have only written to us cannot take all.
const MOST_SEARCHES: usize = 256;
const MOST_STRANGERS: usize = 64;
/// Until a way that was not found is looked for again.
const PAUSE: Duration = Duration::from_secs(1);

/// One destination.
pub struct Destination {
    /// The queue pair that sends there.
    queue: Shared<Queue>,
    /// None until it is found.
    way: Option<Shared<Way>>,
    belief: Belief,
    /// The application has sent something there.
    is_own: bool,
    used: Instant,
    /// When there was no way.
    failed: Option<Instant>,
}

/// How the next message goes.
pub enum Plan {
    /// Over RDMA.
    Direct(Shared<Queue>, Shared<Way>, u32),
    /// By notice.
    Notice(Shared<Queue>),
}

impl Destination {
    /// The queue pair that sends there.
    pub fn queue(&self) -> Shared<Queue> {
        Shared::clone(&self.queue)
    }

    /// How a message of the application goes that is so long without header.
    pub fn plan(&mut self, length: usize, now: Instant) -> Plan {
        self.is_own = true;
        self.used = now;
        match (&self.way, self.belief.number(now)) {
            (Some(way), Some(number)) if length + self.queue.header_length() <= way.mtu() => {
                Plan::Direct(self.queue(), Shared::clone(way), number)
            }
            _ => {
                self.belief.ask(now);
                Plan::Notice(self.queue())
            }
        }
    }
}

/// A way that is being found.
pub struct Search {
    /// The id that is resolved.
    pub id: OwnId,
    /// From where.
    pub queue: Shared<Queue>,
    /// Where to.
    pub peer: SocketAddr,
}

/// See the module.
#[derive(Default)]
pub struct Table {
    all: HashMap<SocketAddr, Destination>,
    searches: Vec<Search>,
}

impl Table {
    /// A destination that is known.
    pub fn get(&mut self, peer: SocketAddr) -> Option<&mut Destination> {
        self.all.get_mut(&peer)
    }

    /// The destination is known from now on; what it took the place of comes back, to be dropped without locks. ENOMEM
    /// without memory.
    pub fn enter(&mut self, peer: SocketAddr, queue: Shared<Queue>) -> Result<Option<Destination>> {
        self.all.try_reserve(1)?;
        let now = Instant::now();
        let mut displaced = None;
        if self.all.len() >= MOST {
            let all = self.all.iter().map(|(peer, one)| (*peer, one.is_own, now.duration_since(one.used)));
            displaced = least_needed(all).and_then(|peer| self.all.remove(&peer));
        }
        self.all.entry(peer).or_insert(Destination {
            queue,
            way: None,
            belief: Belief::default(),
            is_own: false,
            used: now,
            failed: None,
        });
        Ok(displaced)
    }

    /// A notice has come from a destination that is known. Returns from where a way is to be found, if one is.
    pub fn hear(&mut self, peer: SocketAddr, number: u32, is_answer: bool) -> Option<Shared<Queue>> {
        let now = Instant::now();
        let destination = self.all.get_mut(&peer)?;
        destination.used = now;
        destination.belief.hear(number, is_answer, now);
        let is_due = destination.failed.is_none_or(|failed| now.duration_since(failed) >= PAUSE);
        let most = if destination.is_own { MOST_SEARCHES } else { MOST_STRANGERS };
        let is_sought = self.searches.len() >= most || self.searches.iter().any(|search| search.peer == peer);
        (destination.way.is_none() && is_due && !is_sought).then(|| destination.queue())
    }

    /// A message has come over RDMA from a queue pair.
    pub fn confirm(&mut self, peer: SocketAddr, number: u32) {
        if let Some(destination) = self.all.get_mut(&peer) {
            destination.used = Instant::now();
            destination.belief.confirm(number);
        }
    }

    /// A way is being found.
    pub fn seek(&mut self, search: Search) -> core::result::Result<(), Search> {
        if self.searches.try_reserve(1).is_err() {
            return Err(search);
        }
        self.searches.push(search);
        Ok(())
    }

    /// From where a way is being found by the id, if one is.
    pub fn sought_by(&self, id: &Shared<CmId>) -> Option<Shared<Queue>> {
        let search = self.searches.iter().find(|search| Shared::is_same(&search.id, id))?;
        Some(Shared::clone(&search.queue))
    }

    /// There is no way now: it is not looked for again at once.
    pub fn miss(&mut self, peer: SocketAddr) {
        if let Some(destination) = self.all.get_mut(&peer) {
            destination.failed = Some(Instant::now());
        }
    }

    /// The search has ended, with a way or without; the destination may be forgotten meanwhile, or go by another queue
    /// pair. What is left comes back, to be dropped without locks.
    pub fn found(&mut self, id: &Shared<CmId>, way: Option<Shared<Way>>) -> Option<Search> {
        let position = self.searches.iter().position(|search| Shared::is_same(&search.id, id))?;
        let search = self.searches.swap_remove(position);
        let destination = self.all.get_mut(&search.peer);
        if let Some(destination) = destination.filter(|found| Shared::is_same(&found.queue, &search.queue)) {
            destination.failed = way.is_none().then(Instant::now);
            destination.way = way;
        }
        Some(search)
    }

    /// Forgets all that goes by a queue pair.
    pub fn forget(&mut self, queue: &Shared<Queue>) {
        self.all.retain(|_, destination| !Shared::is_same(&destination.queue, queue));
    }
}

/// Which one makes room, of all with whether the application has sent something there, and how long they were not used:
/// those that are old; else those who have only written to us go first.
fn least_needed(all: impl Iterator<Item = (SocketAddr, bool, Duration)>) -> Option<SocketAddr> {
    all.max_by_key(|(_, is_own, idle)| (*idle >= AGE, !is_own, *idle)).map(|(peer, ..)| peer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_make_room_before_what_is_in_use() {
        let peer = |port| SocketAddr::from(([10, 0, 0, 1], port));
        let mut all = vec![
            (peer(1), true, Duration::from_secs(200)),
            (peer(2), false, Duration::from_secs(1)),
            (peer(3), false, Duration::from_secs(2)),
        ];
        assert_eq!(least_needed(all.iter().copied()), Some(peer(3)));
        all.push((peer(4), true, AGE));
        assert_eq!(least_needed(all.iter().copied()), Some(peer(4)));
        assert_eq!(least_needed(std::iter::empty()), None);
    }
}
