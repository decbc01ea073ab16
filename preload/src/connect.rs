// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Connecting: over RDMA, else over TCP.

use crate::description::Kind;
use crate::rdma::{self, rconnect, rfcntl, rgetsockopt};
use crate::table::{self, Held};
use crate::timeout::Deadline;
use crate::{errno, fork, real, sockets, thread};
use libc::{c_int, pollfd, sockaddr, socklen_t};

/// How long a socket that does not wait is watched, in ms: if there is no way over RDMA that mostly shows at once.
const PATIENCE: c_int = 1000;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn connect(number: c_int, address: *const sockaddr, length: socklen_t) -> c_int {
    if let Some(held) = table::find(number) {
        if held.description().is(Kind::Pending) {
            fork::connects(held.description());
        } else if held.description().is(Kind::Socket) {
            // SAFETY: the caller's promise.
            let result = thread::inside(|| unsafe { over_rdma(&held, address, length) });
            if result == 0 || !held.description().has_tcp() || is_final(errno::get()) {
                return result;
            }
            sockets::leave_rdma(&held);
        }
    }
    // SAFETY: the caller's promise.
    unsafe { real::connect(number, address, length) }
}

/// Errors after which TCP has nothing to say.
fn is_final(error: c_int) -> bool {
    [libc::EINPROGRESS, libc::EALREADY, libc::EISCONN, libc::EINTR, libc::EFAULT].contains(&error)
}

unsafe fn over_rdma(held: &Held, address: *const sockaddr, length: socklen_t) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let result = rconnect(held.key(), address, length);
        let flags = errno::kept(|| rfcntl(held.key(), libc::F_GETFL, 0));
        if result == 0 || errno::get() != libc::EINPROGRESS || flags & libc::O_NONBLOCK == 0 {
            return result;
        }
    }
    match result_until(held.key(), Deadline::after_ms(PATIENCE)) {
        Some(0) => 0,
        Some(error) => errno::fail(error),
        None => errno::fail(libc::EINPROGRESS),
    }
}

/// Whether the socket is connected in time: 0 or an error. None if that is not known by then.
pub fn result_until(socket: c_int, deadline: Deadline) -> Option<c_int> {
    let watch = pollfd { fd: socket, events: libc::POLLOUT, revents: 0 };
    let mut error: c_int = 0;
    let mut length = size_of::<c_int>() as socklen_t;
    if rdma::wait_until(&mut [watch], deadline) != 1 {
        return None;
    }
    // SAFETY: a value as long as said.
    unsafe { rgetsockopt(socket, libc::SOL_SOCKET, libc::SO_ERROR, (&raw mut error).cast(), &mut length) };
    Some(error)
}
