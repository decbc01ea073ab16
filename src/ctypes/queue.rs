// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Queue pairs, completion queues and shared receive queues, as `<infiniband/verbs.h>` has them.

use core::ffi::{c_int, c_uint, c_void};
use core::ptr;

use super::verbs::{ibv_ah_attr, ibv_context, ibv_mtu, ibv_pd, ibv_qp_type, ibv_xrcd};

c_enum! { c_uint =>
    /// The life of a queue pair.
    pub enum ibv_qp_state {
        /// New.
        IBV_QPS_RESET = 0,
        /// Takes receives.
        IBV_QPS_INIT = 1,
        /// Ready to receive.
        IBV_QPS_RTR = 2,
        /// Ready to send.
        IBV_QPS_RTS = 3,
        /// Its send queue drains.
        IBV_QPS_SQD = 4,
        /// Its send queue failed.
        IBV_QPS_SQE = 5,
        /// Failed: everything posted completes with an error.
        IBV_QPS_ERR = 6,
    }
}

c_enum! { c_int =>
    /// Which fields of an [`ibv_qp_attr`] mean something.
    pub enum ibv_qp_attr_mask {
        /// `qp_state`.
        IBV_QP_STATE = 1 << 0,
        /// `qp_access_flags`.
        IBV_QP_ACCESS_FLAGS = 1 << 3,
        /// `pkey_index`.
        IBV_QP_PKEY_INDEX = 1 << 4,
        /// `port_num`.
        IBV_QP_PORT = 1 << 5,
        /// `qkey`.
        IBV_QP_QKEY = 1 << 6,
        /// `sq_psn`.
        IBV_QP_SQ_PSN = 1 << 16,
    }
}

c_enum! { u32 =>
    /// Which fields of an [`ibv_qp_init_attr_ex`] mean something.
    pub enum ibv_qp_init_attr_mask {
        /// `pd`.
        IBV_QP_INIT_ATTR_PD = 1 << 0,
        /// `xrcd`.
        IBV_QP_INIT_ATTR_XRCD = 1 << 1,
    }
}

c_enum! { u32 =>
    /// Which fields of an [`ibv_srq_init_attr_ex`] mean something.
    pub enum ibv_srq_init_attr_mask {
        /// `srq_type`.
        IBV_SRQ_INIT_ATTR_TYPE = 1 << 0,
        /// `pd`.
        IBV_SRQ_INIT_ATTR_PD = 1 << 1,
        /// `xrcd`.
        IBV_SRQ_INIT_ATTR_XRCD = 1 << 2,
        /// `cq`.
        IBV_SRQ_INIT_ATTR_CQ = 1 << 3,
    }
}

c_enum! { c_uint =>
    /// The kinds of shared receive queues.
    pub enum ibv_srq_type {
        /// For queue pairs of one protection domain.
        IBV_SRQT_BASIC = 0,
        /// For extended reliable connections.
        IBV_SRQT_XRC = 1,
    }
}

c_enum! { u32 =>
    /// Which fields of an [`ibv_xrcd_init_attr`] mean something.
    pub enum ibv_xrcd_init_attr_mask {
        /// `fd`.
        IBV_XRCD_INIT_ATTR_FD = 1 << 0,
        /// `oflags`.
        IBV_XRCD_INIT_ATTR_OFLAGS = 1 << 1,
    }
}

/// A queue pair. Made by libibverbs only; it keeps private fields behind these.
#[repr(C)]
pub struct ibv_qp {
    /// The device it is on.
    pub context: *mut ibv_context,
    /// The application's own.
    pub qp_context: *mut c_void,
    /// Its protection domain.
    pub pd: *mut ibv_pd,
    /// Where sends complete.
    pub send_cq: *mut ibv_cq,
    /// Where receives complete.
    pub recv_cq: *mut ibv_cq,
    /// The shared receive queue it takes from, or NULL.
    pub srq: *mut ibv_srq,
    /// The kernel's number.
    pub handle: u32,
    /// Its number on the wire.
    pub qp_num: u32,
    /// Its state as libibverbs last set it.
    pub state: ibv_qp_state,
    /// Its kind.
    pub qp_type: ibv_qp_type,
}

/// A completion queue. Made by libibverbs only; it keeps private fields behind these.
#[repr(C)]
pub struct ibv_cq {
    /// The device it is on.
    pub context: *mut ibv_context,
    /// Where it announces completions, or NULL.
    pub channel: *mut ibv_comp_channel,
    /// The application's own.
    pub cq_context: *mut c_void,
    /// The kernel's number.
    pub handle: u32,
    /// Room for completions.
    pub cqe: c_int,
}

/// A shared receive queue. Made by libibverbs only; it keeps private fields behind these.
#[repr(C)]
pub struct ibv_srq {
    /// The device it is on.
    pub context: *mut ibv_context,
    /// The application's own.
    pub srq_context: *mut c_void,
    /// Its protection domain.
    pub pd: *mut ibv_pd,
    /// The kernel's number.
    pub handle: u32,
}

/// A completion channel. Made by libibverbs only.
#[repr(C)]
pub struct ibv_comp_channel {
    /// The device it is on.
    pub context: *mut ibv_context,
    /// Readable while an event is pending.
    pub fd: c_int,
    /// Completion queues on it.
    pub refcnt: c_int,
}

/// Sizes of a queue pair.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_qp_cap {
    /// Sends outstanding.
    pub max_send_wr: u32,
    /// Receives outstanding.
    pub max_recv_wr: u32,
    /// Pieces of memory in a send.
    pub max_send_sge: u32,
    /// Pieces of memory in a receive.
    pub max_recv_sge: u32,
    /// Bytes of data inside a send itself.
    pub max_inline_data: u32,
}

/// Attributes of a new queue pair.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_qp_init_attr {
    /// The application's own.
    pub qp_context: *mut c_void,
    /// Where sends complete.
    pub send_cq: *mut ibv_cq,
    /// Where receives complete.
    pub recv_cq: *mut ibv_cq,
    /// The shared receive queue to take from, or NULL.
    pub srq: *mut ibv_srq,
    /// Sizes.
    pub cap: ibv_qp_cap,
    /// Kind.
    pub qp_type: ibv_qp_type,
    /// Not 0 if every send makes a completion.
    pub sq_sig_all: c_int,
}

/// How a device spreads packets over queues; this library only passes it on.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs)] // ibv_create_qp_ex(3) has the list
pub struct ibv_rx_hash_conf {
    pub rx_hash_function: u8,
    pub rx_hash_key_len: u8,
    pub rx_hash_key: *mut u8,
    pub rx_hash_fields_mask: u64,
}

/// Attributes of a new queue pair, extended. An application that sets no bit of `comp_mask` for a field behind
/// `xrcd` need not have room for it: those are never read here.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs)] // ibv_create_qp_ex(3) has the list
pub struct ibv_qp_init_attr_ex {
    pub qp_context: *mut c_void,
    pub send_cq: *mut ibv_cq,
    pub recv_cq: *mut ibv_cq,
    pub srq: *mut ibv_srq,
    pub cap: ibv_qp_cap,
    pub qp_type: ibv_qp_type,
    pub sq_sig_all: c_int,
    /// Bits of [`ibv_qp_init_attr_mask`].
    pub comp_mask: u32,
    /// Its protection domain.
    pub pd: *mut ibv_pd,
    /// Its extended reliable connection domain.
    pub xrcd: *mut ibv_xrcd,
    pub create_flags: u32,
    pub max_tso_header: u16,
    pub rwq_ind_tbl: *mut c_void,
    pub rx_hash_conf: ibv_rx_hash_conf,
    pub source_qpn: u32,
    pub send_ops_flags: u64,
}

impl From<ibv_qp_init_attr> for ibv_qp_init_attr_ex {
    /// The long form, without a bit set.
    fn from(short: ibv_qp_init_attr) -> ibv_qp_init_attr_ex {
        ibv_qp_init_attr_ex {
            qp_context: short.qp_context,
            send_cq: short.send_cq,
            recv_cq: short.recv_cq,
            srq: short.srq,
            cap: short.cap,
            qp_type: short.qp_type,
            sq_sig_all: short.sq_sig_all,
            comp_mask: 0,
            pd: ptr::null_mut(),
            xrcd: ptr::null_mut(),
            create_flags: 0,
            max_tso_header: 0,
            rwq_ind_tbl: ptr::null_mut(),
            rx_hash_conf: ibv_rx_hash_conf {
                rx_hash_function: 0,
                rx_hash_key_len: 0,
                rx_hash_key: ptr::null_mut(),
                rx_hash_fields_mask: 0,
            },
            source_qpn: 0,
            send_ops_flags: 0,
        }
    }
}

/// Attributes of a queue pair.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs)] // ibv_modify_qp(3) has the list
pub struct ibv_qp_attr {
    pub qp_state: ibv_qp_state,
    pub cur_qp_state: ibv_qp_state,
    pub path_mtu: ibv_mtu,
    pub path_mig_state: c_uint,
    pub qkey: u32,
    pub rq_psn: u32,
    pub sq_psn: u32,
    pub dest_qp_num: u32,
    pub qp_access_flags: c_uint,
    pub cap: ibv_qp_cap,
    pub ah_attr: ibv_ah_attr,
    pub alt_ah_attr: ibv_ah_attr,
    pub pkey_index: u16,
    pub alt_pkey_index: u16,
    pub en_sqd_async_notify: u8,
    pub sq_draining: u8,
    pub max_rd_atomic: u8,
    pub max_dest_rd_atomic: u8,
    pub min_rnr_timer: u8,
    pub port_num: u8,
    pub timeout: u8,
    pub retry_cnt: u8,
    pub rnr_retry: u8,
    pub alt_port_num: u8,
    pub alt_timeout: u8,
    pub rate_limit: u32,
}

impl ibv_qp_attr {
    /// Nothing set.
    // SAFETY: integers, and unions of them; all of them may be zero.
    #[allow(unsafe_code, reason = "a constant of a type with unions")]
    pub const CLEAR: ibv_qp_attr = unsafe { core::mem::zeroed() };
}

/// Sizes of a shared receive queue.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_srq_attr {
    /// Receives outstanding.
    pub max_wr: u32,
    /// Pieces of memory in a receive.
    pub max_sge: u32,
    /// Fewer receives than this make an event.
    pub srq_limit: u32,
}

/// Attributes of a new shared receive queue.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_srq_init_attr {
    /// The application's own.
    pub srq_context: *mut c_void,
    /// Sizes.
    pub attr: ibv_srq_attr,
}

/// Attributes of a new shared receive queue, extended.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_srq_init_attr_ex {
    /// The application's own.
    pub srq_context: *mut c_void,
    /// Sizes.
    pub attr: ibv_srq_attr,
    /// Bits of [`ibv_srq_init_attr_mask`].
    pub comp_mask: u32,
    /// Kind.
    pub srq_type: ibv_srq_type,
    /// Its protection domain.
    pub pd: *mut ibv_pd,
    /// Its extended reliable connection domain.
    pub xrcd: *mut ibv_xrcd,
    /// Where receives complete.
    pub cq: *mut ibv_cq,
    /// Limits of tag matching, which this library only passes on.
    pub tm_cap: [u32; 2],
}

impl From<ibv_srq_init_attr> for ibv_srq_init_attr_ex {
    /// The long form, without a bit set.
    fn from(short: ibv_srq_init_attr) -> ibv_srq_init_attr_ex {
        ibv_srq_init_attr_ex {
            srq_context: short.srq_context,
            attr: short.attr,
            comp_mask: 0,
            srq_type: IBV_SRQT_BASIC,
            pd: ptr::null_mut(),
            xrcd: ptr::null_mut(),
            cq: ptr::null_mut(),
            tm_cap: [0; 2],
        }
    }
}

/// Attributes of a new extended reliable connection domain.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_xrcd_init_attr {
    /// Bits of [`ibv_xrcd_init_attr_mask`].
    pub comp_mask: u32,
    /// The file that names it, or -1 for a private one.
    pub fd: c_int,
    /// As for open(2).
    pub oflags: c_int,
}

/// What two devices of one maker tell each other while a connection is made.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ibv_ece {
    /// The maker; 0 for none.
    pub vendor_id: u32,
    /// The maker's own bits.
    pub options: u32,
    /// Must be 0.
    pub comp_mask: u32,
}
