// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What this library needs of `<infiniband/verbs.h>`.

use core::ffi::{c_char, c_int, c_uint, c_void};
use core::marker::{PhantomData, PhantomPinned};

use super::__be64;

macro_rules! opaque {
    ($($(#[$meta:meta])* $name:ident;)+) => {$(
        $(#[$meta])*
        #[repr(C)]
        pub struct $name {
            _size_unknown: [u8; 0],
            // Neither Send, Sync nor Unpin: nothing is known about what C does with it.
            _not_ours: PhantomData<(*mut u8, PhantomPinned)>,
        }
    )+};
}

opaque! {
    /// An extended reliable connection domain.
    ibv_xrcd;
}

c_enum! { c_int =>
    /// What a device is.
    pub enum ibv_node_type {
        /// Not known.
        IBV_NODE_UNKNOWN = -1,
        /// An InfiniBand or RoCE channel adapter.
        IBV_NODE_CA = 1,
        /// An InfiniBand switch.
        IBV_NODE_SWITCH = 2,
        /// An InfiniBand router.
        IBV_NODE_ROUTER = 3,
        /// An iWARP adapter.
        IBV_NODE_RNIC = 4,
        /// A Cisco usNIC.
        IBV_NODE_USNIC = 5,
        /// A Cisco usNIC over UDP.
        IBV_NODE_USNIC_UDP = 6,
        /// A device that does not say.
        IBV_NODE_UNSPECIFIED = 7,
    }
}

c_enum! { c_int =>
    /// What a device speaks on the wire.
    pub enum ibv_transport_type {
        /// Not known.
        IBV_TRANSPORT_UNKNOWN = -1,
        /// InfiniBand, also over Ethernet.
        IBV_TRANSPORT_IB = 0,
        /// iWARP.
        IBV_TRANSPORT_IWARP = 1,
        /// Cisco usNIC.
        IBV_TRANSPORT_USNIC = 2,
        /// Cisco usNIC over UDP.
        IBV_TRANSPORT_USNIC_UDP = 3,
        /// A device that does not say.
        IBV_TRANSPORT_UNSPECIFIED = 4,
    }
}

c_enum! { c_uint =>
    /// The kinds of queue pairs.
    pub enum ibv_qp_type {
        /// Reliable connection.
        IBV_QPT_RC = 2,
        /// Unreliable connection.
        IBV_QPT_UC = 3,
        /// Unreliable datagram.
        IBV_QPT_UD = 4,
        /// Raw Ethernet.
        IBV_QPT_RAW_PACKET = 8,
        /// Sending end of an extended reliable connection.
        IBV_QPT_XRC_SEND = 9,
        /// Receiving end of an extended reliable connection.
        IBV_QPT_XRC_RECV = 10,
        /// A device's own kind.
        IBV_QPT_DRIVER = 0xff,
    }
}

c_enum! { u8 =>
    /// The link layer of a port; without a name in C.
    pub enum ibv_link_layer {
        /// Not known.
        IBV_LINK_LAYER_UNSPECIFIED = 0,
        /// InfiniBand.
        IBV_LINK_LAYER_INFINIBAND = 1,
        /// Ethernet.
        IBV_LINK_LAYER_ETHERNET = 2,
    }
}

/// An asynchronous event of a device; `IBV_EVENT_` values are passed on as they come.
pub type ibv_event_type = c_uint;
/// What atomics a device can do.
pub type ibv_atomic_cap = c_uint;
/// State of a port.
pub type ibv_port_state = c_uint;
/// The port is up and configured.
pub const IBV_PORT_ACTIVE: ibv_port_state = 4;
/// Largest packet, as a power of two: 1 is 256 bytes, 5 is 4096.
pub type ibv_mtu = c_uint;

/// The two halves of a GID.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_gid_global {
    /// Prefix of the subnet.
    pub subnet_prefix: __be64,
    /// Port within the subnet.
    pub interface_id: __be64,
}

/// The address of a port.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ibv_gid {
    /// As bytes on the wire.
    pub raw: [u8; 16],
    /// As prefix and port.
    pub global: ibv_gid_global,
}

/// The part of an address handle that leads out of the subnet.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_global_route {
    /// Address of the destination.
    pub dgid: ibv_gid,
    /// Flow label.
    pub flow_label: u32,
    /// Index of the local GID.
    pub sgid_index: u8,
    /// Hop limit.
    pub hop_limit: u8,
    /// Traffic class.
    pub traffic_class: u8,
}

/// Where a datagram goes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_ah_attr {
    /// Used if `is_global` is not 0.
    pub grh: ibv_global_route,
    /// Local identifier of the destination.
    pub dlid: u16,
    /// Service level.
    pub sl: u8,
    /// Low bits of the local identifier of the source.
    pub src_path_bits: u8,
    /// Limit of the rate.
    pub static_rate: u8,
    /// Not 0 if `grh` is used.
    pub is_global: u8,
    /// Local port.
    pub port_num: u8,
}

/// Length of a device's name, with its end.
pub const IBV_SYSFS_NAME_MAX: usize = 64;
/// Length of a device's path, with its end.
pub const IBV_SYSFS_PATH_MAX: usize = 256;

/// An RDMA device. Made by libibverbs only.
#[repr(C)]
pub struct ibv_device {
    /// Of no use any more.
    pub _ops: [*mut c_void; 2],
    /// What it is.
    pub node_type: ibv_node_type,
    /// What it speaks.
    pub transport_type: ibv_transport_type,
    /// Name of the kernel's device, such as "rxe0".
    pub name: [c_char; IBV_SYSFS_NAME_MAX],
    /// Name of the verbs device, such as "uverbs0".
    pub dev_name: [c_char; IBV_SYSFS_NAME_MAX],
    /// Path of the verbs device in sysfs.
    pub dev_path: [c_char; IBV_SYSFS_PATH_MAX],
    /// Path of the device in sysfs.
    pub ibdev_path: [c_char; IBV_SYSFS_PATH_MAX],
}

/// Functions of the device's driver that verbs.h calls without entering the library.
#[repr(C)]
pub struct ibv_context_ops {
    /// In the order of verbs.h.
    pub entries: [Option<unsafe extern "C" fn()>; 32],
}

/// An open device. Made by libibverbs only; it keeps private fields before and after these.
#[repr(C)]
pub struct ibv_context {
    /// The device that is open.
    pub device: *mut ibv_device,
    /// Functions of the driver.
    pub ops: ibv_context_ops,
    /// Descriptor that commands are written to.
    pub cmd_fd: c_int,
    /// Descriptor that asynchronous events come from.
    pub async_fd: c_int,
    /// Number of interrupt vectors for completions.
    pub num_comp_vectors: c_int,
    /// libibverbs' own.
    pub mutex: libc::pthread_mutex_t,
    /// libibverbs' own.
    pub abi_compat: *mut c_void,
}

/// A protection domain. Made by libibverbs only.
#[repr(C)]
pub struct ibv_pd {
    /// The device it is on.
    pub context: *mut ibv_context,
    /// The kernel's number.
    pub handle: u32,
}

/// What a device can do.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs)] // ibv_query_device(3) has the list; this library reads a few limits of it
pub struct ibv_device_attr {
    pub fw_ver: [c_char; 64],
    pub node_guid: __be64,
    pub sys_image_guid: __be64,
    pub max_mr_size: u64,
    pub page_size_cap: u64,
    pub vendor_id: u32,
    pub vendor_part_id: u32,
    pub hw_ver: u32,
    pub max_qp: c_int,
    pub max_qp_wr: c_int,
    pub device_cap_flags: c_uint,
    pub max_sge: c_int,
    pub max_sge_rd: c_int,
    pub max_cq: c_int,
    pub max_cqe: c_int,
    pub max_mr: c_int,
    pub max_pd: c_int,
    pub max_qp_rd_atom: c_int,
    pub max_ee_rd_atom: c_int,
    pub max_res_rd_atom: c_int,
    pub max_qp_init_rd_atom: c_int,
    pub max_ee_init_rd_atom: c_int,
    pub atomic_cap: ibv_atomic_cap,
    pub max_ee: c_int,
    pub max_rdd: c_int,
    pub max_mw: c_int,
    pub max_raw_ipv6_qp: c_int,
    pub max_raw_ethy_qp: c_int,
    pub max_mcast_grp: c_int,
    pub max_mcast_qp_attach: c_int,
    pub max_total_mcast_qp_attach: c_int,
    pub max_ah: c_int,
    pub max_fmr: c_int,
    pub max_map_per_fmr: c_int,
    pub max_srq: c_int,
    pub max_srq_wr: c_int,
    pub max_srq_sge: c_int,
    pub max_pkeys: u16,
    pub local_ca_ack_delay: u8,
    pub phys_port_cnt: u8,
}

/// State and limits of a port.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs)] // ibv_query_port(3) has the list; this library reads a few fields of it
pub struct ibv_port_attr {
    pub state: ibv_port_state,
    pub max_mtu: ibv_mtu,
    pub active_mtu: ibv_mtu,
    pub gid_tbl_len: c_int,
    pub port_cap_flags: u32,
    pub max_msg_sz: u32,
    pub bad_pkey_cntr: u32,
    pub qkey_viol_cntr: u32,
    pub pkey_tbl_len: u16,
    pub lid: u16,
    pub sm_lid: u16,
    pub lmc: u8,
    pub max_vl_num: u8,
    pub sm_sl: u8,
    pub subnet_timeout: u8,
    pub init_type_reply: u8,
    pub active_width: u8,
    pub active_speed: u8,
    pub phys_state: u8,
    pub link_layer: ibv_link_layer,
    pub flags: u8,
    pub port_cap_flags2: u16,
    pub active_speed_ex: u32,
}
