// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//! Commands that make and end connections.

use super::{AhAttr, MAX_PRIVATE_DATA};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Parameters of a connection (`struct rdma_ucm_conn_param`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct ConnParam {
    pub qp_num: u32,
    pub qkey: u32,
    pub private_data: [u8; MAX_PRIVATE_DATA],
    /// Bytes of `private_data` in use.
    pub private_data_len: u8,
    pub srq: u8,
    pub responder_resources: u8,
    pub initiator_depth: u8,
    pub flow_control: u8,
    pub retry_count: u8,
    pub rnr_retry_count: u8,
    /// Not 0 if the rest means something (only `Accept` may come without).
    pub valid: u8,
}

/// Where to send datagrams to (`struct rdma_ucm_ud_param`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct UdParam {
    pub qp_num: u32,
    pub qkey: u32,
    pub ah_attr: AhAttr,
    pub private_data: [u8; MAX_PRIVATE_DATA],
    /// Bytes of `private_data` in use.
    pub private_data_len: u8,
    pub reserved: [u8; 7],
}

/// Enhanced connection establishment (`struct rdma_ucm_ece`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct Ece {
    pub vendor_id: u32,
    pub attr_mod: u32,
}

/// Asks for a connection (`struct rdma_ucm_connect`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct Connect {
    pub conn_param: ConnParam,
    pub id: u32,
    pub reserved: u32,
    pub ece: Ece,
}
command!(Connect, 6);

/// Waits for connection requests (`struct rdma_ucm_listen`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct Listen {
    pub id: u32,
    /// Requests to hold; 0 for the most the kernel allows.
    pub backlog: u32,
}
command!(Listen, 7);

/// Accepts a connection request (`struct rdma_ucm_accept`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct Accept {
    /// Comes back in every event of the id from now on.
    pub uid: u64,
    pub conn_param: ConnParam,
    pub id: u32,
    pub reserved: u32,
    pub ece: Ece,
}
command!(Accept, 8);

/// Refuses a connection request (`struct rdma_ucm_reject`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct Reject {
    pub id: u32,
    /// Bytes of `private_data` in use.
    pub private_data_len: u8,
    /// Reason told to the peer; 0 for the ordinary one. Older kernels ignore it.
    pub reason: u8,
    pub reserved: [u8; 2],
    pub private_data: [u8; MAX_PRIVATE_DATA],
}
command!(Reject, 9);

/// Ends a connection (`struct rdma_ucm_disconnect`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct Disconnect {
    pub id: u32,
}
command!(Disconnect, 10);
