// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What all sockets share, while the process forks: nobody else is in there, so that it is whole in the child.

use super::arena::{self, Kept};
use super::service::{self, Running};
use super::{repoll, socket};
use crate::cm;
use crate::errno::Result;
use crate::sync::{Guard, Held};
use crate::sys::process::AtFork;
use std::cell::Cell;
use std::mem::ManuallyDrop;

type All = (
    Guard<'static, Option<Running>>,
    Guard<'static, Kept>,
    Guard<'static, ()>,
    Guard<'static, ()>,
    Held<'static>,
);

thread_local! {
    /// Nothing of it is to be done when the thread ends, which would take memory to remember.
    static HELD: Cell<Option<ManuallyDrop<All>>> = const { Cell::new(None) };
}

/// From now on. ENOMEM without memory to remember that.
pub fn prepare() -> Result<()> {
    static AT_FORK: AtFork = AtFork::new(Some(before), Some(after), Some(in_child));
    AT_FORK.remember()?;
    cm::forks::prepare()
}

extern "C" fn before() {
    let all =
        (service::hold(), arena::hold(), socket::SOCKETS.hold(), repoll::SETS.hold(), repoll::PLACES.hold());
    HELD.set(Some(ManuallyDrop::new(all)));
}

extern "C" fn after() {
    drop(HELD.take().map(ManuallyDrop::into_inner));
}

extern "C" fn in_child() {
    after();
    socket::SOCKETS.forget_look_ups();
    repoll::SETS.forget_look_ups();
    repoll::PLACES.forget_look_ups();
}
