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
    let order = || match commands {
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
    // Before the kernel knows of it: once it does, an event may come, and another thread reads and writes there.
    let command = || {
        let (_, before) = id.addresses();
        id.set_destination(destination);
        order().inspect_err(|_| id.set_destination(&before.0))
    };
    id.unfinished().take(Step::ResolveAddress, command, || {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cm::channel::Channel;
    use crate::cm::uid::IDS;
    use crate::cm::{forget_kernel, id};
    use crate::ctypes::{IBV_QPT_RC, RDMA_PS_TCP};
    use crate::sync::Shared;
    use crate::uapi::{CmdHdr, Command, CreateId};
    use crate::ucma::stand_in;
    use std::cell::RefCell;
    use std::ptr;
    use std::rc::Rc;
    use zerocopy::FromBytes;

    fn destination(id: &CmId) -> Vec<u8> {
        id.addresses().1.0[..16].to_vec()
    }

    /// Another thread may take the event as soon as there can be one.
    #[test]
    fn the_destination_stands_in_the_id_before_the_kernel_has_it() {
        let seen = Rc::new(RefCell::new(Vec::new()));
        let asked = Rc::clone(&seen);
        let kernel = move |message: &[u8], reply: &mut [u8]| {
            match CmdHdr::read_from_prefix(message).unwrap().0.cmd {
                CreateId::NUMBER => reply.fill(1),
                ResolveAddr::NUMBER => {
                    let mut asked = asked.borrow_mut();
                    asked.push(IDS.find(|_| true).map(|id| destination(&id)));
                    if asked.len() > 1 {
                        return Err(Errno::EHOSTUNREACH);
                    }
                }
                _ => {}
            }
            Ok(message.len())
        };
        let first = [&(libc::AF_INET as u16).to_ne_bytes()[..], &[1; 14]].concat();
        let second = [&(libc::AF_INET as u16).to_ne_bytes()[..], &[2; 14]].concat();
        stand_in::with(Box::new(kernel), || {
            forget_kernel();
            let channel = Channel::open().unwrap();
            let made =
                id::create(Some(Shared::clone(&channel)), ptr::null_mut(), RDMA_PS_TCP, IBV_QPT_RC).unwrap();
            assert_eq!(resolve(&made, None, &first, 1), Ok(()));
            assert_eq!(resolve(&made, None, &second, 1), Err(Errno::EHOSTUNREACH));
            assert_eq!(*seen.borrow(), [Some(first.clone()), Some(second)]);
            assert_eq!(destination(&made), first, "no event of the second comes");
            id::destroy(&made).unwrap();
            Channel::destroy(&channel);
            forget_kernel();
        });
    }
}
