// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! How messages get to a peer: an address handle, made of the path that the kernel found.

use super::queue::Queue;
use crate::cm::id::CmId;
use crate::ctypes::{ibv_ah_attr, ibv_gid, ibv_global_route, ibv_sa_path_rec};
use crate::errno::{Errno, Result};
use crate::sync::Shared;
use crate::verbs::{AddressHandle, Context, Owned};
use std::ffi::c_int;

/// Where the kernel tells none.
const HOP_LIMIT: u8 = 64;

/// See the module.
pub struct Way {
    handle: Owned<AddressHandle>,
    /// Most bytes of a message.
    mtu: usize,
    // Ends last: it keeps the device.
    _id: Shared<CmId>,
}

impl Way {
    /// The way from a queue pair to what the id has been resolved to.
    pub fn create(queue: &Queue, id: &CmId, type_of_service: u8) -> Result<Way> {
        let path = *id.paths()?.first().ok_or(Errno::EHOSTUNREACH)?;
        let device = queue.id().device().ok_or(Errno::ENODEV)?;
        let port = id.port();
        let limits = device.verbs().port(port)?;
        // Without a global route nothing finds its way over Ethernet.
        let is_global = !device.is_infiniband(port) || path.hop_limit > 1;
        let grh = if is_global {
            global_route(device.verbs(), port, limits.gid_tbl_len, &path, type_of_service)?
        } else {
            NO_ROUTE
        };
        let path_bits = (1u16 << limits.lmc.min(7)) - 1;
        let mut attributes = ibv_ah_attr {
            grh,
            dlid: u16::from_be(path.dlid),
            sl: path.sl,
            src_path_bits: (u16::from_be(path.slid) & path_bits) as u8,
            static_rate: path.rate,
            is_global: is_global.into(),
            port_num: port,
        };
        // SAFETY: the id of the queue pair keeps the device, and so the domain.
        let handle = unsafe { AddressHandle::create(queue.id().pd(), &mut attributes)? };
        let mtu = mtu_bytes(limits.active_mtu).min(mtu_bytes(path.mtu.into()));
        Ok(Way { handle, mtu, _id: Shared::clone(queue.id()) })
    }

    /// For a post.
    pub fn handle(&self) -> AddressHandle {
        *self.handle
    }

    /// Most bytes of a message.
    pub fn mtu(&self) -> usize {
        self.mtu
    }
}

/// Bytes of a packet, of which devices and paths tell a code.
pub fn mtu_bytes(code: u32) -> usize {
    128 << code.clamp(1, 5)
}

const NO_ROUTE: ibv_global_route = ibv_global_route {
    dgid: ibv_gid { raw: [0; 16] },
    flow_label: 0,
    sgid_index: 0,
    hop_limit: 0,
    traffic_class: 0,
};

fn global_route(
    device: &Context,
    port: u8,
    gids: c_int,
    path: &ibv_sa_path_rec,
    type_of_service: u8,
) -> Result<ibv_global_route> {
    // SAFETY: any bytes are a GID.
    let own = unsafe { path.sgid.raw };
    // Of RoCE's two versions, which may share the address, the kernel lists the second one, which can be routed, last.
    let index = (0..gids.clamp(0, 256)).rev().find(|index| device.gid(port, *index) == Ok(own));
    let traffic_class = if type_of_service == 0 { path.traffic_class } else { type_of_service };
    Ok(ibv_global_route {
        dgid: path.dgid,
        flow_label: u32::from_be(path.flow_label),
        sgid_index: index.ok_or(Errno::EADDRNOTAVAIL)? as u8,
        hop_limit: if path.hop_limit > 1 { path.hop_limit } else { HOP_LIMIT },
        traffic_class,
    })
}
