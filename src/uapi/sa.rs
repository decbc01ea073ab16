// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//! Records of the subnet administrator (`rdma/ib_user_sa.h`).

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// A path, with what it is good for (`struct ib_path_rec_data`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct IbPathRecData {
    /// `IB_PATH_*`.
    pub flags: u32,
    pub reserved: u32,
    /// The record as the subnet administrator sends it, in network byte order.
    pub path_rec: [u8; 64],
}

/// A path, field by field (`struct ib_user_path_rec`).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct IbUserPathRec {
    pub dgid: [u8; 16],
    pub sgid: [u8; 16],
    /// Network byte order.
    pub dlid: u16,
    /// Network byte order.
    pub slid: u16,
    pub raw_traffic: u32,
    /// Network byte order.
    pub flow_label: u32,
    pub reversible: u32,
    pub mtu: u32,
    /// Network byte order.
    pub pkey: u16,
    pub hop_limit: u8,
    pub traffic_class: u8,
    pub numb_path: u8,
    pub sl: u8,
    pub mtu_selector: u8,
    pub rate_selector: u8,
    pub rate: u8,
    pub packet_life_time_selector: u8,
    pub packet_life_time: u8,
    pub preference: u8,
}

/// A service (`struct ib_user_service_rec`). All integers are in network byte order.
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct IbServiceRec {
    pub id: u64,
    pub gid: [u8; 16],
    pub pkey: u16,
    pub reserved: [u8; 2],
    /// Seconds.
    pub lease: u32,
    pub key: [u8; 16],
    pub name: [u8; 64],
    pub data_8: [u8; 16],
    pub data_16: [u16; 8],
    pub data_32: [u32; 4],
    pub data_64: [u64; 2],
}
