// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What the whole process shares, while it forks: nobody else is in there, so that it is whole in the child.

use super::devices::{self, List};
use super::multicast::MEMBERSHIPS;
use super::uid::IDS;
use super::unacknowledged::{self, Taken};
use crate::errno::Result;
use crate::sync::{Guard, Held};
use crate::sys::process::AtFork;
use std::cell::Cell;
use std::mem::ManuallyDrop;

type All = (Held<'static>, Held<'static>, Guard<'static, Vec<List>>, Guard<'static, Vec<Taken>>);

thread_local! {
    /// Nothing of it is to be done when the thread ends, which would take memory to remember.
    static HELD: Cell<Option<ManuallyDrop<All>>> = const { Cell::new(None) };
}

/// From now on; the pool of devices sees to itself. ENOMEM without memory to remember that.
pub fn prepare() -> Result<()> {
    static AT_FORK: AtFork = AtFork::new(Some(before), Some(after), Some(in_child));
    AT_FORK.remember()
}

extern "C" fn before() {
    let all = (IDS.hold(), MEMBERSHIPS.hold(), devices::hold(), unacknowledged::hold());
    HELD.set(Some(ManuallyDrop::new(all)));
}

extern "C" fn after() {
    drop(HELD.take().map(ManuallyDrop::into_inner));
}

extern "C" fn in_child() {
    after();
    IDS.forget_look_ups();
    MEMBERSHIPS.forget_look_ups();
}
