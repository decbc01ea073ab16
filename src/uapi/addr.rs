// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//! Socket addresses, as bytes: what is inside depends on the family in the first two.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Room for any socket address (`struct __kernel_sockaddr_storage`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C, align(8))]
pub struct SockaddrStorage(pub [u8; 128]);

/// Room for an IPv4 or IPv6 address (`struct sockaddr_in6`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C, align(4))]
pub struct SockaddrIn6(pub [u8; 28]);

/// `AF_IB` of linux/socket.h, which the libc crate lacks.
pub const AF_IB: u16 = 27;

/// An InfiniBand address (`struct sockaddr_ib`). All but the family and the scope is in network byte order.
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct SockaddrIb {
    pub family: u16,
    pub pkey: u16,
    pub flowinfo: u32,
    pub addr: [u8; 16],
    pub sid: u64,
    pub sid_mask: u64,
    pub scope_id: u64,
}
