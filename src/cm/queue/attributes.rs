// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! How the kernel wants a queue pair to be set for the next state of its connection.

use crate::cm::event_parameters::address_handle;
use crate::cm::id::CmId;
use crate::ctypes::{ibv_qp_attr, ibv_qp_cap, ibv_qp_state};
use crate::errno::Result;
use crate::uapi::{InitQpAttr, QpAttr};
use crate::ucma;
use std::ffi::c_int;

/// What to set.
pub struct Change {
    /// The values.
    pub attributes: ibv_qp_attr,
    /// Those that count.
    pub mask: c_int,
}

/// Asks for the attributes that bring a queue pair of the id into a state.
#[inline]
pub fn of_state(id: &CmId, state: ibv_qp_state) -> Result<Change> {
    let reply = ucma::request(&id.fd(), InitQpAttr { response: 0, id: id.handle(), qp_state: state })?;
    Ok(Change { attributes: from_kernel(&reply), mask: reply.qp_attr_mask as c_int })
}

#[inline]
fn from_kernel(attr: &QpAttr) -> ibv_qp_attr {
    ibv_qp_attr {
        qp_state: attr.qp_state,
        cur_qp_state: attr.cur_qp_state,
        path_mtu: attr.path_mtu,
        path_mig_state: attr.path_mig_state,
        qkey: attr.qkey,
        rq_psn: attr.rq_psn,
        sq_psn: attr.sq_psn,
        dest_qp_num: attr.dest_qp_num,
        qp_access_flags: attr.qp_access_flags,
        cap: ibv_qp_cap {
            max_send_wr: attr.max_send_wr,
            max_recv_wr: attr.max_recv_wr,
            max_send_sge: attr.max_send_sge,
            max_recv_sge: attr.max_recv_sge,
            max_inline_data: attr.max_inline_data,
        },
        ah_attr: address_handle(&attr.ah_attr),
        alt_ah_attr: address_handle(&attr.alt_ah_attr),
        pkey_index: attr.pkey_index,
        alt_pkey_index: attr.alt_pkey_index,
        en_sqd_async_notify: attr.en_sqd_async_notify,
        sq_draining: attr.sq_draining,
        max_rd_atomic: attr.max_rd_atomic,
        max_dest_rd_atomic: attr.max_dest_rd_atomic,
        min_rnr_timer: attr.min_rnr_timer,
        port_num: attr.port_num,
        timeout: attr.timeout,
        retry_cnt: attr.retry_cnt,
        rnr_retry: attr.rnr_retry,
        alt_port_num: attr.alt_port_num,
        alt_timeout: attr.alt_timeout,
        rate_limit: 0,
    }
}
