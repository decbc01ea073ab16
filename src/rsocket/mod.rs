// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Sockets over RDMA. None can be made yet, so every descriptor is the kernel's.

use std::ffi::c_int;

/// Waits until a descriptor is ready: `poll(2)`, `errno` and cancellation included.
///
/// # Safety
///
/// That many structs stand at the pointer.
pub unsafe fn poll(fds: *mut libc::pollfd, count: libc::nfds_t, timeout_ms: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { libc::poll(fds, count, timeout_ms) }
}
