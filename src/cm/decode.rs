// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! From what the kernel reports to what the application reads.

use super::event::{About, NO_PARAM, PrivateData};
use super::id::CmId;
use super::query;
use crate::ctypes::{
    RDMA_CM_EVENT_ADDR_ERROR, RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_CONNECT_REQUEST,
    RDMA_CM_EVENT_INTERNAL, RDMA_CM_EVENT_ROUTE_ERROR, RDMA_CM_EVENT_ROUTE_RESOLVED, RDMA_CM_EVENT_USER,
    ibv_ah_attr, ibv_gid, ibv_global_route, rdma_cm_event, rdma_cm_event_type, rdma_conn_param,
    rdma_ud_param,
};
use crate::diag;
use crate::errno::Result;
use crate::sys::thread::uncancellable;
use crate::uapi::{AhAttr, ConnParam, EventReply, MAX_PRIVATE_DATA, UdParam};
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

/// Fills `public` with the event that the reply tells of; `id` is the one that it names. None for an event that is not
/// for the application, which is then accounted for.
#[inline(always)]
pub fn decode(
    id: Arc<CmId>,
    reply: &EventReply,
    public: &mut rdma_cm_event,
    private_data: &mut PrivateData,
) -> Option<About> {
    public.status = reply.status as i32;
    if reply.event != RDMA_CM_EVENT_USER {
        return uncancellable(|| decode_own(id, reply, public, private_data));
    }
    // In memory that held a user event before there is nothing to clear.
    if public.event != RDMA_CM_EVENT_USER {
        public.event = RDMA_CM_EVENT_USER;
        public.param = NO_PARAM;
    }
    public.param.arg = reply.param.arg();
    Some(About { id, listener: None })
}

/// An event of the connection manager's own.
#[cold]
#[inline(never)]
fn decode_own(
    id: Arc<CmId>,
    reply: &EventReply,
    public: &mut rdma_cm_event,
    private_data: &mut PrivateData,
) -> Option<About> {
    public.event = reply.event;
    public.param = NO_PARAM;
    match reply.event {
        RDMA_CM_EVENT_ADDR_RESOLVED => {
            turn_into(RDMA_CM_EVENT_ADDR_ERROR, query::address_resolved(&id), public);
        }
        RDMA_CM_EVENT_ROUTE_RESOLVED => {
            turn_into(RDMA_CM_EVENT_ROUTE_ERROR, query::route_resolved(&id), public);
        }
        RDMA_CM_EVENT_INTERNAL => {
            id.ledger().discard();
            return None;
        }
        _ if id.is_datagram() => {
            let ud = reply.param.ud();
            public.param.ud = datagram(ud, private_data.take(&ud.private_data, ud.private_data_len));
        }
        _ => {
            let conn = reply.param.conn();
            public.param.conn =
                connection(conn, private_data.take(&conn.private_data, conn.private_data_len));
        }
    }
    if reply.event == RDMA_CM_EVENT_CONNECT_REQUEST {
        return requested(id, reply.id);
    }
    Some(About { id, listener: None })
}

/// A good event whose processing failed here is the error event.
fn turn_into(error: rdma_cm_event_type, result: Result<()>, public: &mut rdma_cm_event) {
    if let Err(errno) = result {
        public.event = error;
        public.status = -errno.raw();
    }
}

/// The event of a request is about a new id. If that cannot be made the request ends here.
fn requested(listener: Arc<CmId>, handle: u32) -> Option<About> {
    let made = CmId::of_request(&listener, handle).and_then(|id| match query::requested(&id) {
        Ok(()) => Ok(id),
        Err(error) => super::id::destroy(&id).and(Err(error)),
    });
    match made {
        Ok(id) => Some(About { id, listener: Some(listener) }),
        Err(error) => {
            diag::line(format_args!("dropping a connection request: {error:?}"));
            listener.ledger().discard();
            None
        }
    }
}

impl PrivateData {
    /// A copy of what came; NULL for nothing.
    fn take(&mut self, data: &[u8; MAX_PRIVATE_DATA], length: u8) -> *const c_void {
        self.0 = *data;
        if length == 0 { ptr::null() } else { self.0.as_ptr().cast() }
    }
}

fn connection(conn: &ConnParam, private_data: *const c_void) -> rdma_conn_param {
    rdma_conn_param {
        private_data,
        private_data_len: conn.private_data_len,
        responder_resources: conn.responder_resources,
        initiator_depth: conn.initiator_depth,
        flow_control: conn.flow_control,
        retry_count: conn.retry_count,
        rnr_retry_count: conn.rnr_retry_count,
        srq: conn.srq,
        qp_num: conn.qp_num,
    }
}

fn datagram(ud: &UdParam, private_data: *const c_void) -> rdma_ud_param {
    rdma_ud_param {
        private_data,
        private_data_len: ud.private_data_len,
        ah_attr: address_handle(&ud.ah_attr),
        qp_num: ud.qp_num,
        qkey: ud.qkey,
    }
}

fn address_handle(attr: &AhAttr) -> ibv_ah_attr {
    ibv_ah_attr {
        grh: ibv_global_route {
            dgid: ibv_gid { raw: attr.grh.dgid },
            flow_label: attr.grh.flow_label,
            sgid_index: attr.grh.sgid_index,
            hop_limit: attr.grh.hop_limit,
            traffic_class: attr.grh.traffic_class,
        },
        dlid: attr.dlid,
        sl: attr.sl,
        src_path_bits: attr.src_path_bits,
        static_rate: attr.static_rate,
        is_global: attr.is_global,
        port_num: attr.port_num,
    }
}
