// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! From names to addresses, by the system's name services.

use super::info::AddrInfo;
use super::sockaddr;
use crate::ctypes::{
    IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_RECV, IBV_QPT_XRC_SEND, RAI_FAMILY, RAI_NUMERICHOST,
    RAI_PASSIVE, RDMA_PS_IB, RDMA_PS_IPOIB, RDMA_PS_TCP, RDMA_PS_UDP,
};
use crate::errno::Errno;
use crate::sys::memory;
use crate::sys::names::{self, Found, NotFound, Wanted};
use crate::uapi::AF_IB;
use std::ffi::{CStr, c_int};

/// Why there is no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What `rdma_getaddrinfo` returns: an `EAI_` value, or -1.
    pub code: c_int,
    /// The same as an errno.
    pub errno: Errno,
}

impl From<Errno> for Failure {
    fn from(errno: Errno) -> Failure {
        Failure { code: -1, errno }
    }
}

impl From<NotFound> for Failure {
    fn from(error: NotFound) -> Failure {
        let errno = match error.code {
            libc::EAI_NONAME | libc::EAI_NODATA | EAI_ADDRFAMILY | libc::EAI_FAIL => Errno::ENOENT,
            libc::EAI_AGAIN => Errno::EAGAIN,
            libc::EAI_MEMORY => Errno::ENOMEM,
            libc::EAI_SYSTEM => error.system.unwrap_or(Errno::EIO),
            _ => Errno::EINVAL,
        };
        Failure { code: error.code, errno }
    }
}

/// `EAI_ADDRFAMILY` of netdb.h, which the libc crate lacks: the host has no address of the family.
const EAI_ADDRFAMILY: c_int = -9;

/// The addresses of a node, a service or both, in the order of the system's preference: each once, and each for the
/// kind of queue pair that the first is for.
pub fn look_up(
    node: Option<&CStr>,
    service: Option<&CStr>,
    hints: Option<&AddrInfo>,
) -> Result<Vec<AddrInfo>, Failure> {
    let found = names::look_up(node, service, hints.map(wanted))?;
    let defaults = AddrInfo::default();
    let mut entries = Vec::new();
    for found in found {
        memory::push(&mut entries, entry(found, hints.unwrap_or(&defaults))?)?;
    }
    let kind = entries.first().map(|first| (first.qp_type, first.port_space));
    entries.retain(|entry| Some((entry.qp_type, entry.port_space)) == kind);
    Ok(entries)
}

/// Whether the node is a GID, written as an IPv6 address.
fn is_gid(hints: &AddrInfo) -> bool {
    hints.has(RAI_FAMILY | RAI_NUMERICHOST) && hints.family == c_int::from(AF_IB)
}

fn wanted(hints: &AddrInfo) -> Wanted {
    let mut flags = 0;
    if hints.has(RAI_PASSIVE) {
        flags |= libc::AI_PASSIVE;
    }
    if hints.has(RAI_NUMERICHOST) {
        flags |= libc::AI_NUMERICHOST;
    }
    let family = match hints.family {
        _ if is_gid(hints) => libc::AF_INET6,
        family if family == c_int::from(AF_IB) => libc::AF_UNSPEC,
        family => family,
    };
    let kind = match hints.qp_type as u32 {
        IBV_QPT_RC | IBV_QPT_UC | IBV_QPT_XRC_SEND | IBV_QPT_XRC_RECV => libc::SOCK_STREAM,
        IBV_QPT_UD => libc::SOCK_DGRAM,
        _ => 0,
    };
    let protocol = match (hints.port_space as u32, kind) {
        (RDMA_PS_TCP, _) | (RDMA_PS_IB, libc::SOCK_STREAM) => libc::IPPROTO_TCP,
        (RDMA_PS_IPOIB | RDMA_PS_UDP, _) | (RDMA_PS_IB, libc::SOCK_DGRAM) => libc::IPPROTO_UDP,
        _ => 0,
    };
    Wanted { flags, family, kind, protocol }
}

fn entry(found: Found, hints: &AddrInfo) -> Result<AddrInfo, Errno> {
    let qp_type = match found.what.kind {
        _ if hints.qp_type != 0 => hints.qp_type,
        libc::SOCK_STREAM => IBV_QPT_RC as c_int,
        libc::SOCK_DGRAM => IBV_QPT_UD as c_int,
        _ => 0,
    };
    let port_space = match found.what.protocol {
        _ if hints.port_space != 0 => hints.port_space,
        libc::IPPROTO_TCP => RDMA_PS_TCP as c_int,
        libc::IPPROTO_UDP => RDMA_PS_UDP as c_int,
        _ => 0,
    };
    let (family, address) = if is_gid(hints) {
        (c_int::from(AF_IB), sockaddr::of_gid_text(port_space, &found.address)?)
    } else {
        (found.what.family, found.address)
    };
    let entry = AddrInfo { family, qp_type, port_space, ..AddrInfo::default() };
    Ok(if found.what.flags & libc::AI_PASSIVE != 0 {
        AddrInfo { flags: RAI_PASSIVE, source: address, ..entry }
    } else {
        AddrInfo { destination: address, ..entry }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numeric(
        node: Option<&CStr>,
        service: Option<&CStr>,
        hints: &AddrInfo,
    ) -> Result<Vec<AddrInfo>, Failure> {
        let hints = AddrInfo { flags: hints.flags | RAI_NUMERICHOST, ..hints.clone() };
        look_up(node, service, Some(&hints))
    }

    #[test]
    fn without_hints_an_address_is_for_reliable_connections() {
        let found = look_up(Some(c"127.0.0.1"), Some(c"7"), None).unwrap();
        let [entry] = &found[..] else { panic!("{found:?}") };
        assert_eq!((entry.flags, entry.family), (0, libc::AF_INET));
        assert_eq!((entry.qp_type, entry.port_space), (IBV_QPT_RC as c_int, RDMA_PS_TCP as c_int));
        assert_eq!(sockaddr::ipv4(&entry.destination), Some([127, 0, 0, 1]));
        assert_eq!(sockaddr::port(&entry.destination), 7u16.to_be());
        assert!(entry.source.is_empty());
    }

    #[test]
    fn each_hint_makes_the_other() {
        let kinds = |qp_type: u32, port_space: u32| {
            let hints = AddrInfo {
                qp_type: qp_type as c_int,
                port_space: port_space as c_int,
                ..AddrInfo::default()
            };
            let found = numeric(Some(c"10.0.0.1"), None, &hints)?;
            Ok(found.iter().map(|entry| (entry.qp_type as u32, entry.port_space as u32)).collect::<Vec<_>>())
        };
        assert_eq!(kinds(IBV_QPT_UD, 0), Ok(vec![(IBV_QPT_UD, RDMA_PS_UDP)]));
        assert_eq!(kinds(0, RDMA_PS_IPOIB), Ok(vec![(IBV_QPT_UD, RDMA_PS_IPOIB)]));
        assert_eq!(kinds(IBV_QPT_XRC_SEND, RDMA_PS_IB), Ok(vec![(IBV_QPT_XRC_SEND, RDMA_PS_IB)]));
        assert_eq!(kinds(0, RDMA_PS_IB), Ok(vec![(IBV_QPT_RC, RDMA_PS_IB)]));
        let failure: Failure = kinds(IBV_QPT_RC, RDMA_PS_UDP).unwrap_err();
        assert_eq!((failure.code, failure.errno), (libc::EAI_SOCKTYPE, Errno::EINVAL));
    }

    #[test]
    fn passive_is_a_source() {
        let hints = AddrInfo { flags: RAI_PASSIVE, family: libc::AF_INET, ..AddrInfo::default() };
        let found = numeric(None, Some(c"7471"), &hints).unwrap();
        assert_eq!(found[0].flags, RAI_PASSIVE);
        assert_eq!(sockaddr::ipv4(&found[0].source), Some([0; 4]));
        assert!(found[0].destination.is_empty());
    }

    #[test]
    fn a_gid_is_written_as_an_ipv6_address() {
        let hints = AddrInfo {
            flags: RAI_FAMILY,
            family: c_int::from(AF_IB),
            port_space: RDMA_PS_TCP as c_int,
            ..AddrInfo::default()
        };
        let found = numeric(Some(c"fe80::1"), Some(c"7471"), &hints).unwrap();
        assert_eq!(found[0].family, c_int::from(AF_IB));
        let gid = sockaddr::ib(&found[0].destination).unwrap();
        assert_eq!((gid[..2].to_vec(), gid[15]), (vec![0xfe, 0x80], 1));
        assert_eq!(sockaddr::port(&found[0].destination), 7471u16.to_be());
        let failure = numeric(Some(c"10.0.0.1"), None, &hints).unwrap_err();
        assert_eq!((failure.code, failure.errno), (EAI_ADDRFAMILY, Errno::ENOENT));
    }

    #[test]
    fn failures_are_an_eai_value_and_an_errno() {
        let failure = numeric(Some(c"no.number"), None, &AddrInfo::default()).unwrap_err();
        assert_eq!((failure.code, failure.errno), (libc::EAI_NONAME, Errno::ENOENT));
        let hints = AddrInfo { family: 77, ..AddrInfo::default() };
        let failure = numeric(Some(c"10.0.0.1"), None, &hints).unwrap_err();
        assert_eq!((failure.code, failure.errno), (libc::EAI_FAMILY, Errno::EINVAL));
        let failure = Failure::from(NotFound { code: libc::EAI_SYSTEM, system: Some(Errno::EACCES) });
        assert_eq!((failure.code, failure.errno), (libc::EAI_SYSTEM, Errno::EACCES));
    }
}
