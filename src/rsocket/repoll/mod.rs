// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Sets of sockets and other descriptors, one of which is waited for: `epoll(7)`.
//!
//! A set is an epoll descriptor of the kernel. Descriptors that are no sockets go to the kernel as they are. For a socket
//! there are two others in the set: a counter that is readable while something has come (`bridge`), which is waited for as
//! the application says, and the completion channel. Who waits for the set takes its events, which move the counter. So
//! triggering, turns and time are the kernel's, and what an event costs does not depend on how many members there are.

mod bridge;
mod member;

pub use bridge::Bridges;
pub use member::PLACES;

use super::forks;
use super::socket::{self, Socket};
use crate::errno::{Errno, Result};
use crate::sync::{Lock, Numbers, Shared};
use crate::sys::epoll::{self, Event};
use crate::sys::park::Parking;
use crate::sys::thread::uncancellable;
use crate::sys::thread_end::AtThreadEnd;
use crate::sys::{descriptor, device, process};
use member::{Member, Place};
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::mem;
use std::os::fd::{AsRawFd, IntoRawFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The sets of this process by their numbers, which are descriptors.
pub static SETS: Numbers<Shared<Set>> = Numbers::new();

/// See the module.
pub struct Set {
    number: RawFd,
    /// The process that made it.
    generation: u32,
    is_closed: AtomicBool,
    /// Its sockets by their numbers.
    members: Lock<HashMap<RawFd, Shared<Member>>>,
}

/// Makes a set. EINVAL for unknown flags.
pub fn create(flags: c_int) -> Result<RawFd> {
    uncancellable(|| {
        forks::prepare()?;
        let descriptor = epoll::create(flags)?;
        let (number, generation) = (descriptor.as_raw_fd(), process::generation());
        let set = Shared::try_new(Set {
            number,
            generation,
            is_closed: AtomicBool::new(false),
            members: Lock::default(),
        })?;
        // A set that had the number before was closed by close(2), not by rclose().
        let before = SETS.insert(number as u32, set)?;
        // Another thread may have been changing the parent's while this process was forked.
        mem::forget(before.filter(|before| before.generation != generation));
        let _ = descriptor.into_raw_fd();
        Ok(number)
    })
}

/// The set of a number, if there is one. EPERM if it belongs to the parent of this process.
fn find(number: RawFd) -> Result<Option<Shared<Set>>> {
    match u32::try_from(number).ok().and_then(|number| SETS.get(number)) {
        Some(set) if set.generation != process::generation() => Err(Errno::EPERM),
        found => Ok(found),
    }
}

/// Adds a descriptor to a set, takes it out, or changes what is awaited of it, as `epoll_ctl(2)`.
///
/// # Safety
///
/// The event is NULL or valid.
pub unsafe fn control(number: RawFd, operation: c_int, fd: RawFd, event: *mut Event) -> Result<()> {
    let Some(socket) = socket::lookup(fd) else {
        // SAFETY: the caller's promise.
        return unsafe { epoll::control(number, operation, fd, event) };
    };
    // SAFETY: the caller's promise.
    let event = unsafe { event.as_ref() }.copied().ok_or(Errno::EFAULT);
    let Some(set) = find(number)? else {
        // The kernel would take the descriptor for what it is not.
        descriptor::is_close_on_exec(number)?;
        return Err(Errno::EINVAL);
    };
    if socket.is_foreign() {
        return Err(Errno::EPERM);
    }
    uncancellable(|| match operation {
        libc::EPOLL_CTL_ADD => Set::add(&set, &socket, event?),
        libc::EPOLL_CTL_MOD => set.modify(&socket, event?),
        libc::EPOLL_CTL_DEL => set.remove(&socket),
        _ => Err(Errno::EINVAL),
    })
}

thread_local! {
    static PARKED: Parking<Shared<Set>> = const { Parking::new() };
}

static AT_END: AtThreadEnd = AtThreadEnd::new(end);

unsafe extern "C" fn end(_: *mut c_void) {
    PARKED.with(Parking::end);
}

/// Waits until something is ready, and says how many events there are. None stands for no limit. EINTR after a signal.
///
/// # Safety
///
/// As `epoll_wait(2)`.
pub unsafe fn wait(number: RawFd, events: *mut Event, most: c_int, limit: Option<Duration>) -> Result<usize> {
    let Some(mut set) = find(number)? else {
        // SAFETY: the caller's promise.
        return unsafe { epoll::wait(number, events, most, limit) };
    };
    let deadline = limit.filter(|limit| !limit.is_zero()).and_then(|limit| Instant::now().checked_add(limit));
    let mut left = limit;
    loop {
        // SAFETY: the caller's promise.
        let wait = || unsafe { epoll::wait(number, events, most, left) };
        let (back, ready) = Parking::during(&PARKED, &AT_END, set, wait)?;
        set = back;
        let ready = ready?;
        if ready == 0 {
            return Ok(0);
        }
        // SAFETY: the kernel has written that many.
        let told = uncancellable(|| translate(unsafe { std::slice::from_raw_parts_mut(events, ready) }));
        if told > 0 {
            return Ok(told);
        }
        if set.is_closed.load(Ordering::SeqCst) {
            return Err(Errno::EBADF);
        }
        left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())).or(limit);
    }
}

/// The kernel's events become the application's, of which there may be fewer. Returns how many.
fn translate(events: &mut [Event]) -> usize {
    let mut told = 0;
    for position in 0..events.len() {
        let Some(event) = events.get(position).copied() else { break };
        let event = match member::of(event.u64) {
            Place::Bridge(member) => member.report(),
            Place::Channel(member) => {
                member.pump();
                None
            }
            Place::Gone => None,
            Place::Unknown => Some(event),
        };
        if let (Some(event), Some(place)) = (event, events.get_mut(told)) {
            *place = event;
            told += 1;
        }
    }
    told
}

/// Closes a set; its members stay as they are. EBADF if it is none.
pub fn close(number: RawFd) -> Result<()> {
    let index = u32::try_from(number).map_err(|_| Errno::EBADF)?;
    let set = SETS.remove(index, |_| true).ok_or(Errno::EBADF)?;
    if set.generation != process::generation() {
        // Nothing but the descriptor is this process's own.
        device::close(number);
        mem::forget(set);
        return Ok(());
    }
    uncancellable(|| {
        let mut members = set.members.lock();
        set.is_closed.store(true, Ordering::SeqCst);
        for (_, member) in members.drain() {
            Member::leave(&member);
        }
        drop(members);
        device::close(number);
    });
    Ok(())
}

impl Set {
    fn add(set: &Shared<Set>, socket: &Shared<Socket>, event: Event) -> Result<()> {
        let mut members = set.members.lock();
        if set.is_closed.load(Ordering::SeqCst) {
            return Err(Errno::EBADF);
        }
        let number = socket.number();
        if let Some(member) = members.get(&number).filter(|member| member.is_of(socket)) {
            return member.add_again(event);
        }
        members.try_reserve(1)?;
        let member = Member::create(set, socket, event)?;
        drop(members.insert(number, member));
        Ok(())
    }

    fn modify(&self, socket: &Shared<Socket>, event: Event) -> Result<()> {
        if event.events & libc::EPOLLEXCLUSIVE as u32 != 0 {
            return Err(Errno::EINVAL);
        }
        let members = self.members.lock();
        let member = members.get(&socket.number()).filter(|member| member.is_of(socket));
        member.ok_or(Errno::ENOENT)?.change(socket, event)
    }

    fn remove(&self, socket: &Shared<Socket>) -> Result<()> {
        let mut members = self.members.lock();
        if !members.get(&socket.number()).is_some_and(|member| member.is_of(socket)) {
            return Err(Errno::ENOENT);
        }
        if let Some(member) = members.remove(&socket.number()) {
            Member::leave(&member);
        }
        Ok(())
    }

    /// A socket that is closed is no member any more.
    fn forget(&self, number: RawFd, closed: &Shared<Member>) {
        let mut members = self.members.lock();
        if members.get(&number).is_some_and(|member| Shared::is_same(member, closed)) {
            members.remove(&number);
        }
    }
}
