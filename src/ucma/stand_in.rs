// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! In place of the kernel, in tests: a function answers the commands of the calling thread.

use crate::errno::Result;
use crate::sync::Lock;
use std::cell::RefCell;

/// Answers a message (header and body) by filling the reply. Returns the bytes taken.
pub type Kernel = Box<dyn FnMut(&[u8], &mut [u8]) -> Result<usize>>;

thread_local! {
    static KERNEL: RefCell<Option<Kernel>> = const { RefCell::new(None) };
}

/// Does work whose commands go to `kernel`; the connection manager's node is there, and opens. One at a time in the
/// process, which keeps what it finds out about its kernel.
pub fn with<R>(kernel: Kernel, work: impl FnOnce() -> R) -> R {
    static ONE: Lock<()> = Lock::new(());
    let _one = ONE.lock();
    KERNEL.set(Some(kernel));
    let result = work();
    KERNEL.set(None);
    result
}

/// Whether the calling thread has a stand-in.
pub fn is_there() -> bool {
    KERNEL.with_borrow(Option::is_some)
}

/// What the stand-in answers; None without one.
pub fn submit(message: &[u8], reply: &mut [u8]) -> Option<Result<usize>> {
    KERNEL.with_borrow_mut(|kernel| kernel.as_mut().map(|kernel| kernel(message, reply)))
}
