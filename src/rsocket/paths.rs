// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Paths of a connection, in the form in which an application can give them to another socket.

use crate::ctypes::{IBV_PATH_RECORD_REVERSIBLE, ibv_path_data, ibv_sa_path_rec};
use crate::errno::Result;
use crate::sys::memory;
use std::mem::offset_of;

use crate::ctypes::ibv_path_record as Record;

/// Selector of a limit that is meant exactly.
const EXACTLY: u8 = 2 << 6;

/// `struct ibv_path_data`, one for each path.
pub fn in_wire_form(paths: &[ibv_sa_path_rec]) -> Result<Vec<u8>> {
    memory::collect(paths.iter().flat_map(one))
}

fn one(path: &ibv_sa_path_rec) -> [u8; size_of::<ibv_path_data>()] {
    let mut bytes = [0; size_of::<ibv_path_data>()];
    let mut put = |at: usize, value: &[u8]| {
        for (place, byte) in bytes.iter_mut().skip(at).zip(value) {
            *place = *byte;
        }
    };
    put(offset_of!(ibv_path_data, flags), &u32::from(path.preference).to_ne_bytes());
    let mut field = |at: usize, value: &[u8]| put(offset_of!(ibv_path_data, path) + at, value);
    let label_and_hops = u32::from_be(path.flow_label) << 8 | u32::from(path.hop_limit);
    // SAFETY: any bytes are a GID.
    let (dgid, sgid) = unsafe { (path.dgid.raw, path.sgid.raw) };
    field(offset_of!(Record, dgid), &dgid);
    field(offset_of!(Record, sgid), &sgid);
    field(offset_of!(Record, dlid), &path.dlid.to_ne_bytes());
    field(offset_of!(Record, slid), &path.slid.to_ne_bytes());
    field(offset_of!(Record, flowlabel_hoplimit), &label_and_hops.to_be_bytes());
    field(offset_of!(Record, tclass), &[path.traffic_class]);
    let reversible = if path.reversible != 0 { IBV_PATH_RECORD_REVERSIBLE } else { 0 };
    field(offset_of!(Record, reversible_numpath), &[reversible | 1]);
    field(offset_of!(Record, pkey), &path.pkey.to_ne_bytes());
    field(offset_of!(Record, qosclass_sl), &u16::from(path.sl).to_be_bytes());
    field(offset_of!(Record, mtu), &[path.mtu | EXACTLY]);
    field(offset_of!(Record, rate), &[path.rate | EXACTLY]);
    field(offset_of!(Record, packetlifetime), &[path.packet_life_time | EXACTLY]);
    bytes
}
