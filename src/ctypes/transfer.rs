// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What is posted to queues and what comes out of them, as `<infiniband/verbs.h>` has it.

use core::ffi::{c_int, c_uint};

use super::verbs::{ibv_context, ibv_pd};

/// A piece of registered memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_sge {
    /// Where it begins.
    pub addr: u64,
    /// Bytes.
    pub length: u32,
    /// Local key of the memory.
    pub lkey: u32,
}

/// Registered memory. Made by libibverbs only.
#[repr(C)]
pub struct ibv_mr {
    /// The device it is on.
    pub context: *mut ibv_context,
    /// Its protection domain.
    pub pd: *mut ibv_pd,
    /// Where the memory begins.
    pub addr: *mut core::ffi::c_void,
    /// Bytes.
    pub length: usize,
    /// The kernel's number.
    pub handle: u32,
    /// Key for the device's own queues.
    pub lkey: u32,
    /// Key for peers.
    pub rkey: u32,
}

c_enum! { c_uint =>
    /// What a send does.
    pub enum ibv_wr_opcode {
        /// Writes to the peer's memory.
        IBV_WR_RDMA_WRITE = 0,
        /// The same, and tells it a number.
        IBV_WR_RDMA_WRITE_WITH_IMM = 1,
        /// Sends a message.
        IBV_WR_SEND = 2,
    }
}

c_enum! { c_uint =>
    /// How a send is done.
    pub enum ibv_send_flags {
        /// It makes a completion.
        IBV_SEND_SIGNALED = 1 << 1,
        /// The data is taken at once.
        IBV_SEND_INLINE = 1 << 3,
    }
}

c_enum! { c_int =>
    /// What may be done to registered memory.
    pub enum ibv_access_flags {
        /// The device itself writes.
        IBV_ACCESS_LOCAL_WRITE = 1,
        /// Peers write.
        IBV_ACCESS_REMOTE_WRITE = 1 << 1,
    }
}

/// A send to post; in C some of these are unions.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_send_wr {
    /// Comes back with the completion.
    pub wr_id: u64,
    /// The next in the list.
    pub next: *mut ibv_send_wr,
    /// The data.
    pub sg_list: *mut ibv_sge,
    /// Pieces of it.
    pub num_sge: c_int,
    /// What it does.
    pub opcode: ibv_wr_opcode,
    /// How.
    pub send_flags: c_uint,
    /// The number for the peer, in network byte order.
    pub imm_data: u32,
    /// Where in the peer's memory; of a datagram, the address handle.
    pub remote_addr: u64,
    /// The peer's key; of a datagram, the number of the peer's queue pair.
    pub rkey: u32,
    /// Key of the peer's queue, for datagrams.
    pub remote_qkey: u32,
    /// For other kinds of sends.
    pub other: [u64; 9],
}

/// A receive to post.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_recv_wr {
    /// Comes back with the completion.
    pub wr_id: u64,
    /// The next in the list.
    pub next: *mut ibv_recv_wr,
    /// Room for the message.
    pub sg_list: *mut ibv_sge,
    /// Pieces of it.
    pub num_sge: c_int,
}

/// How something posted ended; 0 is well.
pub type ibv_wc_status = c_uint;
/// It ended well.
pub const IBV_WC_SUCCESS: ibv_wc_status = 0;
/// It was not done since the queue pair had failed.
pub const IBV_WC_WR_FLUSH_ERR: ibv_wc_status = 5;
/// The peer does not know such a request.
pub const IBV_WC_REM_INV_REQ_ERR: ibv_wc_status = 9;
/// The peer allows nothing there.
pub const IBV_WC_REM_ACCESS_ERR: ibv_wc_status = 10;
/// The peer could not do it.
pub const IBV_WC_REM_OP_ERR: ibv_wc_status = 11;
/// The peer did not answer.
pub const IBV_WC_RETRY_EXC_ERR: ibv_wc_status = 12;

/// A completion.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_wc {
    /// From the send or receive.
    pub wr_id: u64,
    /// How it ended.
    pub status: ibv_wc_status,
    /// What it was; not set if it did not end well.
    pub opcode: c_uint,
    /// The maker's own.
    pub vendor_err: u32,
    /// Bytes of a message.
    pub byte_len: u32,
    /// The number of a peer, in network byte order.
    pub imm_data: u32,
    /// Of the queue pair.
    pub qp_num: u32,
    /// Of the peer's, for datagrams.
    pub src_qp: u32,
    /// What else is set.
    pub wc_flags: c_uint,
    /// For management.
    pub pkey_index: u16,
    /// For datagrams.
    pub slid: u16,
    /// For datagrams.
    pub sl: u8,
    /// For datagrams.
    pub dlid_path_bits: u8,
}

/// The peer told a number.
pub const IBV_WC_WITH_IMM: c_uint = 1 << 1;

const _: () = assert!(size_of::<ibv_wc>() == 48);
#[cfg(target_pointer_width = "64")]
const _: () = assert!(
    size_of::<ibv_send_wr>() == 128
        && core::mem::offset_of!(ibv_send_wr, remote_addr) == 40
        && size_of::<ibv_mr>() == 48
);
