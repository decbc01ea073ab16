// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Parameters that events bring, from the kernel's form to the application's.

use crate::ctypes::{ibv_ah_attr, ibv_gid, ibv_global_route, rdma_conn_param, rdma_ud_param};
use crate::uapi::{AhAttr, ConnParam, UdParam};
use std::ffi::c_void;
use zerocopy::FromZeros;

/// Of a connection.
pub fn connection(conn: &ConnParam, private_data: *const c_void) -> rdma_conn_param {
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

/// Of datagrams.
pub fn datagram(ud: &UdParam, private_data: *const c_void) -> rdma_ud_param {
    rdma_ud_param {
        private_data,
        private_data_len: ud.private_data_len,
        ah_attr: address_handle(&ud.ah_attr),
        qp_num: ud.qp_num,
        qkey: ud.qkey,
    }
}

/// Nothing but the application's own pointer.
pub fn no_datagram(private_data: *const c_void) -> rdma_ud_param {
    datagram(&UdParam::new_zeroed(), private_data)
}

/// Where a datagram goes.
pub fn address_handle(attr: &AhAttr) -> ibv_ah_attr {
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
