// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The operating system. Every call goes through a symbol of libc, never a raw system call, so that simulators,
//! valgrind and preloaded shims see what the library does.

mod atomic {
    pub use std::sync::atomic::{AtomicU64, Ordering};
}
pub mod bell;
pub mod clock;
pub mod descriptor;
pub mod device;
pub mod environment;
pub mod epoll;
pub mod files;
mod holder;
pub mod iovec;
pub mod journal;
pub mod local;
pub mod memory;
pub mod names;
pub mod netlink;
pub mod nodes;
pub mod number;
pub mod pages;
pub mod park;
pub mod process;
mod restart;
pub mod stream;
pub mod symbol;
pub mod thread;
pub mod thread_end;
pub mod udp;
pub mod uverbs;
