// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//! The kernel's side of the rdma_cm character device, as data: every struct of
//! `linux/rdma_user_cm.h` and the few of `rdma/ib_user_verbs.h` and `rdma/ib_user_sa.h`
//! it embeds.
//!
//! Each type carries the kernel's field names in the kernel's order. The derives refuse
//! implicit padding, so a message never carries stack bytes to the kernel, and any answer,
//! whatever its bytes, is a valid value. `FromZeros::new_zeroed()` makes an empty value:
//! `ResolveRoute { id, ..FromZeros::new_zeroed() }`.
//!
//! Integers are in host byte order unless a field says otherwise.
#![allow(missing_docs, reason = "a field without a comment is what its kernel name says")]

#[macro_use]
mod command;

mod addr;
mod connect;
mod event;
mod id;
mod mcast;
mod query;
mod resolve;
mod sa;
mod verbs;

pub use addr::{AF_IB, SockaddrIb, SockaddrIn6, SockaddrStorage};
pub use command::{CmdHdr, Command, NoReply};
pub use connect::{Accept, ConnParam, Connect, Disconnect, Ece, Listen, Reject, UdParam};
pub use event::{EventParam, EventReply, GetEvent, Notify, WriteCmEvent, WriteUserEvent};
pub use id::{
    Bind, BindIp, CreateId, CreateIdReply, DestroyId, DestroyIdReply, MigrateId, MigrateIdReply, SetOption,
};
pub use mcast::{JoinIpMcast, JoinMcast, LeaveMcast};
pub use query::{
    QUERY_ADDR, QUERY_GID, QUERY_IB_SERVICE, QUERY_PATH, Query, QueryAddr, QueryAddrReply, QueryGid,
    QueryIbService, QueryIbServiceHead, QueryIbServiceReply, QueryPath, QueryPathReply, QueryRoute,
    QueryRouteReply,
};
pub use resolve::{
    IB_SERVICE_FLAG_ID, IB_SERVICE_FLAG_NAME, IB_SERVICE_NAME_SIZE, IbService, ResolveAddr, ResolveIbService,
    ResolveIp, ResolveRoute,
};
pub use sa::{IbPathRecData, IbServiceRec, IbUserPathRec};
pub use verbs::{AhAttr, GlobalRoute, InitQpAttr, QpAttr};

/// Oldest kernel interface version spoken here.
pub const ABI_VERSION_MIN: u32 = 3;
/// Newest kernel interface version spoken here (`RDMA_USER_CM_ABI_VERSION`).
pub const ABI_VERSION_MAX: u32 = 4;
/// Bytes of private data a connection message can hold (`RDMA_MAX_PRIVATE_DATA`).
pub const MAX_PRIVATE_DATA: usize = 256;

#[cfg(test)]
mod tests;
