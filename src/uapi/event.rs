// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//! Commands on events.

use super::{ConnParam, Ece, UdParam};
use core::mem::offset_of;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, transmute, transmute_ref};

/// Takes the oldest event off the channel (`struct rdma_ucm_get_event`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct GetEvent {
    pub response: u64,
}
command!(GetEvent, 12 => EventReply, response);

/// An event (`struct rdma_ucm_event_resp`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct EventReply {
    /// Of the id the event is for; of the listening id for a connection request, of the
    /// membership for a multicast event.
    pub uid: u64,
    /// The kernel's number of the id; of the new one for a connection request, of the
    /// membership for a multicast event.
    pub id: u32,
    /// `enum rdma_cm_event_type`.
    pub event: u32,
    /// Signed in meaning.
    pub status: u32,
    pub param: EventParam,
    pub reserved: u32,
    /// Older kernels do not write it.
    pub ece: Ece,
}

/// Tells the kernel of an event the application saw (`struct rdma_ucm_notify`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct Notify {
    pub id: u32,
    /// `enum ibv_event_type`.
    pub event: u32,
}
command!(Notify, 15);

/// Puts an event of the application's own on the channel (`struct rdma_ucm_write_cm_event`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct WriteCmEvent {
    pub id: u32,
    pub reserved: u32,
    /// `enum rdma_cm_event_type`.
    pub event: u32,
    /// Signed in meaning.
    pub status: u32,
    pub param: EventParam,
}
command!(WriteCmEvent, 24);

/// The beginning of a [`WriteCmEvent`], with all of it that means something for a user event. Whatever the kernel reads
/// behind it, it does not use.
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct WriteUserEvent {
    pub id: u32,
    pub reserved: u32,
    /// `RDMA_CM_EVENT_USER`.
    pub event: u32,
    /// Signed in meaning.
    pub status: u32,
    pub arg: u64,
}
command!(WriteUserEvent, 24);

const _: () = assert!(offset_of!(WriteUserEvent, arg) == offset_of!(WriteCmEvent, param));

/// The union at the end of `EventReply` and `WriteCmEvent`; which of its members is meant
/// depends on the event and the port space.
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C, align(4))]
pub struct EventParam([u8; size_of::<UdParam>()]);

const CONN_REST: usize = size_of::<EventParam>() - size_of::<ConnParam>();
const ARG_REST: usize = size_of::<EventParam>() - size_of::<u64>();

/// `conn`, filled up to the size of the union.
#[derive(FromBytes, Immutable, IntoBytes)]
#[repr(C)]
struct Conn {
    conn: ConnParam,
    rest: [u8; CONN_REST],
}

/// `arg` as bytes, since it is not aligned in an `EventReply`, and filled up likewise.
#[derive(FromBytes, Immutable, IntoBytes)]
#[repr(C)]
struct Arg {
    arg: [u8; 8],
    rest: [u8; ARG_REST],
}

impl EventParam {
    /// As the parameters of a connection.
    #[inline]
    pub fn conn(&self) -> &ConnParam {
        let view: &Conn = transmute_ref!(self);
        &view.conn
    }

    /// As the parameters of a datagram peer or a multicast group.
    #[inline]
    pub fn ud(&self) -> &UdParam {
        transmute_ref!(self)
    }

    /// As the application's own number.
    #[inline]
    pub fn arg(&self) -> u64 {
        let view: &Arg = transmute_ref!(self);
        u64::from_ne_bytes(view.arg)
    }
}

impl From<ConnParam> for EventParam {
    fn from(conn: ConnParam) -> Self {
        transmute!(Conn { conn, rest: [0; CONN_REST] })
    }
}

impl From<UdParam> for EventParam {
    fn from(ud: UdParam) -> Self {
        transmute!(ud)
    }
}

impl From<u64> for EventParam {
    #[inline]
    fn from(arg: u64) -> Self {
        transmute!(Arg { arg: arg.to_ne_bytes(), rest: [0; ARG_REST] })
    }
}
