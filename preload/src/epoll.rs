// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! epoll. A set stays the kernel's, and so do all its members but sockets over RDMA: those are members of a set of
//! librdmacm, the *bridge*, which in turn is a member of the kernel's. Its events are put in place of the bridge's own.

use crate::description::Kind;
use crate::table::{self, Held};
use crate::timeout::Deadline;
use crate::{errno, fork, rdma, real};
use core::sync::atomic::{AtomicBool, Ordering};
use core::{ptr, slice};
use libc::{c_int, epoll_event, sigset_t, timespec};

#[unsafe(no_mangle)]
pub extern "C" fn epoll_create1(flags: c_int) -> c_int {
    // SAFETY: numbers.
    let set = unsafe { real::epoll_create1(flags) };
    table::forget(set);
    set
}

#[unsafe(no_mangle)]
pub extern "C" fn epoll_create(size: c_int) -> c_int {
    if size <= 0 { errno::fail(libc::EINVAL) } else { epoll_create1(0) }
}

/// Whether there has ever been a bridge. Programs without pay nothing for them.
static HAS_BRIDGES: AtomicBool = AtomicBool::new(false);

/// The bridge of a set.
fn bridge(set: c_int) -> Option<Held> {
    table::find(set).filter(|held| held.description().is(Kind::Bridge))
}

/// Makes the bridge of a set, unless there is one. None and errno, if there can be none.
fn make_bridge(set: c_int) -> Option<Held> {
    if let Some(bridge) = bridge(set) {
        return Some(bridge);
    }
    // SAFETY: numbers.
    let key = unsafe { rdma::repoll_create(libc::EPOLL_CLOEXEC) };
    if key < 0 {
        return None;
    }
    let Some(description) = table::make_description(key) else {
        // SAFETY: nobody else knows it.
        errno::kept(|| unsafe { rdma::rclose(key) });
        return None;
    };
    description.begin(Kind::Bridge, 0, 0);
    HAS_BRIDGES.store(true, Ordering::Release);
    // What the kernel is to say of it: an address of ours, which no program uses.
    let mark = ptr::from_ref(description).addr() as u64;
    let mut event = epoll_event { events: libc::EPOLLIN as u32, u64: mark };
    // SAFETY: a valid event.
    let added = unsafe { real::epoll_ctl(set, libc::EPOLL_CTL_ADD, key, &mut event) == 0 };
    if !added || !table::assign_first(set, key) {
        // Nobody else uses it; with it its membership ends.
        table::release(key);
    }
    bridge(set)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn epoll_ctl(
    set: c_int,
    operation: c_int,
    number: c_int,
    event: *mut epoll_event,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let asked = event.as_ref().map_or(0, |event| event.events);
        if table::is_known(number) && asked & libc::EPOLLIN as u32 != 0 {
            fork::is_socket_for(number, libc::POLLIN);
        }
        let result = match table::find(number) {
            Some(held) if held.description().is(Kind::Socket) => {
                of_socket(set, operation, number, &held, event)
            }
            _ => real::epoll_ctl(set, operation, number, event),
        };
        let member = table::find(number).filter(|held| result == 0 && !held.description().is(Kind::Bridge));
        member.map_or(result, |held| note(set, operation, number, &held, event.as_ref()))
    }
}

/// Notes what has happened. Without memory for that it is undone: -1 and ENOMEM.
fn note(set: c_int, operation: c_int, number: c_int, held: &Held, event: Option<&epoll_event>) -> c_int {
    let members = &held.description().members;
    let Some(event) = event.filter(|_| operation != libc::EPOLL_CTL_DEL) else {
        members.forget(set, number);
        return 0;
    };
    if members.note(set, number, *event) {
        return 0;
    }
    // SAFETY: numbers.
    unsafe { epoll_ctl(set, libc::EPOLL_CTL_DEL, number, ptr::null_mut()) };
    errno::fail(libc::ENOMEM)
}

unsafe fn of_socket(
    set: c_int,
    operation: c_int,
    number: c_int,
    held: &Held,
    event: *mut epoll_event,
) -> c_int {
    let bridge = if operation == libc::EPOLL_CTL_ADD { make_bridge(set) } else { bridge(set) };
    let Some(bridge) = bridge else {
        if operation == libc::EPOLL_CTL_ADD {
            return -1;
        }
        // SAFETY: the caller's promise. What the kernel says of a socket that is no member.
        return unsafe { real::epoll_ctl(set, operation, number, event) };
    };
    // SAFETY: the caller's promise.
    unsafe {
        let result = rdma::repoll_ctl(bridge.key(), operation, held.key(), event);
        if result == 0 && held.description().listens.load(Ordering::Acquire) {
            real::epoll_ctl(set, operation, number, event);
        }
        result
    }
}

/// The kernel's socket, which listens too, becomes a member of all sets that the one over RDMA is a member of.
pub fn listen_in_kernel_too(held: &Held) {
    held.description().members.each(|member| {
        let mut event = member.event;
        // SAFETY: a valid event. Of the wrong set, if the program has closed the right one, it is refused or harmless.
        errno::kept(|| unsafe {
            real::epoll_ctl(member.set, libc::EPOLL_CTL_ADD, member.number, &mut event)
        });
    });
}

/// The kernel's socket takes the place of the one over RDMA.
pub fn move_to_kernel(held: &Held) {
    held.description().members.each(|member| {
        let mut event = member.event;
        // SAFETY: valid events.
        unsafe {
            if let Some(bridge) = bridge(member.set) {
                rdma::repoll_ctl(bridge.key(), libc::EPOLL_CTL_DEL, held.key(), &mut event);
            }
            real::epoll_ctl(member.set, libc::EPOLL_CTL_ADD, member.number, &mut event);
        }
    });
}

/// A socket over RDMA takes the place of the kernel's.
pub fn move_to_rdma(pending: &Held, socket: &Held) {
    pending.description().members.each(|member| {
        let mut event = member.event;
        // SAFETY: valid events.
        unsafe {
            real::epoll_ctl(member.set, libc::EPOLL_CTL_DEL, member.number, &mut event);
            if of_socket(member.set, libc::EPOLL_CTL_ADD, member.number, socket, &mut event) == 0 {
                socket.description().members.note(member.set, member.number, event);
            }
        }
    });
}

/// Puts the events of bridges in place of their own. Returns how many there are now; -1 and errno if there are none since a
/// bridge cannot be asked, which a parent of this process made.
fn replaced(events: &mut [epoll_event], found: usize) -> c_int {
    if !HAS_BRIDGES.load(Ordering::Acquire) {
        return found as c_int;
    }
    // In front are those of the kernel, of which some were looked at; behind them those of bridges.
    let (mut looked_at, mut of_kernel, mut all) = (0, found, found);
    let mut failed = false;
    // Several, if the set was duplicated before it got a bridge.
    while looked_at < of_kernel {
        let Some(key) = events.get(looked_at).and_then(|event| table::key_at(event.u64)) else {
            looked_at += 1;
            continue;
        };
        of_kernel -= 1;
        all -= 1;
        events.swap(looked_at, of_kernel);
        events.swap(of_kernel, all);
        let rest = events.get_mut(all..).unwrap_or_default();
        // SAFETY: as many events as said.
        let more = unsafe { rdma::repoll_wait(key, rest.as_mut_ptr(), rest.len() as c_int, 0) };
        failed |= more < 0;
        all += usize::try_from(more).unwrap_or(0);
    }
    if failed && all == 0 { -1 } else { all as c_int }
}

/// Waits with `ask`, which gets the time that is left, until there is an event for the program.
unsafe fn wait(
    events: *mut epoll_event,
    most: c_int,
    deadline: Deadline,
    mut ask: impl FnMut(&Deadline) -> c_int,
) -> c_int {
    loop {
        let found = ask(&deadline);
        if found <= 0 {
            return found;
        }
        // SAFETY: the kernel has accepted that many events.
        let list = unsafe { slice::from_raw_parts_mut(events, most as usize) };
        let left = replaced(list, found as usize);
        if left != 0 {
            return left;
        }
        if deadline.is_over() {
            return 0;
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn epoll_wait(
    set: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout: c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { epoll_pwait(set, events, most, timeout, ptr::null()) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn epoll_pwait(
    set: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout: c_int,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let ask = |deadline: &Deadline| real::epoll_pwait(set, events, most, deadline.left_ms(), mask);
        wait(events, most, Deadline::after_ms(timeout), ask)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn epoll_pwait2(
    set: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let ask = |deadline: &Deadline| {
            let left = deadline.left_timespec();
            real::epoll_pwait2(set, events, most, left.as_ref().map_or(ptr::null(), ptr::from_ref), mask)
        };
        wait(events, most, Deadline::after_timespec(timeout), ask)
    }
}
