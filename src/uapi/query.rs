// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//! Commands that read what the kernel knows of an id.
//!
//! The newer query command answers with another struct for each option, so each option is
//! a command type of its own here.

use super::{IbPathRecData, IbServiceRec, IbUserPathRec, SockaddrIn6, SockaddrStorage};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// `RDMA_USER_CM_QUERY_ADDR`.
pub const QUERY_ADDR: u32 = 0;
/// `RDMA_USER_CM_QUERY_PATH`.
pub const QUERY_PATH: u32 = 1;
/// `RDMA_USER_CM_QUERY_GID`.
pub const QUERY_GID: u32 = 2;
/// `RDMA_USER_CM_QUERY_IB_SERVICE`.
pub const QUERY_IB_SERVICE: u32 = 3;

/// The body that all queries share (`struct rdma_ucm_query`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct Query {
    pub response: u64,
    pub id: u32,
    /// `QUERY_*`.
    pub option: u32,
}

macro_rules! query {
    ($(#[$doc:meta])* $name:ident, $number:literal, $option:expr => $reply:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
        #[repr(C)]
        pub struct $name {
            pub query: Query,
        }

        impl $name {
            /// The query about the id with the kernel's number `id`.
            pub const fn new(id: u32) -> Self {
                Self { query: Query { response: 0, id, option: $option } }
            }
        }
        command!($name, $number => $reply, query.response, query.id);
    };
}

query! {
    /// Addresses, device and path of an id with IPv4 or IPv6 addresses. The kernel ignores
    /// the option.
    QueryRoute, 5, 0 => QueryRouteReply
}
query! {
    /// Addresses and device.
    QueryAddr, 19, QUERY_ADDR => QueryAddrReply
}
query! {
    /// The paths.
    QueryPath, 19, QUERY_PATH => QueryPathReply
}
query! {
    /// As `QueryAddr`, with the GIDs as `AF_IB` addresses.
    QueryGid, 19, QUERY_GID => QueryAddrReply
}
query! {
    /// How many service records there are. Sent with room for a `QueryIbServiceReply`
    /// instead, it brings the records too.
    QueryIbService, 19, QUERY_IB_SERVICE => QueryIbServiceHead
}

/// `struct rdma_ucm_query_route_resp`.
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct QueryRouteReply {
    /// Network byte order; 0 until the id is bound to a device.
    pub node_guid: u64,
    pub ib_route: [IbUserPathRec; 2],
    pub src_addr: SockaddrIn6,
    pub dst_addr: SockaddrIn6,
    /// Entries of `ib_route` in use.
    pub num_paths: u32,
    pub port_num: u8,
    pub reserved: [u8; 3],
    /// The kernel's number of the device; older kernels do not write it.
    pub ibdev_index: u32,
    pub reserved1: u32,
}

/// `struct rdma_ucm_query_addr_resp`.
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct QueryAddrReply {
    /// Network byte order; 0 until the id is bound to a device.
    pub node_guid: u64,
    pub port_num: u8,
    pub reserved: u8,
    /// Network byte order.
    pub pkey: u16,
    /// Bytes of `src_addr` in use.
    pub src_size: u16,
    /// Bytes of `dst_addr` in use.
    pub dst_size: u16,
    pub src_addr: SockaddrStorage,
    pub dst_addr: SockaddrStorage,
    /// The kernel's number of the device; older kernels do not write it.
    pub ibdev_index: u32,
    pub reserved1: u32,
}

/// `struct rdma_ucm_query_path_resp`, with room to spare: a route has at most two paths,
/// primary and alternate, and the kernel leaves a last entry that just fits empty.
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct QueryPathReply {
    /// Paths of the route, which may be more than the kernel had room for.
    pub num_paths: u32,
    pub reserved: u32,
    pub path_data: [IbPathRecData; 6],
}

/// The fixed part of `struct rdma_ucm_query_ib_service_resp`.
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct QueryIbServiceHead {
    /// Records found, which may be more than the kernel had room for.
    pub num_service_recs: u32,
    pub reserved: u32,
}

/// `struct rdma_ucm_query_ib_service_resp`.
#[derive(Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct QueryIbServiceReply {
    pub head: QueryIbServiceHead,
    pub recs: [IbServiceRec],
}
