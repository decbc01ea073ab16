// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The account of an id's events: how many were handed to the application and who holds them.
//!
//! `rdma_destroy_id` and `rdma_migrate_id` wait until every event that the kernel has reported is acknowledged, as
//! their pages promise. An event that the waiting thread holds itself is excepted: it could never be acknowledged.

use crate::diag;
use crate::sync::{Condition, Lock};
use crate::sys::thread::{self, Token};
use std::time::Duration;

/// How long a thread waits before it says so, if diagnostics are on.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Default)]
struct Account {
    /// Events that the kernel has reported and that need no acknowledgement any more. Wraps as the kernel's does.
    done: u32,
    /// Events that were taken without the kernel counting them for the id. Wraps too.
    uncounted: u32,
    /// The holder of each event in the application's hands.
    held: Vec<Token>,
    /// Threads in [`Ledger::settle`].
    waiting: u32,
}

/// See the module.
#[derive(Default)]
pub struct Ledger {
    account: Lock<Account>,
    changed: Condition,
}

impl Ledger {
    /// A thread is about to get an event that the kernel does not count for the id.
    pub fn expect(&self) {
        let mut account = self.account.lock();
        account.uncounted = account.uncounted.wrapping_add(1);
    }

    /// A thread gets an event.
    pub fn hand_out(&self, holder: Token) {
        let held = &mut self.account.lock().held;
        // Without memory the event has no known holder, and everybody waits for it.
        if held.try_reserve(1).is_ok() {
            held.push(holder);
        }
    }

    /// The event that `holder` got is acknowledged, by whichever thread.
    pub fn acknowledge(&self, holder: Token) {
        self.close(Some(holder));
    }

    /// An event that the kernel reported is not handed to the application.
    pub fn discard(&self) {
        self.close(None);
    }

    fn close(&self, holder: Option<Token>) {
        let mut account = self.account.lock();
        account.done = account.done.wrapping_add(1);
        if let Some(position) = account.held.iter().rposition(|held| Some(*held) == holder) {
            account.held.swap_remove(position);
        }
        if account.waiting > 0 {
            self.changed.wake_all();
        }
    }

    /// Waits until all events, those `reported` by the kernel and the uncounted ones, are acknowledged or held by the calling thread.
    pub fn settle(&self, reported: u32) {
        let mut account = self.account.lock();
        if !account.open(reported) {
            return;
        }
        account.waiting += 1;
        if diag::enabled() {
            account = self.changed.wait_while_for(account, PATIENCE, |account| account.open(reported));
            if account.open(reported) {
                let holders = &account.held;
                diag::line(format_args!("still waiting for unacknowledged events, held by {holders:?}"));
            }
        }
        account = self.changed.wait_while(account, |account| account.open(reported));
        account.waiting -= 1;
    }
}

impl Account {
    fn open(&self, reported: u32) -> bool {
        let me = thread::current();
        let own = self.held.iter().filter(|holder| **holder == me).count();
        reported.wrapping_add(self.uncounted).wrapping_sub(self.done) as usize > own
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread::{sleep, spawn};

    #[test]
    fn nothing_reported_is_nothing_to_wait_for() {
        Ledger::default().settle(0);
    }

    #[test]
    fn own_events_are_not_waited_for() {
        let ledger = Ledger::default();
        ledger.hand_out(thread::current());
        ledger.hand_out(thread::current());
        ledger.settle(2);
        ledger.acknowledge(thread::current());
        ledger.settle(2);
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
                while ledger.account.lock().waiting == 0 {
                    sleep(Duration::from_millis(1));
                }
                done.store(true, Ordering::SeqCst);
                ledger.acknowledge(me);
            }
        });
        while ledger.account.lock().held.len() < 2 {
            sleep(Duration::from_millis(1));
        }
        ledger.settle(2);
        assert!(done.load(Ordering::SeqCst));
        other.join().unwrap();
    }

    #[test]
    fn an_event_on_its_way_to_another_thread_is_waited_for() {
        let ledger = Arc::new(Ledger::default());
        let other = spawn({
            let ledger = Arc::clone(&ledger);
            move || {
                while ledger.account.lock().waiting == 0 {
                    sleep(Duration::from_millis(1));
                }
                ledger.discard();
            }
        });
        ledger.settle(1);
        assert_eq!(ledger.account.lock().done, 1);
        other.join().unwrap();
    }

    #[test]
    fn events_that_the_kernel_does_not_count_are_waited_for_as_well() {
        let ledger = Ledger::default();
        ledger.expect();
        assert!(ledger.account.lock().open(0));
        ledger.hand_out(thread::current());
        ledger.settle(0);
        ledger.acknowledge(thread::current());
        assert!(!ledger.account.lock().open(0));
        assert!(ledger.account.lock().open(1));
    }

    #[test]
    fn the_count_wraps() {
        let ledger = Ledger::default();
        ledger.account.lock().done = u32::MAX;
        ledger.discard();
        ledger.settle(0);
        ledger.hand_out(thread::current());
        ledger.settle(1);
    }
}
