// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Accepting: who comes over RDMA, and who comes over TCP.

use crate::description::Kind;
use crate::rdma::{self, raccept, rgetsockopt, rpoll};
use crate::table::{self, Held};
use crate::{errno, fork, real, sockets, thread};
use core::sync::atomic::Ordering;
use libc::{c_int, pollfd, sockaddr, socklen_t, timeval};

const FLAGS: c_int = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
/// What becomes of descriptors that are watched but for the moment have nothing to say.
const NONE: pollfd = pollfd { fd: -1, events: libc::POLLIN, revents: 0 };

#[unsafe(no_mangle)]
pub unsafe extern "C" fn accept4(
    number: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
    flags: c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let Some(held) = table::find(number) else { return of_kernel(number, address, length, flags) };
        if flags & !FLAGS != 0 {
            return errno::fail(libc::EINVAL);
        }
        if held.description().is(Kind::Pending) {
            let domain = held.description().domain();
            // A child forked meanwhile could not let it go.
            drop(held);
            let accepted = of_kernel(number, address, length, flags);
            if accepted >= 0 {
                fork::watch(accepted, domain, fork::Stage::Passive);
            }
            return accepted;
        }
        if held.description().is(Kind::Socket) {
            return of_both(number, &held, address, length, flags);
        }
        of_kernel(number, address, length, flags)
    }
}

unsafe fn of_kernel(number: c_int, address: *mut sockaddr, length: *mut socklen_t, flags: c_int) -> c_int {
    // SAFETY: the caller's promise.
    let accepted = unsafe { real::accept4(number, address, length, flags) };
    table::forget(accepted);
    accepted
}

unsafe fn of_both(
    number: c_int,
    held: &Held,
    address: *mut sockaddr,
    length: *mut socklen_t,
    flags: c_int,
) -> c_int {
    let description = held.description();
    let both = description.listens.load(Ordering::Acquire);
    if !both && description.has_tcp() {
        // SAFETY: the caller's promise. Who does not listen is told so.
        return unsafe { raccept(held.key(), address, length) };
    }
    let timeout = if is_nonblocking(number) { 0 } else { limit(held.key()) };
    loop {
        let over_rdma = if description.is_foreign() { NONE } else { pollfd { fd: held.key(), ..NONE } };
        let over_tcp = if both { pollfd { fd: number, ..NONE } } else { NONE };
        let mut watches = [over_rdma, over_tcp];
        // SAFETY: two descriptors.
        match thread::inside(|| unsafe { rpoll(watches.as_mut_ptr(), 2, timeout) }) {
            -1 => return -1,
            0 => return errno::fail(libc::EAGAIN),
            _ => {}
        }
        let [over_rdma, over_tcp] = watches;
        // SAFETY: the caller's promise.
        let accepted = unsafe {
            if over_rdma.revents != 0 {
                of_rdma(held, address, length, flags)
            } else {
                one_of_kernel(held, over_tcp.fd, address, length, flags)
            }
        };
        // Somebody else may have been faster.
        if accepted >= 0 || errno::get() != libc::EAGAIN {
            return accepted;
        }
    }
}

unsafe fn of_rdma(held: &Held, address: *mut sockaddr, length: *mut socklen_t, flags: c_int) -> c_int {
    let description = held.description();
    // First, since a connection that was taken cannot be given back.
    let number = sockets::of_kernel(description.domain(), description.type_() | flags, 0);
    if number < 0 {
        return number;
    }
    // SAFETY: the caller's promise.
    let socket = thread::inside(|| unsafe { raccept(held.key(), address, length) });
    if socket >= 0 {
        rdma::set_nonblocking(socket, flags & libc::SOCK_NONBLOCK != 0);
        if sockets::publish(number, socket, description.domain(), description.type_()) {
            return number;
        }
        errno::set(libc::ENOMEM);
    }
    // SAFETY: nobody else knows it.
    errno::kept(|| unsafe { real::close(number) });
    -1
}

/// Accepts only what is there: threads of this process take turns, so that none waits in the kernel, deaf to the other
/// kind.
unsafe fn one_of_kernel(
    held: &Held,
    number: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
    flags: c_int,
) -> c_int {
    held.description().accepting.locked(|| {
        let mut watch = pollfd { fd: number, ..NONE };
        // SAFETY: one descriptor; the caller's promise.
        unsafe {
            match real::poll(&mut watch, 1, 0) {
                1 => of_kernel(number, address, length, flags),
                0 => errno::fail(libc::EAGAIN),
                failed => failed,
            }
        }
    })
}

fn is_nonblocking(number: c_int) -> bool {
    // SAFETY: a number.
    unsafe { real::fcntl(number, libc::F_GETFL, 0) & libc::O_NONBLOCK != 0 }
}

/// How long it may take, in ms. -1 if there is no limit.
fn limit(socket: c_int) -> c_int {
    let mut time = timeval { tv_sec: 0, tv_usec: 0 };
    let mut length = size_of::<timeval>() as socklen_t;
    // SAFETY: a value as long as said.
    unsafe {
        rgetsockopt(socket, libc::SOL_SOCKET, libc::SO_RCVTIMEO, (&raw mut time).cast(), &mut length);
    }
    match time.tv_sec.saturating_mul(1000).saturating_add(time.tv_usec / 1000) {
        0 => -1,
        ms => c_int::try_from(ms).unwrap_or(c_int::MAX),
    }
}
