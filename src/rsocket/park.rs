// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What a thread owns while it sleeps. A thread that is cancelled runs no destructors of its stack, but those of its
//! thread-local storage.

use crate::errno::{Errno, Result};
use std::cell::Cell;
use std::thread::LocalKey;

/// Does `work`, in which the thread may be cancelled, while what it owns is in the storage. ECANCELED for a thread that is
/// past the end of its storage, or whose place was taken away meanwhile.
pub fn parked<T, R>(
    storage: &'static LocalKey<Cell<Option<T>>>,
    own: T,
    work: impl FnOnce() -> R,
) -> Result<(T, R)> {
    // A signal handler may wait on a socket of its own: what was parked before comes back afterwards.
    let outer = storage.try_with(|parked| parked.replace(Some(own))).map_err(|_| Errno::ECANCELED)?;
    let result = work();
    let own = storage.try_with(|parked| parked.replace(outer)).ok().flatten();
    own.map(|own| (own, result)).ok_or(Errno::ECANCELED)
}
