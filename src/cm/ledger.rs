// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The account of an id's events: how many were handed to the application and who holds them.
//!
//! `rdma_destroy_id` and `rdma_migrate_id` wait until every event that the kernel has reported is acknowledged, as
//! their pages promise. An event that the waiting thread holds itself is excepted: it could never be acknowledged.

use crate::diag;
use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::{Condition, Lock};
use crate::sys::thread::{self, AtomicHolder, Token};
use std::time::Duration;

/// How long a thread waits before that is told, if diagnostics are on.
const PATIENCE: Duration = Duration::from_secs(5);

/// See the module.
#[derive(Default)]
pub struct Ledger {
    /// Events that the kernel has reported and that need no acknowledgement any more. Wraps as the kernel's does.
    done: AtomicU32,
    /// Events that were taken without the kernel counting them for the id. Wraps too.
    uncounted: AtomicU32,
    /// The holder of one event in the application's hands: mostly there is no more than one.
    holder: AtomicHolder,
    /// The holders of all others.
    holders: Lock<Vec<Token>>,
    /// Threads in [`Ledger::settle`], which [`Ledger::changed`] wakes.
    waiting: AtomicU32,
    changed: Condition,
}

impl Ledger {
    /// A thread is about to get an event that the kernel does not count for the id.
    pub fn expect(&self) {
        self.uncounted.fetch_add(1, Ordering::SeqCst);
    }

    /// A thread gets an event.
    #[inline]
    pub fn hand_out(&self, holder: Token) {
        if !self.holder.replace(None, Some(holder)) {
            self.hand_out_another(holder);
        }
    }

    #[cold]
    fn hand_out_another(&self, holder: Token) {
        let mut holders = self.holders.lock();
        // Without memory the event has no known holder, and everybody waits for it.
        if holders.try_reserve(1).is_ok() {
            holders.push(holder);
        }
    }

    /// An event goes from one thread to another.
    pub fn pass_on(&self, from: Token, to: Token) {
        if self.holder.replace(Some(from), Some(to)) {
            return;
        }
        if let Some(held) = self.holders.lock().iter_mut().find(|held| **held == from) {
            *held = to;
        }
    }

    /// An event that `holder` got is acknowledged, by whichever thread.
    #[inline]
    pub fn acknowledge(&self, holder: Token) {
        if !self.holder.replace(Some(holder), None) {
            self.acknowledge_another(holder);
        }
        self.discard();
    }

    #[cold]
    fn acknowledge_another(&self, holder: Token) {
        let mut holders = self.holders.lock();
        if let Some(position) = holders.iter().rposition(|held| *held == holder) {
            holders.swap_remove(position);
        }
    }

    /// An event that the kernel reported is not handed to the application, or is acknowledged.
    #[inline]
    pub fn discard(&self) {
        self.done.fetch_add(1, Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            self.wake_waiting();
        }
    }

    #[cold]
    fn wake_waiting(&self) {
        // A thread that has just looked and is about to sleep holds the lock.
        drop(self.holders.lock());
        self.changed.wake_all();
    }

    /// Events that are not done, whoever holds them; negative if the kernel reports too few.
    fn unacknowledged(&self, reported: u32) -> i32 {
        let taken = reported.wrapping_add(self.uncounted.load(Ordering::SeqCst));
        taken.wrapping_sub(self.done.load(Ordering::SeqCst)) as i32
    }

    fn open(&self, reported: u32, holders: &[Token]) -> bool {
        let me = thread::current();
        let own =
            usize::from(self.holder.get() == Some(me)) + holders.iter().filter(|held| **held == me).count();
        usize::try_from(self.unacknowledged(reported)).is_ok_and(|unacknowledged| unacknowledged > own)
    }

    /// Waits until all events, those `reported` by the kernel and the uncounted ones, are acknowledged or held by the
    /// calling thread. If that takes long and diagnostics are on, `tell` is called once, without a lock.
    pub fn settle(&self, reported: u32, tell: impl FnOnce()) {
        if self.unacknowledged(reported) <= 0 {
            return;
        }
        let mut holders = self.holders.lock();
        if !self.open(reported, &holders) {
            return;
        }
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let open = |holders: &mut Vec<Token>| self.open(reported, holders);
        if diag::enabled() {
            holders = self.changed.wait_while_for(holders, PATIENCE, open);
            if self.open(reported, &holders) {
                drop(holders);
                tell();
                holders = self.holders.lock();
            }
        }
        drop(self.changed.wait_while(holders, open));
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::thread::{sleep, spawn};

    #[test]
    fn nothing_reported_is_nothing_to_wait_for() {
        Ledger::default().settle(0, || ());
    }

    #[test]
    fn own_events_are_not_waited_for() {
        let ledger = Ledger::default();
        ledger.hand_out(thread::current());
        ledger.hand_out(thread::current());
        ledger.settle(2, || ());
        ledger.acknowledge(thread::current());
        ledger.settle(2, || ());
    }

    #[test]
    fn events_of_another_thread_are_waited_for() {
        let ledger = Arc::new(Ledger::default());
        let done = Arc::new(AtomicBool::new(false));
        ledger.hand_out(thread::current());
        let other = spawn({
            let (ledger, done) = (Arc::clone(&ledger), Arc::clone(&done));
            move || {
                let me = thread::current();
                ledger.hand_out(me);
                while ledger.waiting.load(Ordering::SeqCst) == 0 {
                    sleep(Duration::from_millis(1));
                }
                done.store(true, Ordering::SeqCst);
                ledger.acknowledge(me);
            }
        });
        while ledger.holders.lock().is_empty() {
            sleep(Duration::from_millis(1));
        }
        ledger.settle(2, || ());
        assert!(done.load(Ordering::SeqCst));
        other.join().unwrap();
    }

    #[test]
    fn an_event_on_its_way_to_another_thread_is_waited_for() {
        let ledger = Arc::new(Ledger::default());
        let other = spawn({
            let ledger = Arc::clone(&ledger);
            move || {
                while ledger.waiting.load(Ordering::SeqCst) == 0 {
                    sleep(Duration::from_millis(1));
                }
                ledger.discard();
            }
        });
        ledger.settle(1, || ());
        assert_eq!(ledger.done.load(Ordering::SeqCst), 1);
        other.join().unwrap();
    }

    #[test]
    fn events_that_the_kernel_does_not_count_are_waited_for_as_well() {
        let ledger = Ledger::default();
        ledger.expect();
        assert!(ledger.open(0, &[]));
        ledger.hand_out(thread::current());
        ledger.settle(0, || ());
        ledger.acknowledge(thread::current());
        assert!(!ledger.open(0, &[]));
        assert!(ledger.open(1, &[]));
    }

    #[test]
    fn the_count_wraps() {
        let ledger = Ledger::default();
        ledger.done.store(u32::MAX, Ordering::SeqCst);
        ledger.discard();
        ledger.settle(0, || ());
        ledger.hand_out(thread::current());
        ledger.settle(1, || ());
    }
}
