// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Binding an id to a local address, and finding the way to a remote one.

use super::family::{self, Commands};
use super::id::CmId;
use super::unfinished::Step;
use super::{option, query, synchronous};
use crate::ctypes::{
    RDMA_CM_EVENT_ADDR_ERROR, RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_ROUTE_ERROR,
    RDMA_CM_EVENT_ROUTE_RESOLVED,
};
use crate::errno::{Errno, Result};
use crate::resolve::{AddrInfo, ibacm, sockaddr};
use crate::sys::local;
use crate::uapi::{Bind, BindIp, ResolveAddr, ResolveIp, ResolveRoute};
use crate::ucma;
use std::time::Duration;
use zerocopy::FromZeros;

/// Binds the id to a local address. Where that belongs to an RDMA device the id is bound to the device as well.
pub fn bind(id: &CmId, address: &[u8]) -> Result<()> {
    let fd = id.fd();
    let commands = Commands::of_kernel(fd)?;
    let size = family::size(family::family(address), commands)?;
    let command = || match commands {
        Commands::AnyFamily => {
            let addr = family::storage(address);
            ucma::order(&fd, Bind { id: id.handle(), addr_size: size as u16, reserved: 0, addr })
        }
        Commands::IpOnly => {
            ucma::order(&fd, BindIp { response: 0, addr: family::ip(address), id: id.handle() })
        }
    };
    let bound = id.unfinished().take(Step::Bind, command, || query::bound(id));
    bound.map_err(|error| if is_port_taken(error, address) { Errno::EADDRINUSE } else { error })
}

/// The kernel calls an address not available also where its port is taken, if one of the two ids in question is bound
/// to the wildcard.
fn is_port_taken(error: Errno, address: &[u8]) -> bool {
    error == Errno::EADDRNOTAVAIL
        && sockaddr::ip(address).is_some_and(|address| address.port() != 0 && local::is_local(address))
}

/// Starts to find the device and the hardware address towards `destination`. An id with a channel of its own waits for
/// the result.
pub fn resolve(id: &CmId, source: Option<&[u8]>, destination: &[u8], timeout_ms: u32) -> Result<()> {
    let fd = id.fd();
    let commands = Commands::of_kernel(fd)?;
    let size = |address| family::size(family::family(address), commands);
    let destination_size = size(destination)?;
    let source_size = source.map_or(Ok(0), size)?;
    let source = source.unwrap_or_default();
    let command = || match commands {
        Commands::AnyFamily => ucma::order(
            &fd,
            ResolveAddr {
                id: id.handle(),
                timeout_ms,
                src_size: source_size as u16,
                dst_size: destination_size as u16,
                src_addr: family::storage(source),
                dst_addr: family::storage(destination),
                ..FromZeros::new_zeroed()
            },
        ),
        Commands::IpOnly => ucma::order(
            &fd,
            ResolveIp {
                src_addr: family::ip(source),
                dst_addr: family::ip(destination),
                id: id.handle(),
                timeout_ms,
            },
        ),
    };
    id.unfinished().take(Step::ResolveAddress, command, || {
        id.set_destination(destination);
        synchronous::complete_step(id, &[RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_ADDR_ERROR])
    })?
}

/// Starts to find the path to the destination. An id with a channel of its own waits for the result. EINVAL for an id
/// that is not bound to a device.
pub fn resolve_route(id: &CmId, timeout_ms: u32) -> Result<()> {
    let device = id.device().ok_or(Errno::EINVAL)?;
    let command = || {
        if device.is_ib() && take_known_route(id, timeout_ms) {
            return Ok(());
        }
        ucma::order(&id.fd(), ResolveRoute { id: id.handle(), timeout_ms })
    };
    id.unfinished().take(Step::ResolveRoute, command, || {
        synchronous::complete_step(id, &[RDMA_CM_EVENT_ROUTE_RESOLVED, RDMA_CM_EVENT_ROUTE_ERROR])
    })?
}

/// Gives the id the path that ibacm knows. False without one.
fn take_known_route(id: &CmId, timeout_ms: u32) -> bool {
    if ibacm::is_away() {
        return false;
    }
    let (source, destination) = id.addresses();
    let (Ok(source), Ok(destination)) = (AddrInfo::copy_of(&source.0), AddrInfo::copy_of(&destination.0))
    else {
        return false;
    };
    let ends = AddrInfo { source, destination, ..AddrInfo::default() };
    let limit = Duration::from_millis(timeout_ms.max(1).into());
    let answer = ibacm::ask(&ends, &AddrInfo::default(), limit);
    answer.is_some_and(|answer| !answer.paths.is_empty() && option::set_path(id, &answer.paths).is_ok())
}
