// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The account of an id's events: whoever waits for them is woken, in every order of threads.

use loom::sync::Arc;
use loom::thread;
use rdmacm_models::ledger::Ledger;
use rdmacm_models::sys::thread::current;

#[test]
fn an_acknowledgement_wakes_who_waits() {
    loom::model(|| {
        let ledger = Arc::new(Ledger::default());
        let other = thread::spawn({
            let ledger = ledger.clone();
            move || {
                ledger.hand_out(current());
                ledger.acknowledge(current());
            }
        });
        ledger.settle(1, || ());
        other.join().unwrap();
    });
}

#[test]
fn an_event_that_is_not_delivered_wakes_who_waits() {
    loom::model(|| {
        let ledger = Arc::new(Ledger::default());
        let other = thread::spawn({
            let ledger = ledger.clone();
            move || ledger.discard()
        });
        ledger.settle(1, || ());
        other.join().unwrap();
    });
}

#[test]
fn own_events_do_not_hold_up_while_others_are_acknowledged() {
    loom::model(|| {
        let ledger = Arc::new(Ledger::default());
        ledger.hand_out(current());
        let other = thread::spawn({
            let ledger = ledger.clone();
            move || {
                ledger.hand_out(current());
                ledger.acknowledge(current());
            }
        });
        ledger.settle(2, || ());
        ledger.acknowledge(current());
        other.join().unwrap();
        ledger.settle(2, || ());
    });
}

#[test]
fn an_event_that_is_passed_on_is_acknowledged_once() {
    loom::model(|| {
        let ledger = Arc::new(Ledger::default());
        let first = current();
        ledger.hand_out(first);
        let other = thread::spawn({
            let ledger = ledger.clone();
            move || {
                ledger.pass_on(first, current());
                ledger.acknowledge(current());
            }
        });
        ledger.settle(1, || ());
        other.join().unwrap();
        ledger.settle(1, || ());
    });
}

#[test]
fn two_that_wait_are_woken() {
    // Of three threads there are too many orders for all.
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let ledger = Arc::new(Ledger::default());
        let waiting = thread::spawn({
            let ledger = ledger.clone();
            move || ledger.settle(1, || ())
        });
        let acknowledging = thread::spawn({
            let ledger = ledger.clone();
            move || ledger.discard()
        });
        ledger.settle(1, || ());
        waiting.join().unwrap();
        acknowledging.join().unwrap();
    });
}
