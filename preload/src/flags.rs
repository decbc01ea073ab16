// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Flags of descriptors, and what else fcntl(2) and ioctl(2) know of sockets.

use crate::rdma::{self, rrecvmsg};
use crate::table::Held;
use crate::{duplicates, errno, real, sockets};
use core::mem;
use core::sync::atomic::Ordering;
use libc::{c_int, c_ulong, c_void, iovec, msghdr};

/// What is looked at to count the bytes that can be read: pieces that lie over one another.
const PIECES: usize = 16;
const PIECE: usize = 1024;

/// Calls on the socket wait or not, whoever does the work. Only one that listens never waits over RDMA.
fn set_nonblocking(held: &Held, on: bool) {
    if !held.description().listens.load(Ordering::Acquire) {
        errno::kept(|| rdma::set_nonblocking(held.key(), on));
    }
}

/// In C the last parameter is of any type, and may be left out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fcntl(number: c_int, command: c_int, argument: usize) -> c_int {
    // SAFETY: the caller's promise.
    let result = unsafe { real::fcntl(number, command, argument) };
    if result >= 0 {
        match command {
            libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => return duplicates::share(number, result),
            libc::F_SETFL => {
                if let Some(held) = sockets::find(number) {
                    set_nonblocking(&held, argument as c_int & libc::O_NONBLOCK != 0);
                }
            }
            _ => {}
        }
    }
    result
}

/// The same function under another name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fcntl64(number: c_int, command: c_int, argument: usize) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { fcntl(number, command, argument) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ioctl(number: c_int, command: c_ulong, argument: *mut c_void) -> c_int {
    // SAFETY: the caller's promise: a pointer to an integer for these commands.
    unsafe {
        let held = match command {
            libc::FIONREAD | libc::FIONBIO => sockets::find(number),
            _ => None,
        };
        let Some((held, place)) = held.zip(argument.cast::<c_int>().as_mut()) else {
            return real::ioctl(number, command, argument as usize);
        };
        if command == libc::FIONREAD {
            *place = waiting(held.key());
            return 0;
        }
        let result = real::ioctl(number, command, argument as usize);
        if result == 0 {
            set_nonblocking(&held, *place != 0);
        }
        result
    }
}

/// Bytes that can be read, as far as it looks.
fn waiting(socket: c_int) -> c_int {
    let mut scratch = [0_u8; PIECE];
    let mut pieces = [iovec { iov_base: scratch.as_mut_ptr().cast(), iov_len: PIECE }; PIECES];
    // SAFETY: all bits 0 are a message; the pieces are memory that nobody reads.
    let size = unsafe {
        let mut message: msghdr = mem::zeroed();
        message.msg_iov = pieces.as_mut_ptr();
        message.msg_iovlen = PIECES;
        errno::kept(|| rrecvmsg(socket, &mut message, libc::MSG_PEEK | libc::MSG_DONTWAIT))
    };
    c_int::try_from(size).unwrap_or(0).max(0)
}
