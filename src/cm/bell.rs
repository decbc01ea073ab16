// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! User events for kernels that have no command for them, or do not want it for an id.
//!
//! They wait here, those of each channel in the order in which they were written. For each of them a *bell* hangs in
//! the kernel: a hidden id on the channel that was made to ring, which is an event of the kernel's own. So everything
//! that an application can do with a channel keeps working, for its descriptor is readable exactly while there is
//! something to take. A bell belongs to no event in particular: who hears one takes the oldest event.
//!
//! Behind the first [`MOST`] events of a channel, others wait without a bell; they get theirs when some have been taken.
//!
//! Locks: [`CmId::staying`] of one id, then the [`Bells`] of one channel. Both are held across commands to the kernel.
//! Nothing here may be cancelled. In the child of a fork nobody takes those of inherited objects: a thread that the child
//! does not have may hold them.

use super::channel::Channel;
use super::event::About;
use super::id::CmId;
use super::uid::{IDS, hidden};
use super::user::Written;
use super::{decode, wake};
use crate::ctypes::rdma_cm_event;
use crate::errno::{Errno, Result};
use crate::sync::{Key, Lock};
use crate::sys::thread::uncancellable;
use crate::ucma::Fd;
use std::collections::VecDeque;
use std::sync::MutexGuard;
use std::sync::atomic::{AtomicBool, Ordering};

/// Most bells that hang on a channel: each takes memory and a port in the kernel.
const MOST: usize = 256;
/// How many of them are missing when those are hung that had to wait: waiting until they have rung is half of the cost.
const BATCH: usize = 32;

/// Whether any event of this process has ever waited here.
static USED: AtomicBool = AtomicBool::new(false);

/// Whether there may be anything here.
#[inline]
pub fn have_hung() -> bool {
    USED.load(Ordering::Relaxed)
}

/// The user events of a channel that wait for somebody to take them.
#[derive(Default)]
pub struct Bells(Lock<Waiting>);

#[derive(Default)]
struct Waiting {
    events: VecDeque<UserEvent>,
    /// The kernel's numbers of the hidden ids, in the order in which they ring. They are not more than the events. While
    /// the lock is free all have rung but those whose writers still wait for that.
    bells: VecDeque<u32>,
    /// Events of moving ids that there must be room for.
    expected: usize,
}

struct UserEvent {
    id: Key,
    written: Written,
}

/// Queues a user event of the id. When this returns the event is in the channel, as on a kernel with the command: a
/// non-blocking read right afterwards sees it. ENODEV without any RDMA device; what the kernel says otherwise.
#[cold]
#[inline(never)]
pub fn write(id: &CmId, written: Written) -> Result<()> {
    if id.is_inherited() {
        return Err(Errno::EACCES);
    }
    uncancellable(|| {
        let _staying = id.staying().lock();
        let channel = id.channel();
        // The kernel also refuses an id that is just moving to another channel. Now it stays where it is.
        match wake::command(channel.fd(), id.handle(), written) {
            Err(Errno::EINVAL) => {}
            other => return other,
        }
        USED.store(true, Ordering::Relaxed);
        let mut waiting = channel.bells().0.lock();
        waiting.make_room(1)?;
        waiting.events.push_back(UserEvent { id: id.key(), written });
        let hung = waiting.hang(channel.fd()).inspect_err(|_| {
            // If a bell cannot be hung, the last event has none.
            waiting.events.pop_back();
        })?;
        // Whoever hears the bell meanwhile is not to wait for the lock.
        drop(waiting);
        if hung > 0 {
            wake::wait_until_rung(channel.fd());
        }
        Ok(())
    })
}

/// A bell was heard on the channel: the oldest user event is the caller's, in `public`. None if the bell was taken down
/// meanwhile.
pub fn answer(channel: &Channel, bell: u32, public: &mut rdma_cm_event) -> Option<About> {
    uncancellable(|| {
        let mut waiting = channel.bells().0.lock();
        let event = waiting.take(bell)?;
        wake::end_hidden(channel.fd(), bell);
        waiting.refill(channel.fd());
        deliver(waiting, event, public)
    })
}

fn deliver(waiting: MutexGuard<'_, Waiting>, event: UserEvent, public: &mut rdma_cm_event) -> Option<About> {
    let id = IDS.get(event.id)?;
    // Under the lock: who finds the event gone must find it in the account.
    id.ledger().expect();
    drop(waiting);
    decode::written(id, event.written, public)
}

/// The oldest user event of the channel, which has nothing else to be read, if no bell could be hung for it.
pub fn overdue(channel: &Channel, public: &mut rdma_cm_event) -> Option<About> {
    uncancellable(|| {
        let mut waiting = channel.bells().0.lock();
        if !waiting.bells.is_empty() {
            return None;
        }
        let event = waiting.events.pop_front()?;
        waiting.refill(channel.fd());
        deliver(waiting, event, public)
    })
}

/// Withdraws all user events of an id that nobody has taken.
pub fn withdraw(id: &CmId) {
    // Almost always.
    if !have_hung() {
        return;
    }
    let channel = id.channel();
    if !id.is_inherited() {
        uncancellable(|| channel.bells().0.lock().remove(id.key(), channel.fd(), drop));
    }
}

/// Runs `migrate`, which moves the id from one channel to another, then moves its user events: from then on nobody gets
/// one from the old channel.
pub fn move_along<R>(
    id: &CmId,
    from: &Channel,
    to: &Channel,
    migrate: impl FnOnce() -> Result<R>,
) -> Result<R> {
    if id.is_inherited() || to.is_inherited() {
        return uncancellable(migrate);
    }
    uncancellable(|| {
        let _staying = id.staying().lock();
        // What has moved cannot be turned away: there has to be room before. While the id stays there may become less of
        // it, but not more.
        let count = from.bells().0.lock().count(id.key());
        let mut moved = Vec::new();
        moved.try_reserve(count)?;
        // One after the other: it may be the same channel, and another id may be on the opposite way.
        if count > 0 {
            to.bells().0.lock().expect(count)?;
        }
        let mut waiting = from.bells().0.lock();
        let result = migrate();
        if result.is_ok() {
            waiting.remove(id.key(), from.fd(), |event| moved.push(event));
        }
        drop(waiting);
        if count > 0 {
            to.bells().0.lock().take_over(moved, count, to.fd());
        }
        result
    })
}

impl Waiting {
    /// Makes room for that many events more, besides those that are expected. ENOMEM without memory.
    fn make_room(&mut self, count: usize) -> Result<()> {
        self.events.try_reserve(self.expected + count)?;
        Ok(())
    }

    /// That many events will come, for which there has to be room until then. ENOMEM without memory.
    fn expect(&mut self, count: usize) -> Result<()> {
        self.make_room(count)?;
        self.expected += count;
        Ok(())
    }

    /// Events of a moved id, of which that many were expected.
    fn take_over(&mut self, moved: Vec<UserEvent>, expected: usize, fd: Fd) {
        self.expected -= expected;
        if !moved.is_empty() {
            self.events.extend(moved);
            self.refill(fd);
        }
    }

    fn count(&self, id: Key) -> usize {
        self.events.iter().filter(|event| event.id == id).count()
    }

    /// Hangs bells for the events that have none, as far as there is need, and tells how many.
    fn hang(&mut self, fd: Fd) -> Result<usize> {
        // Where the kernel has the command, the next event may come by it, and must not overtake one without a bell.
        let most = if wake::is_command_missing() { MOST } else { usize::MAX };
        let (hung, wanted) = (self.bells.len(), self.events.len().min(most));
        if self.events.len() > most && hung + BATCH > most {
            return Ok(0);
        }
        for _ in hung..wanted {
            self.bells.try_reserve(1)?;
            self.bells.push_back(wake::ring(fd, hidden::BELL)?);
        }
        Ok(wanted.saturating_sub(hung))
    }

    /// As [`Waiting::hang`], for events whose writers have gone: others find them as soon as the lock is free. Without
    /// success the next one tries again.
    fn refill(&mut self, fd: Fd) {
        let before = self.bells.len();
        let _ = wake::twice(|| self.hang(fd));
        if self.bells.len() > before {
            wake::wait_until_rung(fd);
        }
    }

    /// Takes the bell and the oldest event. None if the bell hangs no more.
    fn take(&mut self, bell: u32) -> Option<UserEvent> {
        // Bells ring in order, so it is mostly the first.
        let position = self.bells.iter().position(|hung| *hung == bell)?;
        self.bells.remove(position)?;
        self.events.pop_front()
    }

    /// Takes out all events of the id, and bells that hang in their places: as many as there are too many then. Others
    /// stay for events that have none, so that the channel is readable all the time.
    fn remove(&mut self, id: Key, fd: Fd, mut removed: impl FnMut(UserEvent)) {
        let going = self.count(id);
        if going == 0 {
            return;
        }
        let mut surplus = self.bells.len().saturating_sub(self.events.len() - going);
        let mut bells = self.bells.len();
        // Each goes once from the front to the back, for which there is room.
        for _ in 0..self.events.len() {
            let Some(event) = self.events.pop_front() else { break };
            let mut bell = if bells > 0 { self.bells.pop_front() } else { None };
            bells = bells.saturating_sub(1);
            if event.id == id {
                removed(event);
                if let Some(bell) = bell.take_if(|_| surplus > 0) {
                    surplus -= 1;
                    wake::end_hidden(fd, bell);
                }
            } else {
                self.events.push_back(event);
            }
            if let Some(bell) = bell {
                self.bells.push_back(bell);
            }
        }
        self.refill(fd);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctypes::RDMA_CM_EVENT_USER;

    /// Nothing can be hung there, or taken down.
    const NOWHERE: Fd = Fd(-1);
    const ONE: u64 = 1;
    const OTHER: u64 = 2;

    /// Each event has the next number for its argument; the first have bells, which go by the same numbers.
    fn waiting(ids: &[u64], bells: u32) -> Waiting {
        let written = |arg| Written { event: RDMA_CM_EVENT_USER, status: 0, arg };
        let event = |(arg, id): (u64, &u64)| UserEvent { id: Key::from_raw(*id), written: written(arg) };
        Waiting { events: (0..).zip(ids).map(event).collect(), bells: (0..bells).collect(), expected: 0 }
    }

    fn removed(waiting: &mut Waiting, id: u64) -> Vec<u64> {
        let mut removed = Vec::new();
        waiting.remove(Key::from_raw(id), NOWHERE, |event| removed.push(event));
        args(&removed)
    }

    fn args<'a>(events: impl IntoIterator<Item = &'a UserEvent>) -> Vec<u64> {
        events.into_iter().map(|event| event.written.arg).collect()
    }

    #[test]
    fn whichever_bell_is_heard_the_oldest_event_is_taken() {
        let mut waiting = waiting(&[ONE, OTHER, ONE], 3);
        assert_eq!(waiting.take(1).unwrap().written.arg, 0);
        assert_eq!(waiting.take(0).unwrap().written.arg, 1);
        assert!(waiting.take(1).is_none(), "it was answered");
        assert_eq!(waiting.take(2).unwrap().written.arg, 2);
        assert!(waiting.events.is_empty() && waiting.bells.is_empty());
    }

    #[test]
    fn the_events_of_an_id_go_with_the_bells_in_their_places() {
        let mut waiting = waiting(&[ONE, OTHER, ONE, OTHER], 4);
        assert_eq!(removed(&mut waiting, ONE), [0, 2]);
        assert_eq!(args(&waiting.events), [1, 3]);
        assert_eq!(waiting.bells, [1, 3]);
        assert!(waiting.take(0).is_none());
        assert_eq!(waiting.take(3).unwrap().written.arg, 1);
    }

    #[test]
    fn bells_that_are_set_free_serve_events_that_had_none() {
        let mut waiting = waiting(&[ONE, OTHER, ONE, OTHER, OTHER], 4);
        assert_eq!(removed(&mut waiting, ONE), [0, 2]);
        assert_eq!(args(&waiting.events), [1, 3, 4]);
        assert_eq!(waiting.bells, [1, 2, 3]);
    }

    #[test]
    fn an_event_without_a_bell_stays_until_one_can_be_hung() {
        let mut waiting = waiting(&[ONE, ONE], 1);
        assert_eq!(waiting.hang(NOWHERE), Err(Errno::EBADF));
        assert_eq!(waiting.take(0).unwrap().written.arg, 0);
        waiting.refill(NOWHERE);
        assert_eq!(args(&waiting.events), [1]);
        assert!(waiting.bells.is_empty());
    }
}
