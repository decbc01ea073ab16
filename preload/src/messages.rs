// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Many messages with one call.

use crate::rdma::{rrecvmsg, rsendmsg};
use crate::timeout::Deadline;
use crate::{fork, real};
use core::slice;
use libc::{c_int, c_uint, mmsghdr, timespec};

/// Most messages of a call.
const MOST: c_uint = 1024;

/// Does it for each message, until one fails or `is_enough` says so. A failure counts only if it is the first.
///
/// # Safety
///
/// That many messages.
unsafe fn each(
    list: *mut mmsghdr,
    count: c_uint,
    mut one: impl FnMut(&mut mmsghdr, bool) -> isize,
    mut is_enough: impl FnMut() -> bool,
) -> c_int {
    let mut done = 0;
    let count = if list.is_null() { 0 } else { count.min(MOST) };
    let messages = match count {
        0 => &mut [][..],
        // SAFETY: the caller's promise.
        _ => unsafe { slice::from_raw_parts_mut(list, count as usize) },
    };
    for message in messages {
        let Ok(size) = c_uint::try_from(one(message, done == 0)) else {
            return if done == 0 { -1 } else { done };
        };
        message.msg_len = size;
        done += 1;
        if is_enough() {
            break;
        }
    }
    done
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn recvmmsg(
    number: c_int,
    list: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
    limit: *mut timespec,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let Some(held) = fork::find(number) else { return real::recvmmsg(number, list, count, flags, limit) };
        let deadline = Deadline::after_timespec(limit);
        let one = |message: &mut mmsghdr, is_first: bool| {
            let later = if flags & libc::MSG_WAITFORONE != 0 && !is_first { libc::MSG_DONTWAIT } else { 0 };
            rrecvmsg(held.key(), &mut message.msg_hdr, flags & !libc::MSG_WAITFORONE | later)
        };
        each(list, count, one, || deadline.is_over())
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sendmmsg(number: c_int, list: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        match fork::find(number) {
            Some(held) => {
                each(list, count, |message, _| rsendmsg(held.key(), &message.msg_hdr, flags), || false)
            }
            None => real::sendmmsg(number, list, count, flags),
        }
    }
}
