// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! For diagnostics: a line for each event that is taken, and which of them nobody has acknowledged. Nothing is remembered
//! while diagnostics are off.

use super::event::Handed;
use super::id::CmId;
use super::name;
use crate::ctypes::rdma_cm_event_type;
use crate::diag::{self, Level};
use crate::sync::{Guard, Lock};
use crate::sys::{clock, thread};
use std::time::Duration;

/// An event that a thread has taken.
pub struct Taken {
    event: Handed,
    thread: i32,
    when: Duration,
}

/// Without memory an event is not in here.
static TAKEN: Lock<Vec<Taken>> = Lock::new(Vec::new());

/// Most events that one wait is explained by.
const TOLD_MAX: usize = 4;

/// Nobody else gets in there.
pub fn hold() -> Guard<'static, Vec<Taken>> {
    TAKEN.lock()
}

/// The calling thread has taken that event.
#[inline]
pub fn note(event: Handed) -> Handed {
    if diag::enabled() {
        remember(event);
    }
    event
}

#[cold]
#[inline(never)]
fn remember(event: Handed) {
    if diag::wants(Level::Event) {
        say(event);
    }
    let new = Taken { event, thread: thread::number(), when: clock::now() };
    let mut taken = TAKEN.lock();
    // One that was put off may be known already.
    if let Some(known) = taken.iter_mut().find(|known| known.event == event) {
        *known = new;
    } else if taken.try_reserve(1).is_ok() {
        taken.push(new);
    }
}

fn say(event: Handed) {
    let (kind, status) = event.kind_and_status();
    let kind = kind_name(kind);
    let id = event.id();
    let (address, number) = (CmId::for_application(&id), id.handle());
    match event.listener() {
        None => diag::line(format_args!("event {kind}, status {status}, id {address:p} (kernel: {number})")),
        Some(listener) => diag::line(format_args!(
            "event {kind}, status {status}, id {address:p} (kernel: {number}), listener {:p} (kernel: {})",
            CmId::for_application(&listener),
            listener.handle()
        )),
    }
}

/// It is about to be acknowledged.
#[inline]
pub fn forget(event: Handed) {
    if diag::enabled() {
        forget_known(event);
    }
}

#[cold]
#[inline(never)]
fn forget_known(event: Handed) {
    let mut taken = TAKEN.lock();
    if let Some(position) = taken.iter().position(|known| known.event == event) {
        taken.swap_remove(position);
    }
}

/// Says which of the events that are `awaited` are not acknowledged, though a thread waits for that in `call`.
pub fn tell(call: &str, id: &CmId, awaited: impl Fn(Handed) -> bool) {
    let mut told: [Option<(rdma_cm_event_type, i32, Duration)>; TOLD_MAX] = [None; TOLD_MAX];
    let taken = TAKEN.lock();
    // An event in here is open as long as nobody gets in.
    let open = taken.iter().filter(|known| known.thread != thread::number() && awaited(known.event));
    for (place, known) in told.iter_mut().zip(open) {
        *place = Some((known.event.kind_and_status().0, known.thread, known.when));
    }
    drop(taken);
    let address = std::ptr::from_ref(id);
    if told.iter().all(Option::is_none) {
        diag::line(format_args!("{call} of id {address:p} waits for an event that is not acknowledged"));
    }
    for (kind, thread, when) in told.into_iter().flatten() {
        diag::line(format_args!(
            "{call} of id {address:p} waits: {} is not acknowledged, which thread {thread} took {} s ago",
            kind_name(kind),
            clock::now().saturating_sub(when).as_secs()
        ));
    }
}

fn kind_name(kind: rdma_cm_event_type) -> &'static str {
    name::of_event(kind).to_str().unwrap_or_default()
}
