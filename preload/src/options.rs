// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Options of sockets. The kernel's socket gets them too, in case that it has to do the work.

use crate::rdma::{AF_IB, SOL_RDMA, rgetsockopt, rsetsockopt};
use crate::{errno, real, sockets};
use libc::{c_int, c_void, socklen_t};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn setsockopt(
    number: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: socklen_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let Some(held) = sockets::find(number) else {
            return real::setsockopt(number, level, name, value, length);
        };
        if level == SOL_RDMA || held.description().domain() == AF_IB {
            return rsetsockopt(held.key(), level, name, value, length);
        }
        let result = real::setsockopt(number, level, name, value, length);
        if result == 0 {
            // Many have no meaning there.
            errno::kept(|| rsetsockopt(held.key(), level, name, value, length));
        }
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn getsockopt(
    number: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    length: *mut socklen_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(held) = sockets::find(number) {
            let result = rgetsockopt(held.key(), level, name, value, length);
            if result == 0 || errno::get() != libc::ENOPROTOOPT || held.description().domain() == AF_IB {
                return result;
            }
        }
        real::getsockopt(number, level, name, value, length)
    }
}
