// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Sending and receiving.

use crate::rdma::{rread, rreadv, rrecv, rrecvfrom, rrecvmsg, rsend, rsendmsg, rsendto, rwrite, rwritev};
use crate::{fork, real, thread};
use libc::{c_int, c_void, iovec, msghdr, size_t, sockaddr, socklen_t, ssize_t};

/// Functions that do the same with either kind of socket.
macro_rules! either {
    ($($name:ident = $over_rdma:ident($($argument:ident: $type:ty),*);)*) => { $(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(number: c_int, $($argument: $type),*) -> ssize_t {
            // SAFETY: the caller's promise.
            unsafe {
                match fork::find(number) {
                    Some(held) => $over_rdma(held.key(), $($argument),*),
                    None => real::$name(number, $($argument),*),
                }
            }
        }
    )* };
}

either! {
    read = rread(data: *mut c_void, count: size_t);
    readv = rreadv(pieces: *const iovec, count: c_int);
    recv = rrecv(data: *mut c_void, length: size_t, flags: c_int);
    recvfrom = rrecvfrom(
        data: *mut c_void, length: size_t, flags: c_int, address: *mut sockaddr, size: *mut socklen_t
    );
    recvmsg = rrecvmsg(message: *mut msghdr, flags: c_int);
    write = rwrite(data: *const c_void, count: size_t);
    writev = rwritev(pieces: *const iovec, count: c_int);
    send = rsend(data: *const c_void, length: size_t, flags: c_int);
    sendmsg = rsendmsg(message: *const msghdr, flags: c_int);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sendto(
    number: c_int,
    data: *const c_void,
    length: size_t,
    flags: c_int,
    address: *const sockaddr,
    size: socklen_t,
) -> ssize_t {
    // SAFETY: the caller's promise.
    unsafe {
        match fork::find(number) {
            // A datagram may have to find its way first.
            Some(held) => thread::inside(|| rsendto(held.key(), data, length, flags, address, size)),
            None => real::sendto(number, data, length, flags, address, size),
        }
    }
}
