// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//! Commands on multicast groups.

use super::{CreateIdReply, DestroyIdReply, SockaddrIn6, SockaddrStorage};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Joins an IPv4 or IPv6 group (`struct rdma_ucm_join_ip_mcast`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct JoinIpMcast {
    pub response: u64,
    /// Comes back in the events of the membership.
    pub uid: u64,
    pub addr: SockaddrIn6,
    pub id: u32,
}
command!(JoinIpMcast, 16 => CreateIdReply, response, id);

/// Joins a group of any family (`struct rdma_ucm_join_mcast`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct JoinMcast {
    pub response: u64,
    /// Comes back in the events of the membership.
    pub uid: u64,
    pub id: u32,
    /// Bytes of `addr` in use.
    pub addr_size: u16,
    /// `RDMA_MC_JOIN_FLAG_*`, as a number, not as a bit.
    pub join_flags: u16,
    pub addr: SockaddrStorage,
}
command!(JoinMcast, 22 => CreateIdReply, response, id);

/// Leaves a group. The kernel has no struct of its own for it and reads a
/// `struct rdma_ucm_destroy_id`.
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct LeaveMcast {
    pub response: u64,
    /// The number the join answered with.
    pub id: u32,
    pub reserved: u32,
}
command!(LeaveMcast, 17 => DestroyIdReply, response, id);
