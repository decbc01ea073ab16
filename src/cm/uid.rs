// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The numbers that the kernel hands back with each event, and what they stand for.

use super::id::CmId;
use crate::sync::{Shared, Table};

/// Every id of this process.
pub static IDS: Table<Shared<CmId>> = Table::new();

/// Numbers for hidden ids, which the application never sees. The table gives none of them out.
pub mod hidden {
    /// The kernel queues no event for an id with this number.
    pub const SILENT: u64 = 0;
    /// Its event brings a user event (`bell`).
    pub const BELL: u64 = u64::MAX;
    /// Its event does no more than wake a thread.
    pub const WAKE_UP: u64 = u64::MAX - 1;
}

/// A number of the kernel's own that no id has. A kernel that has a command answers ENOENT for it; one that does not,
/// EINVAL as for every unknown command.
pub const NO_ID: u32 = u32::MAX;

/// The id that the kernel knows by this number of its own.
pub fn id_of_kernel(handle: u32) -> Option<Shared<CmId>> {
    IDS.find(|id| id.handle() == handle)
}
