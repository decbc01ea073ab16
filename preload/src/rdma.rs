// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What this object uses of librdmacm: nothing but functions of `<rdma/rsocket.h>`.

use crate::errno;
use crate::timeout::Deadline;
use libc::{c_int, c_void, epoll_event, iovec, msghdr, nfds_t, pollfd, size_t, sockaddr, socklen_t, ssize_t};

/// Level of the options below.
pub const SOL_RDMA: c_int = 0x10000;
/// Sends that can be outstanding.
pub const RDMA_SQSIZE: c_int = 0;
/// Messages that can be on their way here.
pub const RDMA_RQSIZE: c_int = 1;
/// Bytes up to which data is sent without a copy.
pub const RDMA_INLINE: c_int = 2;
/// Addresses of InfiniBand.
pub const AF_IB: c_int = 27;

unsafe extern "C" {
    pub fn rsocket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    pub fn rbind(socket: c_int, address: *const sockaddr, length: socklen_t) -> c_int;
    pub fn rlisten(socket: c_int, backlog: c_int) -> c_int;
    pub fn raccept(socket: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int;
    pub fn rconnect(socket: c_int, address: *const sockaddr, length: socklen_t) -> c_int;
    pub fn rshutdown(socket: c_int, how: c_int) -> c_int;
    pub fn rclose(socket: c_int) -> c_int;
    pub fn rrecv(socket: c_int, data: *mut c_void, length: size_t, flags: c_int) -> ssize_t;
    pub fn rrecvfrom(
        socket: c_int,
        data: *mut c_void,
        length: size_t,
        flags: c_int,
        address: *mut sockaddr,
        size: *mut socklen_t,
    ) -> ssize_t;
    pub fn rrecvmsg(socket: c_int, message: *mut msghdr, flags: c_int) -> ssize_t;
    pub fn rread(socket: c_int, data: *mut c_void, count: size_t) -> ssize_t;
    pub fn rreadv(socket: c_int, pieces: *const iovec, count: c_int) -> ssize_t;
    pub fn rsend(socket: c_int, data: *const c_void, length: size_t, flags: c_int) -> ssize_t;
    pub fn rsendto(
        socket: c_int,
        data: *const c_void,
        length: size_t,
        flags: c_int,
        address: *const sockaddr,
        size: socklen_t,
    ) -> ssize_t;
    pub fn rsendmsg(socket: c_int, message: *const msghdr, flags: c_int) -> ssize_t;
    pub fn rwrite(socket: c_int, data: *const c_void, count: size_t) -> ssize_t;
    pub fn rwritev(socket: c_int, pieces: *const iovec, count: c_int) -> ssize_t;
    pub fn rpoll(list: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int;
    pub fn rgetpeername(socket: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int;
    pub fn rgetsockname(socket: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int;
    pub fn rsetsockopt(
        socket: c_int,
        level: c_int,
        name: c_int,
        value: *const c_void,
        length: socklen_t,
    ) -> c_int;
    pub fn rgetsockopt(
        socket: c_int,
        level: c_int,
        name: c_int,
        value: *mut c_void,
        length: *mut socklen_t,
    ) -> c_int;
    pub fn rfcntl(socket: c_int, command: c_int, ...) -> c_int;
    pub fn repoll_create(flags: c_int) -> c_int;
    pub fn repoll_ctl(set: c_int, operation: c_int, socket: c_int, event: *mut epoll_event) -> c_int;
    pub fn repoll_wait(set: c_int, events: *mut epoll_event, most: c_int, timeout: c_int) -> c_int;
}

/// As rpoll(), but signals do not end it.
pub fn wait_until(list: &mut [pollfd], deadline: Deadline) -> c_int {
    loop {
        // SAFETY: so many descriptors.
        let ready = unsafe { rpoll(list.as_mut_ptr(), list.len() as nfds_t, deadline.left_ms()) };
        if ready >= 0 || errno::get() != libc::EINTR {
            return ready;
        }
    }
}

/// Whether calls on the socket return at once.
pub fn set_nonblocking(socket: c_int, on: bool) {
    // SAFETY: a number and flags.
    unsafe { rfcntl(socket, libc::F_SETFL, if on { libc::O_NONBLOCK } else { 0 }) };
}
