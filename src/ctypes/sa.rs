// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Path records, as `<infiniband/sa.h>` declares them.

use core::ffi::c_int;

use super::verbs::ibv_gid;
use super::{__be16, __be32, __be64};

/// A resolved path, one field for each attribute.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs)] // the attributes of the InfiniBand architecture's PathRecord, by their names
pub struct ibv_sa_path_rec {
    pub dgid: ibv_gid,
    pub sgid: ibv_gid,
    pub dlid: __be16,
    pub slid: __be16,
    pub raw_traffic: c_int,
    pub flow_label: __be32,
    pub hop_limit: u8,
    pub traffic_class: u8,
    pub reversible: c_int,
    pub numb_path: u8,
    pub pkey: __be16,
    pub sl: u8,
    pub mtu_selector: u8,
    pub mtu: u8,
    pub rate_selector: u8,
    pub rate: u8,
    pub packet_life_time_selector: u8,
    pub packet_life_time: u8,
    pub preference: u8,
}

/// Bit of `ibv_path_record::reversible_numpath`: the path can be used in both directions.
pub const IBV_PATH_RECORD_REVERSIBLE: u8 = 0x80;

/// A path as it travels in a management datagram.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs)] // the attributes of the InfiniBand architecture's PathRecord, by their names
pub struct ibv_path_record {
    pub service_id: __be64,
    pub dgid: ibv_gid,
    pub sgid: ibv_gid,
    pub dlid: __be16,
    pub slid: __be16,
    /// 4 bits reserved, 20 bits flow label, 8 bits hop limit.
    pub flowlabel_hoplimit: __be32,
    pub tclass: u8,
    /// 1 bit reversible, 7 bits number of paths.
    pub reversible_numpath: u8,
    pub pkey: __be16,
    /// 12 bits class of quality of service, 4 bits service level.
    pub qosclass_sl: __be16,
    /// 2 bits selector, 6 bits value, as in the next two fields.
    pub mtu: u8,
    pub rate: u8,
    pub packetlifetime: u8,
    pub preference: u8,
    pub reserved: [u8; 6],
}

/// The path is meant for management datagrams.
pub const IBV_PATH_FLAG_GMP: u32 = 1 << 0;
/// The path is the first choice.
pub const IBV_PATH_FLAG_PRIMARY: u32 = 1 << 1;
/// The path is the one to migrate to.
pub const IBV_PATH_FLAG_ALTERNATE: u32 = 1 << 2;
/// The path is used to send.
pub const IBV_PATH_FLAG_OUTBOUND: u32 = 1 << 3;
/// The path is used to receive.
pub const IBV_PATH_FLAG_INBOUND: u32 = 1 << 4;
/// The path is used to receive and is written in the direction of sending.
pub const IBV_PATH_FLAG_INBOUND_REVERSE: u32 = 1 << 5;
/// The path is used in both directions.
pub const IBV_PATH_FLAG_BIDIRECTIONAL: u32 = IBV_PATH_FLAG_OUTBOUND | IBV_PATH_FLAG_INBOUND_REVERSE;

/// A path with what it is used for.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_path_data {
    /// `IBV_PATH_FLAG_` bits.
    pub flags: u32,
    /// 0.
    pub reserved: u32,
    /// The path.
    pub path: ibv_path_record,
}
