// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What is known of the calling thread: whether it is inside librdmacm, whose own sockets are the kernel's; and what it
//! holds, which is let go when it is cancelled.

use crate::buffer::Header;
use crate::real::{self, Start};
use crate::table;
use core::cell::Cell;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};
use libc::{c_int, c_void, pthread_attr_t, pthread_key_t, pthread_t};

/// Descriptions that a thread is known to hold at once: a socket, a set, and those of signal handlers that interrupt it. If a
/// thread holds more and is cancelled, the others are not let go.
const MOST: usize = 8;

struct Thread {
    inside: Cell<u32>,
    count: Cell<usize>,
    /// Keys, plus one.
    held: [Cell<c_int>; MOST],
    buffers: Cell<*mut Header>,
}

/// The key of pthread_setspecific(), plus one.
static KEY: AtomicU32 = AtomicU32::new(0);

/// Must come before all else. Without a key threads just have nothing to tell.
pub fn begin() {
    let mut key: pthread_key_t = 0;
    // SAFETY: the key is a valid place, and the function there as long as this object.
    if unsafe { libc::pthread_key_create(&mut key, Some(end)) } == 0 {
        KEY.store(key + 1, Ordering::Release);
    }
}

unsafe extern "C" fn end(thread: *mut c_void) {
    // SAFETY: it was allocated as such, and the thread does nothing else any more.
    let state = unsafe { &*thread.cast::<Thread>() };
    for held in state.held.iter().take(state.count.get()) {
        if held.get() != 0 {
            table::release(held.get() - 1);
        }
    }
    let mut next = state.buffers.get();
    // SAFETY: buffers in the list are not freed yet; nor is the thread.
    unsafe {
        while !next.is_null() {
            let buffer = next;
            next = (*buffer).next;
            libc::free(buffer.cast());
        }
        libc::free(thread);
    }
}

fn known() -> Option<&'static Thread> {
    let key = KEY.load(Ordering::Acquire).checked_sub(1)?;
    // SAFETY: the key is valid, and what is stored lives as long as the thread.
    unsafe { libc::pthread_getspecific(key).cast::<Thread>().as_ref() }
}

fn current() -> Option<&'static Thread> {
    let key = KEY.load(Ordering::Acquire).checked_sub(1)?;
    known().or_else(|| {
        // SAFETY: all bits 0 are a valid state. It is freed by the function of the key.
        unsafe {
            let new = libc::calloc(1, size_of::<Thread>());
            if !new.is_null() && libc::pthread_setspecific(key, new) != 0 {
                libc::free(new);
                return None;
            }
            new.cast::<Thread>().as_ref()
        }
    })
}

/// The calling thread holds the description.
pub fn holds(key: c_int) {
    if let Some(thread) = current() {
        // In this order, for the sake of signal handlers.
        let count = thread.count.get();
        thread.count.set(count + 1);
        if let Some(held) = thread.held.get(count) {
            held.set(key + 1);
        }
    }
}

/// The calling thread lets go what it held.
pub fn lets_go(key: c_int) {
    let Some(thread) = known() else { return };
    let count = thread.count.get();
    let last = thread.held.iter().take(count).rev().find(|held| held.get() == key + 1);
    if let Some(held) = last {
        held.set(0);
    }
    let rest = thread.held.iter().take(count).rposition(|held| held.get() != 0);
    thread.count.set(if count > MOST { count - 1 } else { rest.map_or(0, |position| position + 1) });
}

/// The calling thread uses the memory. What it took last is given back first.
pub fn owns(buffer: *mut Header) {
    if let Some(thread) = current() {
        // SAFETY: nobody else knows it.
        unsafe { (*buffer).next = thread.buffers.get() };
        thread.buffers.set(buffer);
    }
}

/// It does not any more.
pub fn disowns(buffer: *mut Header) {
    if let Some(thread) = known().filter(|thread| thread.buffers.get() == buffer) {
        // SAFETY: it is not freed yet.
        thread.buffers.set(unsafe { (*buffer).next });
    }
}

/// Does something inside librdmacm.
pub fn inside<R>(work: impl FnOnce() -> R) -> R {
    let thread = current();
    if let Some(thread) = thread {
        thread.inside.set(thread.inside.get() + 1);
    }
    let result = work();
    if let Some(thread) = thread {
        thread.inside.set(thread.inside.get() - 1);
    }
    result
}

/// Whether the calling thread is there, or belongs there.
pub fn is_inside() -> bool {
    known().is_some_and(|thread| thread.inside.get() > 0)
}

#[derive(Clone, Copy)]
struct Work {
    start: Start,
    argument: *mut c_void,
}

extern "C" fn begin_inside(work: *mut c_void) -> *mut c_void {
    // SAFETY: it was allocated as such for this thread alone.
    let Work { start, argument } = unsafe { *work.cast::<Work>() };
    // SAFETY: as above.
    unsafe { libc::free(work) };
    inside(|| start(argument))
}

/// Threads that librdmacm starts belong there.
///
/// # Safety
///
/// As pthread_create(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_create(
    thread: *mut pthread_t,
    attributes: *const pthread_attr_t,
    start: Start,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: the caller's promise; the work is freed by the thread, or by nobody else.
    unsafe {
        if !is_inside() {
            return real::pthread_create(thread, attributes, start, argument);
        }
        let work = libc::malloc(size_of::<Work>()).cast::<Work>();
        if work.is_null() {
            return libc::EAGAIN;
        }
        ptr::write(work, Work { start, argument });
        let error = real::pthread_create(thread, attributes, begin_inside, work.cast());
        if error != 0 {
            libc::free(work.cast());
        }
        error
    }
}
