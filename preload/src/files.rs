// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Sending files.

use crate::buffer::Buffer;
use crate::rdma::rwrite;
use crate::{errno, fork, real, sockets};
use libc::{c_int, c_uint, off_t, size_t, ssize_t};

/// Bytes that are read at once.
const CHUNK: usize = 1 << 16;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sendfile(out: c_int, file: c_int, offset: *mut off_t, count: size_t) -> ssize_t {
    // SAFETY: the caller's promise.
    unsafe {
        let Some(held) = fork::find(out) else { return real::sendfile(out, file, offset, count) };
        let start = match offset.as_ref() {
            Some(offset) => *offset,
            None => libc::lseek(file, 0, libc::SEEK_CUR),
        };
        if start < 0 {
            // No file has such a position, and one without positions cannot be sent, as with the kernel's sockets.
            let is_invalid = !offset.is_null() || errno::get() == libc::ESPIPE;
            return if is_invalid { errno::fail(libc::EINVAL) as ssize_t } else { -1 };
        }
        let sent = copy(held.key(), file, start, count);
        if sent > 0 {
            let end = start.saturating_add(sent as off_t);
            match offset.as_mut() {
                Some(offset) => *offset = end,
                None => drop(libc::lseek(file, end, libc::SEEK_SET)),
            }
        }
        sent
    }
}

/// Sends from a position of a file, which is read until it ends, fails, or the socket takes no more.
fn copy(socket: c_int, file: c_int, start: off_t, count: size_t) -> ssize_t {
    let Some(mut buffer) = Buffer::new(count.min(CHUNK)) else { return errno::fail(libc::ENOMEM) as ssize_t };
    let mut sent = 0_usize;
    while sent < count {
        let position = start.saturating_add(sent as off_t);
        // SAFETY: memory with its length.
        let written = unsafe {
            let wanted = buffer.bytes().len().min(count - sent);
            let read = libc::pread(file, buffer.bytes().as_mut_ptr().cast(), wanted, position);
            if read > 0 {
                (read, rwrite(socket, buffer.bytes().as_ptr().cast(), read as usize))
            } else {
                (read, read)
            }
        };
        match written {
            (_, ..0) if sent == 0 => return -1,
            (_, ..=0) => break,
            (read, written) => {
                sent += written as usize;
                if written < read {
                    break;
                }
            }
        }
    }
    sent as ssize_t
}

/// The same function under another name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sendfile64(out: c_int, file: c_int, offset: *mut off_t, count: size_t) -> ssize_t {
    // SAFETY: the caller's promise.
    unsafe { sendfile(out, file, offset, count) }
}

/// EINVAL for a socket over RDMA, as for every file that cannot be spliced: programs copy then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn splice(
    from: c_int,
    from_offset: *mut off_t,
    to: c_int,
    to_offset: *mut off_t,
    length: size_t,
    flags: c_uint,
) -> ssize_t {
    if sockets::find(from).is_some() || sockets::find(to).is_some() {
        return errno::fail(libc::EINVAL) as ssize_t;
    }
    // SAFETY: the caller's promise.
    unsafe { real::splice(from, from_offset, to, to_offset, length, flags) }
}
