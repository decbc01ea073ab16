// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The other way of waiting for many descriptors.

use crate::buffer::Buffer;
use crate::timeout::Deadline;
use crate::{errno, fork, poll, real, table};
use core::slice;
use libc::{
    POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, POLLPRI, c_int, c_short, pollfd, sigset_t, timespec, timeval,
};

/// What a set asks for, and what puts a descriptor into it.
const ASKED: [c_short; 3] = [POLLIN, POLLOUT, POLLPRI];
const GIVEN: [c_short; 3] = [POLLIN | POLLHUP | POLLERR, POLLOUT | POLLERR, POLLPRI];

/// A set of descriptors, which may be larger than `fd_set`.
type Set<'a> = Option<&'a mut [u64]>;

fn bit(number: usize) -> (usize, u64) {
    (number / 64, 1 << (number % 64))
}

fn has(set: &Set<'_>, number: usize) -> bool {
    let (word, bit) = bit(number);
    set.as_ref().and_then(|set| set.get(word)).is_some_and(|word| word & bit != 0)
}

fn asked(sets: &[Set<'_>; 3], number: usize) -> c_short {
    sets.iter()
        .zip(ASKED)
        .fold(0, |events, (set, event)| if has(set, number) { events | event } else { events })
}

/// Waits with the sets, and leaves in them what is ready. EBADF for a descriptor that is not open.
fn wait(count: usize, sets: &mut [Set<'_>; 3], deadline: Deadline) -> c_int {
    let all = || (0..count).filter(|number| asked(sets, *number) != 0);
    let Some(mut buffer) = Buffer::new(all().count() * size_of::<pollfd>()) else {
        return errno::fail(libc::ENOMEM);
    };
    // SAFETY: memory of that size, which malloc aligns for anything; any bits are valid.
    let list =
        unsafe { slice::from_raw_parts_mut(buffer.bytes().as_mut_ptr().cast::<pollfd>(), all().count()) };
    for (watch, number) in list.iter_mut().zip(all()) {
        *watch = pollfd { fd: number as c_int, events: asked(sets, number), revents: 0 };
    }
    let result = poll::wait(list, deadline.left_ms());
    if result < 0 {
        return result;
    }
    if list.iter().any(|watch| watch.revents & POLLNVAL != 0) {
        return errno::fail(libc::EBADF);
    }
    for set in sets.iter_mut().flatten() {
        set.fill(0);
    }
    let mut ready = 0;
    for watch in list {
        for (set, (asked, given)) in sets.iter_mut().zip(ASKED.into_iter().zip(GIVEN)) {
            let (word, bit) = bit(watch.fd as usize);
            let word = set.as_mut().and_then(|set| set.get_mut(word));
            if let Some(word) = word.filter(|_| watch.events & asked != 0 && watch.revents & given != 0) {
                *word |= bit;
                ready += 1;
            }
        }
    }
    ready
}

/// How far sets reach. Programs may ask for more than they have, since the kernel looks no further than at descriptors that
/// can be open.
fn reach(count: usize) -> usize {
    let usual = libc::FD_SETSIZE.max(table::end() as usize);
    // SAFETY: numbers.
    let is_open = || errno::kept(|| unsafe { real::fcntl((count - 1) as c_int, libc::F_GETFD, 0) }) >= 0;
    if count > usual && !is_open() { usual } else { count }
}

/// The sets, if there is a socket over RDMA in them.
unsafe fn with_sockets<'a>(count: c_int, sets: [*mut u64; 3]) -> Option<(usize, [Set<'a>; 3])> {
    let count = reach(usize::try_from(count).ok()?);
    let words = count.div_ceil(64);
    // SAFETY: the caller's promise: sets reach as far as the descriptors do.
    let sets = sets.map(|set| (!set.is_null()).then(|| unsafe { slice::from_raw_parts_mut(set, words) }));
    let mut any = false;
    for number in (0..table::end()).take(count) {
        if table::is_known(number) {
            let events = asked(&sets, number as usize);
            any |= events != 0 && fork::is_socket_for(number, events);
        }
    }
    any.then_some((count, sets))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn select(
    count: c_int,
    read: *mut u64,
    write: *mut u64,
    except: *mut u64,
    timeout: *mut timeval,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let Some((numbers, mut sets)) = with_sockets(count, [read, write, except]) else {
            return real::select(count, read.cast(), write.cast(), except.cast(), timeout.cast());
        };
        if timeout.as_ref().is_some_and(|time| time.tv_sec < 0 || time.tv_usec < 0) {
            return errno::fail(libc::EINVAL);
        }
        let deadline = Deadline::after_timeval(timeout);
        let result = wait(numbers, &mut sets, deadline);
        // As Linux does.
        if let (Some(place), Some(left)) = (timeout.as_mut(), deadline.left_timeval()) {
            *place = left;
        }
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pselect(
    count: c_int,
    read: *mut u64,
    write: *mut u64,
    except: *mut u64,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let Some((numbers, mut sets)) = with_sockets(count, [read, write, except]) else {
            return real::pselect(count, read.cast(), write.cast(), except.cast(), timeout, mask);
        };
        poll::masked(mask, Deadline::after_timespec(timeout), |until| wait(numbers, &mut sets, until))
    }
}
