// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Waiting for many descriptors of either kind.

use crate::buffer::Buffer;
use crate::description::Kind;
use crate::rdma::rpoll;
use crate::timeout::Deadline;
use crate::{errno, fork, real, table, thread};
use core::sync::atomic::Ordering;
use core::{ptr, slice};
use libc::{c_int, nfds_t, pollfd, sigset_t, timespec};

/// A list that reaches this far needs no other memory.
const FEW: usize = 32;
const UNUSED: pollfd = pollfd { fd: -1, events: 0, revents: 0 };

/// What librdmacm is to watch instead of a descriptor of the program's: the socket over RDMA, and the kernel's too, if the
/// program listens there.
fn watched(number: c_int) -> [c_int; 2] {
    let Some(held) = table::find(number).filter(|held| held.description().is(Kind::Socket)) else {
        return [number, -1];
    };
    let listens = held.description().listens.load(Ordering::Acquire);
    match (listens, held.description().is_foreign()) {
        (true, true) => [number, -1],
        (true, false) => [held.key(), number],
        (false, _) => [held.key(), -1],
    }
}

/// Waits for all that stands for the list, two places for each descriptor.
fn wait_in(places: &mut [pollfd], list: &mut [pollfd], timeout: c_int) -> c_int {
    for (pair, watch) in places.chunks_exact_mut(2).zip(&*list) {
        for (place, number) in pair.iter_mut().zip(watched(watch.fd)) {
            *place = pollfd { fd: number, events: watch.events, revents: 0 };
        }
    }
    // SAFETY: so many places.
    let result = thread::inside(|| unsafe { rpoll(places.as_mut_ptr(), places.len() as nfds_t, timeout) });
    if result < 0 {
        return result;
    }
    let mut ready = 0;
    for (pair, watch) in places.chunks_exact(2).zip(list) {
        watch.revents = pair.iter().fold(0, |revents, place| revents | place.revents);
        ready += c_int::from(watch.revents != 0);
    }
    ready
}

/// As poll(2), with a list that may have sockets over RDMA in it. ENOMEM without memory.
pub fn wait(list: &mut [pollfd], timeout: c_int) -> c_int {
    let needed = list.len() * 2;
    let mut few = [UNUSED; 2 * FEW];
    if let Some(places) = few.get_mut(..needed) {
        return wait_in(places, list, timeout);
    }
    let Some(mut buffer) = Buffer::new(needed * size_of::<pollfd>()) else {
        return errno::fail(libc::ENOMEM);
    };
    // SAFETY: memory of that size, which malloc aligns for anything; any bits are valid.
    let places = unsafe { slice::from_raw_parts_mut(buffer.bytes().as_mut_ptr().cast::<pollfd>(), needed) };
    wait_in(places, list, timeout)
}

/// The list, if there is a socket over RDMA in it. None if the kernel can do it, or has to refuse it.
unsafe fn with_sockets<'a>(list: *mut pollfd, count: nfds_t) -> Option<&'a mut [pollfd]> {
    let count = usize::try_from(count).ok().filter(|count| *count <= c_int::MAX as usize / 2)?;
    // Of librdmacm come the numbers of the program that it was given, which are the kernel's.
    if list.is_null() || count == 0 || thread::is_inside() {
        return None;
    }
    // SAFETY: the caller's promise.
    let list = unsafe { slice::from_raw_parts_mut(list, count) };
    let mut any = false;
    for watch in &*list {
        any |= table::is_known(watch.fd) && fork::is_socket_for(watch.fd, watch.events);
    }
    any.then_some(list)
}

/// Whether a signal that the mask lets through has come already.
///
/// # Safety
///
/// Valid.
unsafe fn is_signalled(mask: *const sigset_t) -> bool {
    // SAFETY: valid places.
    unsafe {
        let mut pending = core::mem::zeroed();
        libc::sigpending(&mut pending);
        (1..=libc::SIGRTMAX())
            .any(|signal| libc::sigismember(&pending, signal) == 1 && libc::sigismember(mask, signal) == 0)
    }
}

/// Waits with the mask of signals, if one is given: `wait` gets a deadline, and returns 0 when it is over. EINTR if a signal
/// came before.
///
/// # Safety
///
/// NULL or valid.
pub unsafe fn masked(
    mask: *const sigset_t,
    deadline: Deadline,
    mut wait: impl FnMut(Deadline) -> c_int,
) -> c_int {
    if mask.is_null() {
        return wait(deadline);
    }
    // SAFETY: valid places.
    unsafe {
        let signalled = is_signalled(mask);
        let mut before = core::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_SETMASK, mask, &mut before);
        let result = if signalled { wait(Deadline::after_ms(0)) } else { wait(deadline) };
        errno::kept(|| libc::pthread_sigmask(libc::SIG_SETMASK, &before, ptr::null_mut()));
        if signalled && result == 0 { errno::fail(libc::EINTR) } else { result }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn poll(list: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        match with_sockets(list, count) {
            Some(list) => wait(list, timeout),
            None => real::poll(list, count, timeout),
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ppoll(
    list: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        match with_sockets(list, count) {
            Some(list) => {
                masked(mask, Deadline::after_timespec(timeout), |until| wait(list, until.left_ms()))
            }
            None => real::ppoll(list, count, timeout, mask),
        }
    }
}
