// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Path records, from the forms that the kernel sends to the one that applications read.

use crate::ctypes::{ibv_gid, ibv_path_record as Record, ibv_sa_path_rec};
use crate::uapi::{IbPathRecData, IbUserPathRec};
use std::mem::offset_of;

/// Selector of a limit that is meant exactly.
const EXACTLY: u8 = 2;

/// A record as it travels in management datagrams.
pub fn from_wire(data: &IbPathRecData) -> ibv_sa_path_rec {
    let record = Wire(&data.path_rec);
    let route = u32::from_be_bytes(record.bytes(offset_of!(Record, flowlabel_hoplimit)));
    let class_and_level = u16::from_be_bytes(record.bytes(offset_of!(Record, qosclass_sl)));
    ibv_sa_path_rec {
        dgid: ibv_gid { raw: record.bytes(offset_of!(Record, dgid)) },
        sgid: ibv_gid { raw: record.bytes(offset_of!(Record, sgid)) },
        dlid: u16::from_ne_bytes(record.bytes(offset_of!(Record, dlid))),
        slid: u16::from_ne_bytes(record.bytes(offset_of!(Record, slid))),
        raw_traffic: 0,
        flow_label: (route >> 8).to_be(),
        hop_limit: route as u8,
        traffic_class: record.byte(offset_of!(Record, tclass)),
        reversible: i32::from(record.byte(offset_of!(Record, reversible_numpath)) >> 7),
        numb_path: 1,
        pkey: u16::from_ne_bytes(record.bytes(offset_of!(Record, pkey))),
        sl: (class_and_level & 0xf) as u8,
        mtu_selector: EXACTLY,
        mtu: record.byte(offset_of!(Record, mtu)) & 0x1f,
        rate_selector: EXACTLY,
        rate: record.byte(offset_of!(Record, rate)) & 0x1f,
        packet_life_time_selector: EXACTLY,
        packet_life_time: record.byte(offset_of!(Record, packetlifetime)) & 0x1f,
        // There is no other field for what the path is used for; the C library's callers look here.
        preference: data.flags as u8,
    }
}

struct Wire<'a>(&'a [u8; size_of::<Record>()]);

impl Wire<'_> {
    fn bytes<const N: usize>(&self, at: usize) -> [u8; N] {
        self.0.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
    }

    fn byte(&self, at: usize) -> u8 {
        self.0.get(at).copied().unwrap_or(0)
    }
}

/// A record with a field for each attribute.
pub fn from_fields(record: &IbUserPathRec) -> ibv_sa_path_rec {
    ibv_sa_path_rec {
        dgid: ibv_gid { raw: record.dgid },
        sgid: ibv_gid { raw: record.sgid },
        dlid: record.dlid,
        slid: record.slid,
        raw_traffic: record.raw_traffic as i32,
        flow_label: record.flow_label,
        hop_limit: record.hop_limit,
        traffic_class: record.traffic_class,
        reversible: record.reversible as i32,
        numb_path: record.numb_path,
        pkey: record.pkey,
        sl: record.sl,
        mtu_selector: record.mtu_selector,
        mtu: record.mtu as u8,
        rate_selector: record.rate_selector,
        rate: record.rate,
        packet_life_time_selector: record.packet_life_time_selector,
        packet_life_time: record.packet_life_time,
        preference: record.preference,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wire_record_field_by_field() {
        let mut path_rec: [u8; 64] = std::array::from_fn(|byte| byte as u8);
        path_rec[44..48].copy_from_slice(&[0x00, 0x12, 0x34, 0x40]);
        path_rec[49] = 0x81;
        path_rec[52..54].copy_from_slice(&[0xab, 0xc7]);
        path_rec[54..57].copy_from_slice(&[0x84, 0x8a, 0x92]);
        let path = from_wire(&IbPathRecData { flags: 0x2b, reserved: 0, path_rec });
        // SAFETY: any bytes are a GID.
        #[allow(unsafe_code, reason = "the fields of a union")]
        let (dgid, sgid) = unsafe { (path.dgid.raw, path.sgid.raw) };
        assert_eq!(dgid, std::array::from_fn(|byte| byte as u8 + 8));
        assert_eq!(sgid, std::array::from_fn(|byte| byte as u8 + 24));
        assert_eq!(path.dlid.to_ne_bytes(), [40, 41]);
        assert_eq!(path.slid.to_ne_bytes(), [42, 43]);
        assert_eq!(path.flow_label.to_ne_bytes(), [0, 0, 0x12, 0x34]);
        assert_eq!((path.hop_limit, path.traffic_class, path.reversible), (0x40, 48, 1));
        assert_eq!(path.pkey.to_ne_bytes(), [50, 51]);
        assert_eq!((path.sl, path.mtu, path.rate, path.packet_life_time), (7, 4, 10, 0x12));
        assert_eq!((path.numb_path, path.preference), (1, 0x2b));
    }
}
