// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The library's own sources of what threads share, on loom's threads, locks and atomic values.

#[path = "../../../src/errno.rs"]
pub mod errno;
#[path = "../../../src/cm/ledger.rs"]
pub mod ledger;

pub mod sync {
    pub mod atomic;
    mod cell {
        pub use loom::cell::UnsafeCell as SharedCell;
        pub use loom::thread::yield_now;
    }
    mod lock;
    #[path = "../../../../src/sync/table.rs"]
    mod table;

    pub use lock::{Condition, Guard, Lock};
    pub use table::{Held, Key, Table};
}

pub mod sys {
    use crate::sync::atomic;
    #[path = "../../../../src/sys/holder.rs"]
    mod holder;
    pub mod thread;
}

pub mod diag {
    pub fn enabled() -> bool {
        false
    }
}
