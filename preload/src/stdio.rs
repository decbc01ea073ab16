// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Streams of C on sockets over RDMA. Those of libc read and write by themselves, past this object.

use crate::{duplicates, fork, real, transfer};
use core::ptr;
use libc::{FILE, c_char, c_int, c_void, off64_t, size_t, ssize_t};

/// `cookie_io_functions_t`.
#[repr(C)]
struct Functions {
    read: unsafe extern "C" fn(*mut c_void, *mut c_char, size_t) -> ssize_t,
    write: unsafe extern "C" fn(*mut c_void, *const c_char, size_t) -> ssize_t,
    seek: Option<unsafe extern "C" fn(*mut c_void, *mut off64_t, c_int) -> c_int>,
    close: unsafe extern "C" fn(*mut c_void) -> c_int,
}

unsafe extern "C" {
    fn fopencookie(cookie: *mut c_void, mode: *const c_char, functions: Functions) -> *mut FILE;
}

/// A number is its own cookie.
fn number(cookie: *mut c_void) -> c_int {
    cookie.addr() as c_int
}

unsafe extern "C" fn read(cookie: *mut c_void, data: *mut c_char, size: size_t) -> ssize_t {
    // SAFETY: libc's own buffer.
    unsafe { transfer::read(number(cookie), data.cast(), size) }
}

unsafe extern "C" fn write(cookie: *mut c_void, data: *const c_char, size: size_t) -> ssize_t {
    // SAFETY: libc's own buffer. 0 stands for a failure here.
    unsafe { transfer::write(number(cookie), data.cast(), size).max(0) }
}

unsafe extern "C" fn close(cookie: *mut c_void) -> c_int {
    duplicates::close(number(cookie))
}

/// fileno(3) does not know the number of such a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fdopen(descriptor: c_int, mode: *const c_char) -> *mut FILE {
    // SAFETY: the caller's promise.
    unsafe {
        if fork::find(descriptor).is_none() {
            return real::fdopen(descriptor, mode);
        }
        let cookie = ptr::without_provenance_mut(descriptor as usize);
        fopencookie(cookie, mode, Functions { read, write, seek: None, close })
    }
}
