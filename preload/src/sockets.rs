// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Making sockets, giving them an address, listening, and ending directions.

use crate::description::Kind;
use crate::names::Name;
use crate::rdma::{AF_IB, rbind, rclose, rlisten, rshutdown, rsocket};
use crate::table::{self, Held};
use crate::timeout::Deadline;
use crate::{epoll, errno, fork, names, rdma, real, rules, settings, thread};
use libc::{c_int, sockaddr, socklen_t};

/// Bits of a type that say which it is; the others are flags.
const TYPE: c_int = 0xf;

/// A socket of the kernel's for a number: of the same family, so that it can take the place of the one over RDMA.
///
/// -1 and errno, as socket(2).
pub fn of_kernel(domain: c_int, type_and_flags: c_int, protocol: c_int) -> c_int {
    // SAFETY: numbers.
    let number = unsafe {
        if domain == AF_IB {
            real::socket(libc::AF_UNIX, type_and_flags, 0)
        } else {
            real::socket(domain, type_and_flags, protocol)
        }
    };
    table::forget(number);
    number
}

/// From now on the number stands for a socket over RDMA, which is closed if that fails.
pub fn publish(number: c_int, socket: c_int, domain: c_int, type_: c_int) -> bool {
    settings::apply(socket);
    let Some(description) = table::make_description(socket) else {
        // SAFETY: nobody else knows it.
        unsafe { rclose(socket) };
        return false;
    };
    description.begin(Kind::Socket, domain, type_);
    let works = table::assign_new(number, socket);
    if !works {
        table::release(socket);
    }
    works
}

#[unsafe(no_mangle)]
pub extern "C" fn socket(domain: c_int, type_and_flags: c_int, protocol: c_int) -> c_int {
    crate::begin();
    let type_ = type_and_flags & TYPE;
    if thread::is_inside() || !rules::want(domain, type_, protocol) {
        // SAFETY: numbers.
        let number = unsafe { real::socket(domain, type_and_flags, protocol) };
        table::forget(number);
        return number;
    }
    let number = of_kernel(domain, type_and_flags, protocol);
    if number < 0 {
        return number;
    }
    if settings::waits_for_fork() && type_ == libc::SOCK_STREAM && domain != AF_IB {
        fork::watch(number, domain, fork::Stage::New);
        return number;
    }
    // SAFETY: numbers.
    let socket = thread::inside(|| unsafe { rsocket(domain, type_and_flags | libc::SOCK_CLOEXEC, protocol) });
    let works = socket >= 0 && publish(number, socket, domain, type_);
    if !works && domain == AF_IB {
        // SAFETY: nobody else knows the number.
        return unsafe {
            errno::kept(|| real::close(number));
            real::socket(domain, type_and_flags, protocol)
        };
    }
    number
}

/// The socket over RDMA that a number stands for.
pub fn find(number: c_int) -> Option<Held> {
    table::find(number).filter(|held| held.description().is(Kind::Socket))
}

/// The number and its duplicates become what they look like: sockets of the kernel's.
pub fn leave_rdma(held: &Held) {
    errno::kept(|| {
        epoll::move_to_kernel(held);
        table::redirect(held.key(), None, |_| ());
    });
}

/// How long all sockets together may take to deliver what was sent when the program exits, in ms.
const EXIT_PATIENCE: c_int = 10_000;

/// The program exits, and may have left to the kernel to close its sockets. Over RDMA nobody else would deliver what was
/// sent, and tell the peers that this is the end and no failure.
pub fn close_all() {
    let own = || {
        (0..table::end()).filter(|key| {
            let description = table::description(*key);
            description.is_some_and(|known| known.is_used() && known.is(Kind::Socket) && !known.is_foreign())
        })
    };
    for socket in own() {
        rdma::set_nonblocking(socket, false);
        // SAFETY: numbers.
        unsafe { rshutdown(socket, libc::SHUT_RDWR) };
    }
    let deadline = Deadline::after_ms(EXIT_PATIENCE);
    for socket in own().take_while(|_| !deadline.is_over()) {
        // SAFETY: numbers. Nobody is told any more.
        unsafe { rclose(socket) };
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn bind(number: c_int, address: *const sockaddr, length: socklen_t) -> c_int {
    let Some(held) = find(number) else {
        // SAFETY: the caller's promise.
        return unsafe { real::bind(number, address, length) };
    };
    // SAFETY: the caller's promise.
    thread::inside(|| unsafe {
        if !held.description().has_tcp() {
            return rbind(held.key(), address, length);
        }
        // Its errors are those that programs expect, and it chooses the port.
        let result = real::bind(number, address, length);
        if result == 0 && !bind_like(number, held.key(), Name::copy(address, length)) {
            leave_rdma(&held);
        }
        result
    })
}

/// The socket over RDMA gets the same address, with the port of the kernel's.
fn bind_like(number: c_int, socket: c_int, address: Option<Name>) -> bool {
    let (Some(mut wanted), Some(kernel)) = (address, names::of(number)) else { return false };
    wanted.set_port(kernel.port());
    // SAFETY: a valid address.
    unsafe { rbind(socket, wanted.address(), wanted.length()) == 0 }
}

#[unsafe(no_mangle)]
pub extern "C" fn listen(number: c_int, backlog: c_int) -> c_int {
    if let Some(held) = table::find(number) {
        if held.description().is(Kind::Socket) {
            return thread::inside(|| listen_on_both(number, &held, backlog));
        }
        // SAFETY: numbers.
        let result = unsafe { real::listen(number, backlog) };
        if result == 0 && held.description().is(Kind::Pending) {
            fork::listens(held.description());
        }
        return result;
    }
    // SAFETY: numbers.
    unsafe { real::listen(number, backlog) }
}

fn listen_on_both(number: c_int, held: &Held, backlog: c_int) -> c_int {
    let description = held.description();
    if !description.has_tcp() {
        // SAFETY: numbers.
        return unsafe { rlisten(held.key(), backlog) };
    }
    let had_name = names::of(number).is_some_and(|name| name.port() != 0);
    // SAFETY: numbers.
    unsafe {
        let result = real::listen(number, backlog);
        if result != 0 {
            return result;
        }
        let listens = (had_name || bind_like(number, held.key(), names::of(number)))
            && rlisten(held.key(), backlog) == 0;
        if !listens {
            leave_rdma(held);
            return 0;
        }
    }
    // Who accepts waits for both at once, never in one of them.
    rdma::set_nonblocking(held.key(), true);
    description.listens.store(true, core::sync::atomic::Ordering::Release);
    epoll::listen_in_kernel_too(held);
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn shutdown(number: c_int, how: c_int) -> c_int {
    match fork::find(number) {
        Some(held) if !held.description().listens.load(core::sync::atomic::Ordering::Acquire) => {
            // SAFETY: numbers.
            unsafe { rshutdown(held.key(), how) }
        }
        // Who accepts there wakes up.
        // SAFETY: numbers.
        _ => unsafe { real::shutdown(number, how) },
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn accept(number: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { crate::accept::accept4(number, address, length, 0) }
}
