// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Sockets over RDMA: the functions of `<rdma/rsocket.h>`, which says what each does.

use super::{borrow, ret};
use crate::errno::{Errno, Result};
use crate::rsocket::{self, Arrival, Pieces};
use libc::{
    epoll_event, fd_set, iovec, msghdr, nfds_t, off_t, pollfd, sockaddr, socklen_t, ssize_t, timeval,
};
use std::ffi::{c_int, c_void};
use std::slice;
use std::time::Duration;

/// Most pieces of a call.
const IOV_MAX: usize = 1024;

fn size<F>(call: F, result: Result<usize>) -> ssize_t {
    match result {
        // No more was asked for.
        Ok(size) => size as ssize_t,
        Err(error) => ret::code(call, -1, error) as ssize_t,
    }
}

/// # Safety
///
/// NULL, or that many pieces, each NULL or that long while the result is used.
unsafe fn pieces<'a>(list: *const iovec, count: usize) -> Result<Pieces<'a>> {
    if count > IOV_MAX {
        return Err(Errno::EINVAL);
    }
    if list.is_null() && count > 0 {
        return Err(Errno::EFAULT);
    }
    // SAFETY: checked for NULL; the caller promises the rest.
    unsafe { Pieces::new(if count == 0 { &[] } else { slice::from_raw_parts(list, count) }) }
}

/// # Safety
///
/// NULL, or an address that long.
unsafe fn address<'a>(address: *const sockaddr, length: socklen_t) -> Result<&'a [u8]> {
    if address.is_null() {
        return Err(Errno::EFAULT);
    }
    // SAFETY: checked for NULL; the caller promises the rest.
    unsafe { borrow::bytes(address.cast(), length as usize) }
}

/// Stores an address, as much as there is room for, and its whole length.
///
/// # Safety
///
/// NULL, or room that long; the length is NULL or valid.
unsafe fn store(place: *mut sockaddr, length: *mut socklen_t, address: &[u8]) -> Result<()> {
    // SAFETY: the caller's promise.
    let length = unsafe { length.as_mut() }.ok_or(Errno::EFAULT)?;
    let room = address.len().min(*length as usize);
    if place.is_null() && room > 0 {
        return Err(Errno::EFAULT);
    }
    if (*length as i32) < 0 {
        return Err(Errno::EINVAL);
    }
    *length = address.len() as socklen_t;
    if room > 0 {
        // SAFETY: there is that much room.
        unsafe { place.cast::<u8>().copy_from_nonoverlapping(address.as_ptr(), room) };
    }
    Ok(())
}

/// As socket(2).
#[unsafe(no_mangle)]
pub extern "C" fn rsocket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    rsocket::create(domain, kind, protocol).unwrap_or_else(|error| ret::code(rsocket, -1, error))
}

/// As bind(2).
///
/// # Safety
///
/// As bind(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rbind(socket: c_int, addr: *const sockaddr, addrlen: socklen_t) -> c_int {
    // SAFETY: the caller's promise.
    let address = unsafe { address(addr, addrlen) };
    ret::status(rbind, address.and_then(|address| rsocket::bind(socket, address)))
}

/// As listen(2).
#[unsafe(no_mangle)]
pub extern "C" fn rlisten(socket: c_int, backlog: c_int) -> c_int {
    ret::status(rlisten, rsocket::listen(socket, backlog))
}

/// As accept(2).
///
/// # Safety
///
/// As accept(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn raccept(socket: c_int, addr: *mut sockaddr, addrlen: *mut socklen_t) -> c_int {
    match rsocket::accept(socket) {
        Ok((number, accepted)) => {
            if !addr.is_null() && !addrlen.is_null() {
                // SAFETY: the caller's promise. The connection counts more than an address without room.
                let _ = rsocket::of_peer(&accepted).and_then(|peer| unsafe { store(addr, addrlen, &peer) });
            }
            number
        }
        Err(error) => ret::code(raccept, -1, error),
    }
}

/// As connect(2).
///
/// # Safety
///
/// As connect(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rconnect(socket: c_int, addr: *const sockaddr, addrlen: socklen_t) -> c_int {
    // SAFETY: the caller's promise.
    let address = unsafe { address(addr, addrlen) };
    ret::status(rconnect, address.and_then(|address| rsocket::connect(socket, address)))
}

/// As shutdown(2).
#[unsafe(no_mangle)]
pub extern "C" fn rshutdown(socket: c_int, how: c_int) -> c_int {
    ret::status(rshutdown, rsocket::shutdown(socket, how))
}

/// As close(2).
#[unsafe(no_mangle)]
pub extern "C" fn rclose(socket: c_int) -> c_int {
    ret::status(rclose, rsocket::close(socket))
}

/// # Safety
///
/// As recv(2).
unsafe fn receive(socket: c_int, buf: *mut c_void, len: usize, flags: c_int) -> Result<usize> {
    let list = [rsocket::piece(buf, len)];
    // SAFETY: the caller's promise.
    rsocket::receive(socket, &mut unsafe { Pieces::new(&list) }?, flags)
}

/// As recv(2).
///
/// # Safety
///
/// As recv(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rrecv(socket: c_int, buf: *mut c_void, len: usize, flags: c_int) -> ssize_t {
    // SAFETY: the caller's promise.
    size(rrecv, unsafe { receive(socket, buf, len, flags) })
}

/// As recvfrom(2).
///
/// # Safety
///
/// As recvfrom(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rrecvfrom(
    socket: c_int,
    buf: *mut c_void,
    len: usize,
    flags: c_int,
    src_addr: *mut sockaddr,
    addrlen: *mut socklen_t,
) -> ssize_t {
    let list = [rsocket::piece(buf, len)];
    let mut arrival = Arrival::default();
    // SAFETY: the caller's promise.
    let received = unsafe { Pieces::new(&list) }
        .and_then(|mut pieces| rsocket::receive_from(socket, &mut pieces, flags, &mut arrival));
    if !src_addr.is_null() && !addrlen.is_null() {
        let source = match (arrival.source_bytes(), received) {
            (Some(source), _) => Ok(source),
            (None, Ok(received)) if received > 0 => rsocket::peer(socket),
            _ => Err(Errno::ENOTCONN),
        };
        // SAFETY: the caller's promise. The data counts more than an address without room.
        let _ = source.and_then(|source| unsafe { store(src_addr, addrlen, &source) });
    }
    size(rrecvfrom, received)
}

/// As recvmsg(2). No control messages come.
///
/// # Safety
///
/// As recvmsg(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rrecvmsg(socket: c_int, msg: *mut msghdr, flags: c_int) -> ssize_t {
    // SAFETY: the caller's promise.
    let Some(message) = (unsafe { msg.as_mut() }) else { return size(rrecvmsg, Err(Errno::EFAULT)) };
    let mut arrival = Arrival::default();
    // SAFETY: the caller's promise.
    let received = unsafe { pieces(message.msg_iov, message.msg_iovlen) }
        .and_then(|mut pieces| rsocket::receive_from(socket, &mut pieces, flags, &mut arrival));
    if received.is_ok() {
        let mut length = message.msg_namelen;
        message.msg_namelen = 0;
        if let Some(source) = arrival.source_bytes().filter(|_| !message.msg_name.is_null()) {
            // SAFETY: the caller's promise. The data counts more than an address without room.
            if unsafe { store(message.msg_name.cast(), &mut length, &source) }.is_ok() {
                message.msg_namelen = length;
            }
        }
        message.msg_controllen = 0;
        message.msg_flags = if arrival.is_cut { libc::MSG_TRUNC } else { 0 };
    }
    size(rrecvmsg, received)
}

/// As read(2).
///
/// # Safety
///
/// As read(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rread(socket: c_int, buf: *mut c_void, count: usize) -> ssize_t {
    // SAFETY: the caller's promise.
    size(rread, unsafe { receive(socket, buf, count, 0) })
}

/// As readv(2).
///
/// # Safety
///
/// As readv(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rreadv(socket: c_int, iov: *const iovec, iovcnt: c_int) -> ssize_t {
    let count = usize::try_from(iovcnt).map_err(|_| Errno::EINVAL);
    size(
        rreadv,
        count.and_then(|count| {
            // SAFETY: the caller's promise.
            rsocket::receive(socket, &mut unsafe { pieces(iov, count) }?, 0)
        }),
    )
}

/// # Safety
///
/// As send(2).
unsafe fn send(socket: c_int, buf: *const c_void, len: usize, flags: c_int) -> Result<usize> {
    let list = [rsocket::piece(buf, len)];
    // SAFETY: the caller's promise.
    rsocket::send(socket, &mut unsafe { Pieces::new(&list) }?, flags)
}

/// As send(2), without a signal.
///
/// # Safety
///
/// As send(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsend(socket: c_int, buf: *const c_void, len: usize, flags: c_int) -> ssize_t {
    // SAFETY: the caller's promise.
    size(rsend, unsafe { send(socket, buf, len, flags) })
}

/// As sendto(2), without a signal.
///
/// # Safety
///
/// As sendto(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsendto(
    socket: c_int,
    buf: *const c_void,
    len: usize,
    flags: c_int,
    dest_addr: *const sockaddr,
    addrlen: socklen_t,
) -> ssize_t {
    let list = [rsocket::piece(buf, len)];
    let is_given = !dest_addr.is_null() || addrlen > 0;
    if is_given && !rsocket::is_datagram(socket) {
        return size(rsendto, Err(Errno::EISCONN));
    }
    // SAFETY: the caller's promise.
    let to = unsafe { is_given.then(|| address(dest_addr, addrlen)) }.transpose();
    let sent = to.and_then(|to| {
        // SAFETY: the caller's promise.
        rsocket::send_to(socket, &mut unsafe { Pieces::new(&list) }?, flags, to)
    });
    size(rsendto, sent)
}

/// As sendmsg(2), without a signal. EOPNOTSUPP for control messages.
///
/// # Safety
///
/// As sendmsg(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsendmsg(socket: c_int, msg: *const msghdr, flags: c_int) -> ssize_t {
    // SAFETY: the caller's promise.
    let Some(message) = (unsafe { msg.as_ref() }) else { return size(rsendmsg, Err(Errno::EFAULT)) };
    if !message.msg_control.is_null() && message.msg_controllen > 0 {
        return size(rsendmsg, Err(Errno::EOPNOTSUPP));
    }
    // SAFETY: the caller's promise.
    let pieces = unsafe { pieces(message.msg_iov, message.msg_iovlen) };
    let is_given = !message.msg_name.is_null() && rsocket::is_datagram(socket);
    // SAFETY: the caller's promise.
    let to = unsafe { is_given.then(|| address(message.msg_name.cast(), message.msg_namelen)) }.transpose();
    size(rsendmsg, pieces.and_then(|mut pieces| rsocket::send_to(socket, &mut pieces, flags, to?)))
}

/// As write(2), without a signal.
///
/// # Safety
///
/// As write(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rwrite(socket: c_int, buf: *const c_void, count: usize) -> ssize_t {
    // SAFETY: the caller's promise.
    size(rwrite, unsafe { send(socket, buf, count, 0) })
}

/// As writev(2), without a signal.
///
/// # Safety
///
/// As writev(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rwritev(socket: c_int, iov: *const iovec, iovcnt: c_int) -> ssize_t {
    let count = usize::try_from(iovcnt).map_err(|_| Errno::EINVAL);
    size(
        rwritev,
        count.and_then(|count| {
            // SAFETY: the caller's promise.
            rsocket::send(socket, &mut unsafe { pieces(iov, count) }?, 0)
        }),
    )
}

/// As poll(2), for sockets over RDMA and any other descriptors.
///
/// # Safety
///
/// As poll(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpoll(fds: *mut pollfd, nfds: nfds_t, timeout: c_int) -> c_int {
    let Ok(count) = usize::try_from(nfds).and_then(|count| c_int::try_from(count).map(|_| count)) else {
        return ret::code(rpoll, -1, Errno::EINVAL);
    };
    if fds.is_null() && count > 0 {
        return ret::code(rpoll, -1, Errno::EFAULT);
    }
    // SAFETY: checked for NULL; the caller promises the rest.
    let fds = if count == 0 { &mut [] } else { unsafe { slice::from_raw_parts_mut(fds, count) } };
    let limit = u64::try_from(timeout).ok().map(Duration::from_millis);
    match rsocket::poll(fds, limit) {
        Ok(ready) => ready as c_int,
        Err(error) => ret::code(rpoll, -1, error),
    }
}

/// Makes a set of sockets and other descriptors, as epoll_create1(2). rclose() closes it.
#[unsafe(no_mangle)]
pub extern "C" fn repoll_create(flags: c_int) -> c_int {
    rsocket::repoll::create(flags).unwrap_or_else(|error| ret::code(repoll_create, -1, error))
}

/// As epoll_ctl(2).
///
/// # Safety
///
/// As epoll_ctl(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn repoll_ctl(epfd: c_int, op: c_int, fd: c_int, event: *mut epoll_event) -> c_int {
    // SAFETY: the caller's promise.
    ret::status(repoll_ctl, unsafe { rsocket::repoll::control(epfd, op, fd, event) })
}

/// As epoll_wait(2).
///
/// # Safety
///
/// As epoll_wait(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn repoll_wait(
    epfd: c_int,
    events: *mut epoll_event,
    maxevents: c_int,
    timeout: c_int,
) -> c_int {
    let limit = u64::try_from(timeout).ok().map(Duration::from_millis);
    // SAFETY: the caller's promise.
    match unsafe { rsocket::repoll::wait(epfd, events, maxevents, limit) } {
        Ok(ready) => ready as c_int,
        Err(error) => ret::code(repoll_wait, -1, error),
    }
}

/// # Safety
///
/// NULL, or a set of that many words.
unsafe fn words<'a>(set: *mut fd_set, count: usize) -> Option<&'a mut [u64]> {
    // SAFETY: the caller's promise; a set is an array of words.
    (!set.is_null()).then(|| unsafe { slice::from_raw_parts_mut(set.cast(), count) })
}

/// As select(2), for sockets over RDMA and any other descriptors.
///
/// # Safety
///
/// As select(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rselect(
    nfds: c_int,
    readfds: *mut fd_set,
    writefds: *mut fd_set,
    exceptfds: *mut fd_set,
    timeout: *mut timeval,
) -> c_int {
    let Ok(count) = usize::try_from(nfds) else { return ret::code(rselect, -1, Errno::EINVAL) };
    // SAFETY: the caller's promise.
    let limit = match unsafe { timeout.as_ref() } {
        None => Ok(None),
        Some(time) => match (u64::try_from(time.tv_sec), u32::try_from(time.tv_usec)) {
            (Ok(seconds), Ok(micros)) => {
                Ok(Some(Duration::from_secs(seconds).saturating_add(Duration::from_micros(micros.into()))))
            }
            _ => Err(Errno::EINVAL),
        },
    };
    let length = count.div_ceil(u64::BITS as usize);
    // SAFETY: the caller's promise: the sets reach as far as the descriptors do.
    let sets = unsafe {
        rsocket::Sets {
            read: words(readfds, length),
            write: words(writefds, length),
            except: words(exceptfds, length),
        }
    };
    match limit.and_then(|limit| rsocket::select(count, sets, limit)) {
        Ok(ready) => ready as c_int,
        Err(error) => ret::code(rselect, -1, error),
    }
}

/// As getpeername(2).
///
/// # Safety
///
/// As getpeername(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rgetpeername(socket: c_int, addr: *mut sockaddr, addrlen: *mut socklen_t) -> c_int {
    // SAFETY: the caller's promise.
    ret::status(rgetpeername, rsocket::peer(socket).and_then(|peer| unsafe { store(addr, addrlen, &peer) }))
}

/// As getsockname(2).
///
/// # Safety
///
/// As getsockname(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rgetsockname(socket: c_int, addr: *mut sockaddr, addrlen: *mut socklen_t) -> c_int {
    // SAFETY: the caller's promise.
    ret::status(rgetsockname, rsocket::own(socket).and_then(|own| unsafe { store(addr, addrlen, &own) }))
}

/// As setsockopt(2).
///
/// # Safety
///
/// As setsockopt(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsetsockopt(
    socket: c_int,
    level: c_int,
    optname: c_int,
    optval: *const c_void,
    optlen: socklen_t,
) -> c_int {
    let value = match (optval.is_null(), optlen) {
        (true, 0) => Ok(&[][..]),
        (true, _) => Err(Errno::EFAULT),
        // SAFETY: the caller's promise.
        _ => unsafe { borrow::bytes(optval, optlen as usize) },
    };
    ret::status(rsetsockopt, value.and_then(|value| rsocket::set_option(socket, level, optname, value)))
}

/// As getsockopt(2).
///
/// # Safety
///
/// As getsockopt(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rgetsockopt(
    socket: c_int,
    level: c_int,
    optname: c_int,
    optval: *mut c_void,
    optlen: *mut socklen_t,
) -> c_int {
    ret::status(
        rgetsockopt,
        rsocket::get_option(socket, level, optname).and_then(|value| {
            // SAFETY: the caller's promise.
            let length = unsafe { optlen.as_mut() }.ok_or(Errno::EFAULT)?;
            if optval.is_null() {
                return Err(Errno::EFAULT);
            }
            let room = usize::try_from(*length as i32).map_err(|_| Errno::EINVAL)?;
            let bytes = value.for_room(room)?;
            // SAFETY: there is that much room.
            unsafe { optval.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
            *length = bytes.len() as socklen_t;
            Ok(())
        }),
    )
}

/// As fcntl(2), for the flags of descriptor and file. In C the last parameter is of any type, and may be left out.
#[unsafe(no_mangle)]
pub extern "C" fn rfcntl(socket: c_int, cmd: c_int, argument: c_int) -> c_int {
    rsocket::fcntl(socket, cmd, argument).unwrap_or_else(|error| ret::code(rfcntl, -1, error))
}

/// Maps memory at an offset for the peer to write to, or for this side only; -1 stands for the memory's own address.
///
/// # Safety
///
/// The memory stays until it is unmapped, or the socket closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn riomap(
    socket: c_int,
    buf: *mut c_void,
    len: usize,
    prot: c_int,
    _flags: c_int,
    offset: off_t,
) -> off_t {
    if prot & !libc::PROT_WRITE != 0 {
        return ret::code(riomap, -1, Errno::EINVAL).into();
    }
    let at = if offset == -1 { buf.addr() as u64 } else { offset as u64 };
    // SAFETY: the caller's promise.
    match unsafe { rsocket::map(socket, buf, len, prot & libc::PROT_WRITE != 0, at) } {
        Ok(()) => at as off_t,
        Err(error) => ret::code(riomap, -1, error).into(),
    }
}

/// Ends a mapping of exactly that memory.
///
/// # Safety
///
/// None but that of a foreign function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn riounmap(socket: c_int, buf: *mut c_void, len: usize) -> c_int {
    ret::status(riounmap, rsocket::unmap(socket, buf, len))
}

/// Writes to memory that the peer has mapped at the offset.
///
/// # Safety
///
/// The buffer is readable for that length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn riowrite(
    socket: c_int,
    buf: *const c_void,
    count: usize,
    offset: off_t,
    flags: c_int,
) -> usize {
    let list = [rsocket::piece(buf, count)];
    // SAFETY: the caller's promise.
    let pieces = unsafe { Pieces::new(&list) };
    let written =
        pieces.and_then(|mut pieces| rsocket::write_mapped(socket, &mut pieces, offset as u64, flags));
    written.unwrap_or_else(|error| ret::code(riowrite, -1, error) as usize)
}
