// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//! Commands on the life of an id: create, bind, options, move to another channel, destroy.

use super::{SockaddrIn6, SockaddrStorage};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Makes an id (`struct rdma_ucm_create_id`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct CreateId {
    /// Chosen by the caller; comes back in every event of the id.
    pub uid: u64,
    pub response: u64,
    /// Port space, `enum rdma_ucm_port_space`.
    pub ps: u16,
    /// `enum ibv_qp_type`.
    pub qp_type: u8,
    pub reserved: [u8; 5],
}
command!(CreateId, 0 => CreateIdReply, response);

/// `struct rdma_ucm_create_id_resp`; also what the multicast joins answer.
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct CreateIdReply {
    /// The kernel's number of the new id (or of the membership).
    pub id: u32,
}

/// Ends an id (`struct rdma_ucm_destroy_id`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct DestroyId {
    pub response: u64,
    pub id: u32,
    pub reserved: u32,
}
command!(DestroyId, 1 => DestroyIdReply, response, id);

/// `struct rdma_ucm_destroy_id_resp`; also what leaving a multicast group answers.
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct DestroyIdReply {
    /// Events of the id the kernel has handed out in all.
    pub events_reported: u32,
}

/// Binds to a local IPv4 or IPv6 address (`struct rdma_ucm_bind_ip`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct BindIp {
    /// The kernel writes nothing there.
    pub response: u64,
    pub addr: SockaddrIn6,
    pub id: u32,
}
command!(BindIp, 2);

/// Binds to a local address of any family (`struct rdma_ucm_bind`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct Bind {
    pub id: u32,
    /// Bytes of `addr` in use; the kernel checks it against the family.
    pub addr_size: u16,
    pub reserved: u16,
    pub addr: SockaddrStorage,
}
command!(Bind, 20);

/// Sets an option of an id (`struct rdma_ucm_set_option`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct SetOption {
    /// Address of the value.
    pub optval: u64,
    pub id: u32,
    pub level: u32,
    pub optname: u32,
    /// Bytes at `optval`.
    pub optlen: u32,
}
command!(SetOption, 14);

/// Moves an id, with its undelivered events, to the channel this is written to
/// (`struct rdma_ucm_migrate_id`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct MigrateId {
    pub response: u64,
    pub id: u32,
    /// Descriptor of the channel the id lives on now.
    pub fd: u32,
}
command!(MigrateId, 18 => MigrateIdReply, response, id);

/// `struct rdma_ucm_migrate_resp`.
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct MigrateIdReply {
    /// Events of the id the kernel has handed out so far.
    pub events_reported: u32,
}
