// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! From what the kernel reports to what the application reads.

use super::event::{Contents, NO_PARAM};
use super::id::CmId;
use super::query;
use crate::ctypes::{
    RDMA_CM_EVENT_ADDR_ERROR, RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_CONNECT_REQUEST,
    RDMA_CM_EVENT_INTERNAL, RDMA_CM_EVENT_ROUTE_ERROR, RDMA_CM_EVENT_ROUTE_RESOLVED, RDMA_CM_EVENT_USER,
    ibv_ah_attr, ibv_gid, ibv_global_route, rdma_cm_event_type, rdma_conn_param, rdma_ud_param,
};
use crate::diag;
use crate::errno::Result;
use crate::sys::thread::uncancellable;
use crate::uapi::{AhAttr, ConnParam, EventReply, UdParam};
use std::ptr;
use std::sync::Arc;

/// The event that the reply tells of, with its private data; `id` is the one that it names. None for an event that
/// is not for the application, which is then accounted for.
pub fn decode(id: Arc<CmId>, reply: &EventReply) -> Option<(Contents, &[u8])> {
    let mut contents =
        Contents { id, listener: None, kind: reply.event, status: reply.status as i32, param: NO_PARAM };
    match reply.event {
        RDMA_CM_EVENT_USER => {
            contents.param.arg = reply.param.arg();
            Some((contents, &[]))
        }
        RDMA_CM_EVENT_ADDR_RESOLVED => {
            let result = uncancellable(|| query::address_resolved(&contents.id));
            Some((contents.turned_into(RDMA_CM_EVENT_ADDR_ERROR, result), &[]))
        }
        RDMA_CM_EVENT_ROUTE_RESOLVED => {
            let result = uncancellable(|| query::route_resolved(&contents.id));
            Some((contents.turned_into(RDMA_CM_EVENT_ROUTE_ERROR, result), &[]))
        }
        RDMA_CM_EVENT_INTERNAL => {
            contents.id.ledger().discard();
            None
        }
        kind => {
            let private_data = if contents.id.is_datagram() {
                let ud = reply.param.ud();
                contents.param.ud = datagram(ud);
                ud.private_data.get(..usize::from(ud.private_data_len))
            } else {
                let conn = reply.param.conn();
                contents.param.conn = connection(conn);
                conn.private_data.get(..usize::from(conn.private_data_len))
            };
            if kind == RDMA_CM_EVENT_CONNECT_REQUEST {
                contents = uncancellable(|| requested(contents, reply.id))?;
            }
            Some((contents, private_data.unwrap_or_default()))
        }
    }
}

impl Contents {
    /// A good event whose processing failed here is the error event.
    fn turned_into(mut self, error: rdma_cm_event_type, result: Result<()>) -> Contents {
        if let Err(errno) = result {
            self.kind = error;
            self.status = -errno.raw();
        }
        self
    }
}

/// The event of a request is about a new id. If that cannot be made the request ends here.
fn requested(request: Contents, handle: u32) -> Option<Contents> {
    let listener = request.id;
    let made = CmId::of_request(&listener, handle).and_then(|id| match query::requested(&id) {
        Ok(()) => Ok(id),
        Err(error) => super::id::destroy(&id).and(Err(error)),
    });
    match made {
        Ok(id) => Some(Contents { id, listener: Some(listener), ..request }),
        Err(error) => {
            diag::line(format_args!("dropping a connection request: {error:?}"));
            listener.ledger().discard();
            None
        }
    }
}

fn connection(conn: &ConnParam) -> rdma_conn_param {
    rdma_conn_param {
        private_data: ptr::null(),
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

fn datagram(ud: &UdParam) -> rdma_ud_param {
    rdma_ud_param {
        private_data: ptr::null(),
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
