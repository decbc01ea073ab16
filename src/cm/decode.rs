// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! From what the kernel reports to what the application reads.

use super::connection::Connection;
use super::connection::handshake::{self, Answered};
use super::event::{About, NO_PARAM, PrivateData};
use super::id::CmId;
use super::user::Written;
use super::{event_parameters, migrate, query, service};
use crate::ctypes::{
    RDMA_CM_EVENT_ADDR_ERROR, RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_ADDRINFO_ERROR,
    RDMA_CM_EVENT_ADDRINFO_RESOLVED, RDMA_CM_EVENT_CONNECT_ERROR, RDMA_CM_EVENT_CONNECT_REQUEST,
    RDMA_CM_EVENT_CONNECT_RESPONSE, RDMA_CM_EVENT_DEVICE_REMOVAL, RDMA_CM_EVENT_DISCONNECTED,
    RDMA_CM_EVENT_ESTABLISHED, RDMA_CM_EVENT_INTERNAL, RDMA_CM_EVENT_REJECTED, RDMA_CM_EVENT_ROUTE_ERROR,
    RDMA_CM_EVENT_ROUTE_RESOLVED, RDMA_CM_EVENT_USER, ibv_ece, rdma_cm_event, rdma_cm_event_type,
};
use crate::diag;
use crate::errno::{Errno, Result};
use crate::sync::Shared;
use crate::sys::thread::uncancellable;
use crate::uapi::{EventReply, MAX_PRIVATE_DATA};
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

/// Fills `public` with the event that the reply tells of; `id` is the one that it names. None for an event that is not
/// for the application, which is then accounted for; so is one that fails.
#[inline(always)]
pub fn decode(
    id: Shared<CmId>,
    reply: &EventReply,
    public: &mut rdma_cm_event,
    private_data: &mut PrivateData,
) -> Result<Option<About>> {
    public.status = reply.status as i32;
    if reply.event != RDMA_CM_EVENT_USER {
        return match reply.event {
            // These take no call that could be cancelled.
            RDMA_CM_EVENT_ESTABLISHED | RDMA_CM_EVENT_DISCONNECTED => {
                decode_own(id, reply, public, private_data)
            }
            _ => uncancellable(|| decode_own(id, reply, public, private_data)),
        };
    }
    // In memory that held a user event before there is nothing to clear.
    if public.event != RDMA_CM_EVENT_USER {
        public.event = RDMA_CM_EVENT_USER;
        public.param = NO_PARAM;
    }
    public.param.arg = reply.param.arg();
    Ok(Some(About { id, listener: None }))
}

/// An event of the connection manager's own.
#[cold]
#[inline(never)]
fn decode_own(
    id: Shared<CmId>,
    reply: &EventReply,
    public: &mut rdma_cm_event,
    private_data: &mut PrivateData,
) -> Result<Option<About>> {
    public.event = reply.event;
    public.param = NO_PARAM;
    let for_application = match reply.event {
        RDMA_CM_EVENT_ADDR_RESOLVED => {
            turn_into(RDMA_CM_EVENT_ADDR_ERROR, query::address_resolved(&id), public);
            true
        }
        RDMA_CM_EVENT_ROUTE_RESOLVED => {
            turn_into(RDMA_CM_EVENT_ROUTE_ERROR, query::route_resolved(&id), public);
            true
        }
        RDMA_CM_EVENT_ADDRINFO_RESOLVED => {
            let found = service::found(&id).map(|found| id.resolution().succeed(found));
            turn_into(RDMA_CM_EVENT_ADDRINFO_ERROR, found.inspect_err(|_| id.resolution().fail()), public);
            true
        }
        RDMA_CM_EVENT_ADDRINFO_ERROR => {
            id.resolution().fail();
            true
        }
        RDMA_CM_EVENT_INTERNAL => internal(reply.param.arg(), public),
        RDMA_CM_EVENT_DEVICE_REMOVAL => {
            if let Some(device) = id.device() {
                device.set_removed();
            }
            true
        }
        kind => id.stage().goes_on(kind),
    };
    if !for_application {
        id.ledger().discard();
        return Ok(None);
    }
    match reply.event {
        RDMA_CM_EVENT_ADDR_RESOLVED
        | RDMA_CM_EVENT_ROUTE_RESOLVED
        | RDMA_CM_EVENT_ADDRINFO_RESOLVED
        | RDMA_CM_EVENT_ADDRINFO_ERROR
        | RDMA_CM_EVENT_INTERNAL => {}
        _ if id.is_datagram() => {
            let ud = reply.param.ud();
            let data = private_data.take(&ud.private_data, ud.private_data_len);
            public.param.ud = event_parameters::datagram(ud, data);
        }
        _ => {
            let conn = reply.param.conn();
            let data = private_data.take(&conn.private_data, conn.private_data_len);
            public.param.conn = event_parameters::connection(conn, data);
        }
    }
    match reply.event {
        RDMA_CM_EVENT_CONNECT_RESPONSE => answered(&id, reply, public),
        RDMA_CM_EVENT_CONNECT_REQUEST => return requested(id, reply),
        RDMA_CM_EVENT_REJECTED => handshake::refused(&id),
        _ => {}
    }
    Ok(Some(About { id, listener: None }))
}

/// Fills `public` with an event that was written, but not to the kernel. None if it is not for the application.
pub fn written(id: Shared<CmId>, written: Written, public: &mut rdma_cm_event) -> Option<About> {
    public.event = written.event;
    public.status = written.status;
    public.param = NO_PARAM;
    if written.event != RDMA_CM_EVENT_INTERNAL {
        public.param.arg = written.arg;
    } else if !internal(written.arg, public) {
        id.ledger().discard();
        return None;
    }
    Some(About { id, listener: None })
}

/// An event of the library's own, which the argument names. False if that is unknown.
fn internal(arg: u64, public: &mut rdma_cm_event) -> bool {
    let known = arg == u64::from(RDMA_CM_EVENT_ADDRINFO_RESOLVED);
    if known {
        public.event = RDMA_CM_EVENT_ADDRINFO_RESOLVED;
    } else {
        diag::line(format_args!("discarding internal event {arg}"));
    }
    known
}

/// A good event whose processing failed here is the error event.
fn turn_into(error: rdma_cm_event_type, result: Result<()>, public: &mut rdma_cm_event) {
    if let Err(errno) = result {
        public.event = error;
        public.status = -errno.raw();
    }
}

/// A peer's answer stands for the connection if the library ends the handshake.
fn answered(id: &CmId, reply: &EventReply, public: &mut rdma_cm_event) {
    match handshake::answered(id, reply.ece) {
        Ok(Answered::Established) => public.event = RDMA_CM_EVENT_ESTABLISHED,
        Ok(Answered::ForApplication) => {}
        failed => turn_into(RDMA_CM_EVENT_CONNECT_ERROR, failed.map(|_| ()), public),
    }
}

/// The event of a request is about a new id. If that cannot be made the request is refused here. The owner of a
/// synchronous listener asks for the next request and is told; others just do not see it.
fn requested(listener: Shared<CmId>, reply: &EventReply) -> Result<Option<About>> {
    match new_id(&listener, reply) {
        Ok(id) => Ok(Some(About { id, listener: Some(listener) })),
        Err(error) => {
            listener.ledger().discard();
            if listener.is_synchronous() {
                return Err(error);
            }
            static DROPPED: AtomicU32 = AtomicU32::new(0);
            let number = DROPPED.fetch_add(1, Ordering::Relaxed) + 1;
            diag::line(format_args!(
                "refusing a connection request, the {number}. in this process: {error:?}"
            ));
            Ok(None)
        }
    }
}

fn new_id(listener: &CmId, reply: &EventReply) -> Result<Shared<CmId>> {
    let remote = ibv_ece { vendor_id: reply.ece.vendor_id, options: reply.ece.attr_mod, comp_mask: 0 };
    let connection = Connection::requested(reply.param.conn(), remote);
    let id = CmId::of_request(listener, reply.id, connection)?;
    let prepare = || {
        let moved = if listener.is_synchronous() { migrate::migrate(&id, None) } else { Ok(()) };
        moved.and_then(|()| query::requested(&id))
    };
    let prepared = match prepare() {
        Err(Errno::EINVAL) if migrate::follow(listener, &id) => prepare(),
        result => result,
    };
    prepared.inspect_err(|_| super::id::abandon(&id))?;
    Ok(id)
}

impl PrivateData {
    /// A copy of what came; NULL for nothing.
    fn take(&mut self, data: &[u8; MAX_PRIVATE_DATA], length: u8) -> *const c_void {
        if length == 0 {
            return ptr::null();
        }
        self.0 = *data;
        self.0.as_ptr().cast()
    }
}
