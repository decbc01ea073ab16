// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What the compiler calls instead, where it knows the size of the buffer (`_FORTIFY_SOURCE`).

use crate::{poll, transfer};
use libc::{c_int, c_void, nfds_t, pollfd, sigset_t, size_t, sockaddr, socklen_t, ssize_t, timespec};

unsafe extern "C" {
    fn __chk_fail() -> !;
}

/// Ends the process if the buffer is too small.
fn check(wanted: size_t, size: size_t) {
    if wanted > size {
        // SAFETY: always possible.
        unsafe { __chk_fail() }
    }
}

/// The same for a list of descriptors.
fn check_list(count: nfds_t, size: size_t) {
    check((count as usize).saturating_mul(size_of::<pollfd>()), size);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __read_chk(
    number: c_int,
    data: *mut c_void,
    count: size_t,
    size: size_t,
) -> ssize_t {
    check(count, size);
    // SAFETY: the caller's promise.
    unsafe { transfer::read(number, data, count) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __recv_chk(
    number: c_int,
    data: *mut c_void,
    length: size_t,
    size: size_t,
    flags: c_int,
) -> ssize_t {
    check(length, size);
    // SAFETY: the caller's promise.
    unsafe { transfer::recv(number, data, length, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __recvfrom_chk(
    number: c_int,
    data: *mut c_void,
    length: size_t,
    size: size_t,
    flags: c_int,
    address: *mut sockaddr,
    address_size: *mut socklen_t,
) -> ssize_t {
    check(length, size);
    // SAFETY: the caller's promise.
    unsafe { transfer::recvfrom(number, data, length, flags, address, address_size) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __poll_chk(list: *mut pollfd, count: nfds_t, timeout: c_int, size: size_t) -> c_int {
    check_list(count, size);
    // SAFETY: the caller's promise.
    unsafe { poll::poll(list, count, timeout) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __ppoll_chk(
    list: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
    size: size_t,
) -> c_int {
    check_list(count, size);
    // SAFETY: the caller's promise.
    unsafe { poll::ppoll(list, count, timeout, mask) }
}
