// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Asking the kernel what it found out about an id, and filling the public struct with it.
//!
//! Applications read the fields directly, so they are filled at once and not when somebody asks.

use super::device::Name;
use super::family::{self, Commands};
use super::id::CmId;
use super::path;
use crate::errno::{Errno, Result};
use crate::uapi::{QueryAddr, QueryAddrReply, QueryGid, QueryPath, QueryRoute, QueryRouteReply};
use crate::ucma;
use zerocopy::FromZeros;

/// What a kernel that does not know the numbers of devices leaves in a reply.
const NO_INDEX: u32 = u32::MAX;

/// After the id was bound to a local address.
pub fn bound(id: &CmId) -> Result<()> {
    match Commands::of_kernel(id.fd())? {
        Commands::AnyFamily => {
            addresses(id)?;
            gids(id)
        }
        Commands::IpOnly => route(id),
    }
}

/// After it began to listen, which may have given it a port.
pub fn listening(id: &CmId) -> Result<()> {
    match Commands::of_kernel(id.fd())? {
        Commands::AnyFamily => addresses(id),
        Commands::IpOnly => route(id),
    }
}

/// After its addresses were resolved. ENODEV if that led to no device.
pub fn address_resolved(id: &CmId) -> Result<()> {
    let commands = Commands::of_kernel(id.fd())?;
    match commands {
        Commands::AnyFamily => addresses(id)?,
        Commands::IpOnly => route(id)?,
    }
    let device = id.device().ok_or(Errno::ENODEV)?;
    if commands == Commands::AnyFamily && device.is_ib() { gids(id) } else { Ok(()) }
}

/// After its route was resolved.
pub fn route_resolved(id: &CmId) -> Result<()> {
    if !id.device().is_some_and(|device| device.is_ib()) {
        return Ok(());
    }
    match Commands::of_kernel(id.fd())? {
        Commands::AnyFamily => paths(id),
        Commands::IpOnly => route(id),
    }
}

/// After a connection request brought it.
pub fn requested(id: &CmId) -> Result<()> {
    match Commands::of_kernel(id.fd())? {
        Commands::AnyFamily => {
            addresses(id)?;
            gids(id)?;
            paths(id)
        }
        Commands::IpOnly => route(id),
    }
}

/// Addresses and device.
pub fn addresses(id: &CmId) -> Result<()> {
    let mut reply = QueryAddrReply { ibdev_index: NO_INDEX, ..FromZeros::new_zeroed() };
    ucma::execute(&id.fd(), QueryAddr::new(id.handle()), &mut reply)?;
    id.set_source(reply.src_addr.0.get(..usize::from(reply.src_size)).ok_or(Errno::EPROTO)?);
    id.set_destination(reply.dst_addr.0.get(..usize::from(reply.dst_size)).ok_or(Errno::EPROTO)?);
    bind_device(id, reply.node_guid, reply.ibdev_index, reply.port_num, reply.pkey)
}

fn bind_device(id: &CmId, guid: u64, index: u32, port: u8, pkey: u16) -> Result<()> {
    if guid == 0 {
        return Ok(());
    }
    id.bind_device(Name { guid, index: (index != NO_INDEX).then_some(index) }, port, pkey)
}

/// Where the GIDs follow from the addresses, the kernel need not be asked: an id without device has none, and RoCE
/// makes them of the IP addresses.
fn gids(id: &CmId) -> Result<()> {
    let Some(device) = id.device() else {
        id.set_gids([0; 16], [0; 16]);
        return Ok(());
    };
    if device.is_roce(id.port()) {
        let (source, destination) = id.addresses();
        id.set_gids(family::gid(&source.0), family::gid(&destination.0));
        return Ok(());
    }
    let reply = ucma::request(&id.fd(), QueryGid::new(id.handle()))?;
    // The reply holds AF_IB addresses.
    id.set_gids(family::gid(&reply.src_addr.0), family::gid(&reply.dst_addr.0));
    Ok(())
}

fn paths(id: &CmId) -> Result<()> {
    let reply = ucma::request(&id.fd(), QueryPath::new(id.handle()))?;
    let found = reply.path_data.get(..reply.num_paths as usize).ok_or(Errno::EPROTO)?;
    id.set_paths(found.iter().map(path::from_wire))
}

fn route(id: &CmId) -> Result<()> {
    let mut reply = QueryRouteReply { ibdev_index: NO_INDEX, ..FromZeros::new_zeroed() };
    ucma::execute(&id.fd(), QueryRoute::new(id.handle()), &mut reply)?;
    let found = reply.ib_route.get(..reply.num_paths as usize).ok_or(Errno::EPROTO)?;
    id.set_paths(found.iter().map(path::from_fields))?;
    let [first, _] = &reply.ib_route;
    id.set_source(&reply.src_addr.0);
    id.set_destination(&reply.dst_addr.0);
    bind_device(id, reply.node_guid, reply.ibdev_index, reply.port_num, first.pkey)?;
    id.set_gids(first.sgid, first.dgid);
    id.set_pkey(first.pkey);
    Ok(())
}
