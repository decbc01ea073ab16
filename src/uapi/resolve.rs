// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//! Commands that look something up. Each is answered by an event.

use super::{SockaddrIn6, SockaddrStorage};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// `ibs.service_id` is set (`RDMA_USER_CM_IB_SERVICE_FLAG_ID`).
pub const IB_SERVICE_FLAG_ID: u32 = 1 << 0;
/// `ibs.service_name` is set (`RDMA_USER_CM_IB_SERVICE_FLAG_NAME`).
pub const IB_SERVICE_FLAG_NAME: u32 = 1 << 1;
/// Bytes of a service name (`RDMA_USER_CM_IB_SERVICE_NAME_SIZE`).
pub const IB_SERVICE_NAME_SIZE: usize = 64;

/// Finds the device towards an IPv4 or IPv6 address (`struct rdma_ucm_resolve_ip`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct ResolveIp {
    /// Family 0 for "any".
    pub src_addr: SockaddrIn6,
    pub dst_addr: SockaddrIn6,
    pub id: u32,
    /// Milliseconds.
    pub timeout_ms: u32,
}
command!(ResolveIp, 3);

/// Finds the device towards an address of any family (`struct rdma_ucm_resolve_addr`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct ResolveAddr {
    pub id: u32,
    /// Milliseconds.
    pub timeout_ms: u32,
    /// Bytes of `src_addr` in use; 0 for "any".
    pub src_size: u16,
    /// Bytes of `dst_addr` in use.
    pub dst_size: u16,
    pub reserved: u32,
    pub src_addr: SockaddrStorage,
    pub dst_addr: SockaddrStorage,
}
command!(ResolveAddr, 21);

/// Finds the path to the resolved address (`struct rdma_ucm_resolve_route`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct ResolveRoute {
    pub id: u32,
    /// Milliseconds.
    pub timeout_ms: u32,
}
command!(ResolveRoute, 4);

/// Asks the subnet administrator for a service (`struct rdma_ucm_resolve_ib_service`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct ResolveIbService {
    pub id: u32,
    pub reserved: u32,
    pub ibs: IbService,
}
command!(ResolveIbService, 23);

/// `struct rdma_ucm_ib_service`.
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct IbService {
    pub service_id: u64,
    pub service_name: [u8; IB_SERVICE_NAME_SIZE],
    /// `IB_SERVICE_FLAG_*`: which of the two to search by.
    pub flags: u32,
    pub reserved: u32,
}
