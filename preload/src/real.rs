// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The functions that this object replaces, as the objects behind it have them.

use crate::errno;
use core::ffi::CStr;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use libc::{
    FILE, c_char, c_int, c_uint, c_ulong, c_void, epoll_event, iovec, mmsghdr, msghdr, nfds_t, off_t, pollfd,
    pthread_attr_t, pthread_t, sigset_t, size_t, sockaddr, socklen_t, ssize_t, timespec,
};

/// What a thread begins with.
pub type Start = extern "C" fn(*mut c_void) -> *mut c_void;

/// A name, and where it was found. Each name is looked up by its first caller, whoever that is and however early.
struct Symbol {
    name: &'static CStr,
    place: AtomicPtr<c_void>,
}

impl Symbol {
    const fn new(name: &'static CStr) -> Symbol {
        Symbol { name, place: AtomicPtr::new(ptr::null_mut()) }
    }

    /// NULL if nobody has it.
    fn find(&self) -> *mut c_void {
        let known = self.place.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        // SAFETY: the name is a string of C.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.place.store(found, Ordering::Relaxed);
        found
    }
}

/// The name of a function as a string of C.
const fn name(bytes: &'static [u8]) -> &'static CStr {
    match CStr::from_bytes_with_nul(bytes) {
        Ok(name) => name,
        Err(_) => c"",
    }
}

/// Functions that call their namesakes. ENOSYS where an old libc has none.
macro_rules! real {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => { $(
        /// # Safety
        ///
        /// As its namesake.
        pub unsafe fn $name($($argument: $type),*) -> $result {
            static SYMBOL: Symbol = Symbol::new(name(concat!(stringify!($name), "\0").as_bytes()));
            let found = SYMBOL.find();
            if found.is_null() {
                return errno::fail(libc::ENOSYS) as $result;
            }
            // SAFETY: the namesake in libc has this type, and the caller keeps its promise.
            unsafe {
                let function: unsafe extern "C" fn($($type),*) -> $result = core::mem::transmute(found);
                function($($argument),*)
            }
        }
    )* };
}

/// The same for functions whose last parameter may be left out.
macro_rules! real_variadic {
    ($(fn $name:ident(number: $number:ty, command: $command:ty);)*) => { $(
        /// # Safety
        ///
        /// As its namesake, with any last argument.
        pub unsafe fn $name(number: $number, command: $command, argument: usize) -> c_int {
            static SYMBOL: Symbol = Symbol::new(name(concat!(stringify!($name), "\0").as_bytes()));
            let found = SYMBOL.find();
            if found.is_null() {
                return errno::fail(libc::ENOSYS);
            }
            // SAFETY: the namesake in libc has this type, and the caller keeps its promise.
            unsafe {
                let function: unsafe extern "C" fn($number, $command, ...) -> c_int = core::mem::transmute(found);
                function(number, command, argument)
            }
        }
    )* };
}

real! {
    fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    fn bind(socket: c_int, address: *const sockaddr, length: socklen_t) -> c_int;
    fn listen(socket: c_int, backlog: c_int) -> c_int;
    fn accept4(socket: c_int, address: *mut sockaddr, length: *mut socklen_t, flags: c_int) -> c_int;
    fn connect(socket: c_int, address: *const sockaddr, length: socklen_t) -> c_int;
    fn shutdown(socket: c_int, how: c_int) -> c_int;
    fn close(number: c_int) -> c_int;
    fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int;
    fn getpeername(socket: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int;
    fn getsockname(socket: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int;
    fn setsockopt(socket: c_int, level: c_int, name: c_int, value: *const c_void, length: socklen_t) -> c_int;
    fn getsockopt(socket: c_int, level: c_int, name: c_int, value: *mut c_void, length: *mut socklen_t) -> c_int;
    fn read(number: c_int, data: *mut c_void, count: size_t) -> ssize_t;
    fn readv(number: c_int, pieces: *const iovec, count: c_int) -> ssize_t;
    fn recv(socket: c_int, data: *mut c_void, length: size_t, flags: c_int) -> ssize_t;
    fn recvfrom(
        socket: c_int, data: *mut c_void, length: size_t, flags: c_int, address: *mut sockaddr, size: *mut socklen_t
    ) -> ssize_t;
    fn recvmsg(socket: c_int, message: *mut msghdr, flags: c_int) -> ssize_t;
    fn recvmmsg(socket: c_int, list: *mut mmsghdr, count: c_uint, flags: c_int, limit: *mut timespec) -> c_int;
    fn write(number: c_int, data: *const c_void, count: size_t) -> ssize_t;
    fn writev(number: c_int, pieces: *const iovec, count: c_int) -> ssize_t;
    fn send(socket: c_int, data: *const c_void, length: size_t, flags: c_int) -> ssize_t;
    fn sendto(
        socket: c_int, data: *const c_void, length: size_t, flags: c_int, address: *const sockaddr, size: socklen_t
    ) -> ssize_t;
    fn sendmsg(socket: c_int, message: *const msghdr, flags: c_int) -> ssize_t;
    fn sendmmsg(socket: c_int, list: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int;
    fn sendfile(out: c_int, file: c_int, offset: *mut off_t, count: size_t) -> ssize_t;
    fn splice(
        from: c_int, from_offset: *mut off_t, to: c_int, to_offset: *mut off_t, length: size_t, flags: c_uint
    ) -> ssize_t;
    fn fdopen(number: c_int, mode: *const c_char) -> *mut FILE;
    fn poll(list: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int;
    fn ppoll(list: *mut pollfd, count: nfds_t, timeout: *const timespec, mask: *const sigset_t) -> c_int;
    fn select(
        count: c_int, read: *mut c_void, write: *mut c_void, except: *mut c_void, timeout: *mut c_void
    ) -> c_int;
    fn pselect(
        count: c_int, read: *mut c_void, write: *mut c_void, except: *mut c_void, timeout: *const timespec,
        mask: *const sigset_t
    ) -> c_int;
    fn epoll_create1(flags: c_int) -> c_int;
    fn epoll_ctl(set: c_int, operation: c_int, number: c_int, event: *mut epoll_event) -> c_int;
    fn epoll_pwait(
        set: c_int, events: *mut epoll_event, most: c_int, timeout: c_int, mask: *const sigset_t
    ) -> c_int;
    fn epoll_pwait2(
        set: c_int, events: *mut epoll_event, most: c_int, timeout: *const timespec, mask: *const sigset_t
    ) -> c_int;
    fn dup(number: c_int) -> c_int;
    fn dup2(number: c_int, wanted: c_int) -> c_int;
    fn dup3(number: c_int, wanted: c_int, flags: c_int) -> c_int;
    fn pthread_create(
        thread: *mut pthread_t, attributes: *const pthread_attr_t, start: Start, argument: *mut c_void
    ) -> c_int;
}

real_variadic! {
    fn fcntl(number: c_int, command: c_int);
    fn ioctl(number: c_int, command: c_ulong);
}
