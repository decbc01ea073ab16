// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! A lock for a few instructions or calls that do not wait.

use core::sync::atomic::{AtomicI32, Ordering};

/// Unlocked with all bits 0; else the process that holds it. A process that was forked while a thread of the parent held
/// it finds it free: that thread does not exist there.
#[repr(transparent)]
pub struct Lock(AtomicI32);

impl Lock {
    /// Does the work while nobody else does any under the same lock.
    pub fn locked<R>(&self, work: impl FnOnce() -> R) -> R {
        // SAFETY: always possible.
        let own = unsafe { libc::getpid() };
        let mut free = 0;
        while let Err(holder) = self.0.compare_exchange(free, own, Ordering::Acquire, Ordering::Relaxed) {
            free = if holder == own { 0 } else { holder };
            if holder == own {
                // SAFETY: always possible.
                unsafe { libc::sched_yield() };
            }
        }
        let result = work();
        self.0.store(0, Ordering::Release);
        result
    }
}
