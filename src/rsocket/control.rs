// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! `fcntl(2)` for sockets.

use super::socket;
use crate::errno::{Errno, Result};
use crate::sys::descriptor;
use std::ffi::c_int;
use std::os::fd::RawFd;

/// Reads or changes flags. EINVAL for another command.
pub fn fcntl(number: RawFd, command: c_int, argument: c_int) -> Result<c_int> {
    let socket = socket::find(number)?;
    match command {
        libc::F_GETFL => Ok(libc::O_RDWR | if socket.is_nonblocking() { libc::O_NONBLOCK } else { 0 }),
        libc::F_SETFL => {
            socket.set_nonblocking(argument & libc::O_NONBLOCK != 0);
            Ok(0)
        }
        libc::F_GETFD => {
            Ok(if descriptor::is_close_on_exec(socket.number())? { libc::FD_CLOEXEC } else { 0 })
        }
        libc::F_SETFD => {
            descriptor::set_close_on_exec(socket.number(), argument & libc::FD_CLOEXEC != 0)?;
            Ok(0)
        }
        _ => Err(Errno::EINVAL),
    }
}
