// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Addresses.

use crate::rdma::{rgetpeername, rgetsockname};
use crate::{real, sockets};
use core::mem::MaybeUninit;
use core::ptr;
use libc::{c_int, sockaddr, sockaddr_storage, socklen_t};

/// An address of the kernel's.
pub struct Name {
    storage: sockaddr_storage,
    length: socklen_t,
}

impl Name {
    /// What a program gave. None if it is too long.
    ///
    /// # Safety
    ///
    /// An address as long as said.
    pub unsafe fn copy(address: *const sockaddr, length: socklen_t) -> Option<Name> {
        let mut name = Name::empty();
        if address.is_null() || length as usize > size_of::<sockaddr_storage>() {
            return None;
        }
        name.length = length;
        // SAFETY: there is that much room; the caller's promise.
        unsafe {
            ptr::copy_nonoverlapping(address.cast::<u8>(), (&raw mut name.storage).cast(), length as usize)
        };
        Some(name)
    }

    fn empty() -> Name {
        // SAFETY: all bits 0 are an address.
        Name { storage: unsafe { MaybeUninit::zeroed().assume_init() }, length: 0 }
    }

    /// As functions want it.
    pub fn address(&self) -> *const sockaddr {
        (&raw const self.storage).cast()
    }

    /// Its size in bytes.
    pub fn length(&self) -> socklen_t {
        self.length
    }

    /// Address family.
    pub fn family(&self) -> c_int {
        self.storage.ss_family.into()
    }

    /// In the order of the network.
    pub fn set_port(&mut self, port: u16) {
        if [libc::AF_INET, libc::AF_INET6].contains(&self.family()) {
            // Both have it in the same place.
            // SAFETY: the storage is large enough for either.
            unsafe { (*(&raw mut self.storage).cast::<libc::sockaddr_in>()).sin_port = port };
        }
    }

    /// In the order of the network. 0 for what has no ports.
    pub fn port(&self) -> u16 {
        match self.family() {
            // Both have it in the same place.
            // SAFETY: any bits are an address.
            libc::AF_INET | libc::AF_INET6 => unsafe {
                (*self.address().cast::<libc::sockaddr_in>()).sin_port
            },
            _ => 0,
        }
    }
}

type Asked = unsafe fn(c_int, *mut sockaddr, *mut socklen_t) -> c_int;

fn ask(which: Asked, number: c_int) -> Option<Name> {
    let mut name = Name::empty();
    name.length = size_of::<sockaddr_storage>() as socklen_t;
    // SAFETY: an address with room as long as said.
    let result = unsafe { which(number, (&raw mut name.storage).cast(), &mut name.length) };
    (result == 0).then_some(name)
}

/// The own address of the kernel's socket.
pub fn of(number: c_int) -> Option<Name> {
    ask(real::getsockname, number)
}

/// The peer's address of the kernel's socket.
pub fn of_peer(number: c_int) -> Option<Name> {
    ask(real::getpeername, number)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn getpeername(number: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        match sockets::find(number) {
            Some(held) => rgetpeername(held.key(), address, length),
            None => real::getpeername(number, address, length),
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn getsockname(number: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        match sockets::find(number) {
            Some(held) => rgetsockname(held.key(), address, length),
            None => real::getsockname(number, address, length),
        }
    }
}
