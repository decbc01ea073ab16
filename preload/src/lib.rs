// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! librspreload.so: preloaded into a program, it turns the program's stream sockets into sockets over RDMA.
//!
//! It replaces functions of libc, and speaks to librdmacm like any other program, by the C ABI. Without the standard
//! library: that one would call the functions that stand here.
#![no_std]
#![allow(
    unsafe_code,
    clippy::missing_safety_doc,
    reason = "nothing but functions for C, which promise and demand what their namesakes in libc do"
)]

mod accept;
mod buffer;
mod connect;
mod description;
mod duplicates;
mod epoll;
mod errno;
mod files;
mod flags;
mod fork;
mod fortified;
mod lock;
mod members;
mod messages;
mod names;
mod options;
mod poll;
mod process;
mod rdma;
mod real;
mod rules;
mod select;
mod settings;
mod sockets;
mod stdio;
mod table;
mod thread;
mod timeout;
mod transfer;

use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, Ordering};

/// All begins with that, in front of the program's own beginning; with the first socket, if a library of the program begins
/// before and makes one.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

extern "C" fn begin() {
    static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
    if HAS_BEGUN.load(Ordering::Acquire) || HAS_BEGUN.swap(true, Ordering::AcqRel) {
        return;
    }
    process::begin();
    thread::begin();
    settings::begin();
    fork::adopt();
}

/// And ends with that, when the program exits.
#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = end;

extern "C" fn end() {
    sockets::close_all();
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: always possible.
    unsafe { libc::abort() }
}
