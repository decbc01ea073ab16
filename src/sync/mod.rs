// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Locks, counted references and tables. Everything above takes them from here, so that they can be swapped for models
//! (`tests/models`).

/// Atomic values.
pub mod atomic {
    pub use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
}
mod cell;
mod lock;
mod numbers;
#[allow(unsafe_code, reason = "memory that is counted")]
mod shared;
#[allow(unsafe_code, reason = "a look-up without a lock")]
mod table;
#[allow(unsafe_code, reason = "memory that is counted")]
mod weak;

pub use lock::{Condition, Guard, Lock};
pub use numbers::Numbers;
pub use shared::Shared;
pub use table::{Held, Key, Table};
pub use weak::Weak;
