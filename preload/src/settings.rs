// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What the environment says, and the administrator's file.

use crate::rdma::{RDMA_INLINE, RDMA_RQSIZE, RDMA_SQSIZE, SOL_RDMA, rsetsockopt};
use crate::rules;
use core::ffi::CStr;
use core::sync::atomic::{AtomicI32, Ordering};
use libc::{c_int, socklen_t};

/// An option of sockets over RDMA that the environment sets.
struct Setting {
    variable: &'static CStr,
    option: c_int,
    value: AtomicI32,
}

static SETTINGS: [Setting; 3] = [
    Setting { variable: c"RS_SQ_SIZE", option: RDMA_SQSIZE, value: AtomicI32::new(0) },
    Setting { variable: c"RS_RQ_SIZE", option: RDMA_RQSIZE, value: AtomicI32::new(0) },
    Setting { variable: c"RS_INLINE", option: RDMA_INLINE, value: AtomicI32::new(0) },
];

static WAITS_FOR_FORK: AtomicI32 = AtomicI32::new(0);

/// Reads them, once.
pub fn begin() {
    for setting in &SETTINGS {
        setting.value.store(number(setting.variable), Ordering::Relaxed);
    }
    WAITS_FOR_FORK.store(number(c"RDMAV_FORK_SAFE"), Ordering::Relaxed);
    rules::begin();
}

fn number(variable: &CStr) -> c_int {
    // SAFETY: strings of C.
    unsafe {
        let text = libc::getenv(variable.as_ptr());
        if text.is_null() { 0 } else { libc::atoi(text) }
    }
}

/// Whether connections are made when they are first used, so that a child can do it.
pub fn waits_for_fork() -> bool {
    WAITS_FOR_FORK.load(Ordering::Relaxed) != 0
}

/// Gives a socket the options. What it does not take stays as it is.
pub fn apply(socket: c_int) {
    for setting in &SETTINGS {
        let value = setting.value.load(Ordering::Relaxed);
        if value != 0 {
            // SAFETY: the value is as long as said.
            unsafe {
                rsetsockopt(
                    socket,
                    SOL_RDMA,
                    setting.option,
                    (&raw const value).cast(),
                    size_of::<c_int>() as socklen_t,
                )
            };
        }
    }
}
