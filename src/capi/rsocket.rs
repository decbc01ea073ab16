// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Sockets over RDMA.

use crate::rsocket;
use libc::{nfds_t, pollfd};
use std::ffi::c_int;

/// Waits until one of the descriptors is ready, as poll(2).
///
/// # Errors
///
/// As poll(2).
///
/// # Safety
///
/// As poll(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpoll(fds: *mut pollfd, nfds: nfds_t, timeout: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { rsocket::poll(fds, nfds, timeout) }
}
