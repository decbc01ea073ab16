// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What stands in a socket address.

use crate::ctypes::{RDMA_IB_IP_PORT_MASK, RDMA_IB_IP_PS_MASK};
use crate::errno::Result;
use crate::sys::memory;
use crate::uapi::{AF_IB, SockaddrIb};
use std::ffi::c_int;
use std::mem::offset_of;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use zerocopy::{FromZeros, IntoBytes};

/// Where the GID and the port, which is the end of the service identifier, stand in an AF_IB address.
const IB_GID: usize = offset_of!(SockaddrIb, addr);
const IB_PORT: usize = offset_of!(SockaddrIb, sid_mask) - size_of::<u16>();
const IN_PORT: usize = offset_of!(libc::sockaddr_in, sin_port);
const IN_ADDR: usize = offset_of!(libc::sockaddr_in, sin_addr);
const IN6_FLOW: usize = offset_of!(libc::sockaddr_in6, sin6_flowinfo);
const IN6_ADDR: usize = offset_of!(libc::sockaddr_in6, sin6_addr);
const IN6_SCOPE: usize = offset_of!(libc::sockaddr_in6, sin6_scope_id);

/// The family in the first two bytes of an address; AF_UNSPEC if there are none.
pub fn family(address: &[u8]) -> u16 {
    address.first_chunk().map_or(0, |bytes| u16::from_ne_bytes(*bytes))
}

/// The port of an address, in network byte order: 0 if its family has none.
pub fn port(address: &[u8]) -> u16 {
    let family = family(address);
    let bytes = match i32::from(family) {
        libc::AF_INET | libc::AF_INET6 => bytes_at(address, IN_PORT),
        _ if family == AF_IB => bytes_at(address, IB_PORT),
        _ => None,
    };
    bytes.map_or(0, u16::from_ne_bytes)
}

/// An IP address with its port, as Rust knows it.
pub fn ip(address: &[u8]) -> Option<SocketAddr> {
    let port = u16::from_be(port(address));
    let scope = bytes_at(address, IN6_SCOPE).map_or(0, u32::from_ne_bytes);
    let ip4 = ipv4(address).map(|ip| SocketAddrV4::new(ip.into(), port).into());
    ip4.or_else(|| ipv6(address).map(|ip| SocketAddrV6::new(ip.into(), port, 0, scope).into()))
}

/// The GID that RoCE makes of an address: zero if there is none.
pub fn gid(address: &[u8]) -> [u8; 16] {
    let gid = match i32::from(family(address)) {
        libc::AF_INET => ipv4(address).map(|ip| Ipv4Addr::from(ip).to_ipv6_mapped().octets()),
        libc::AF_INET6 => ipv6(address),
        _ => ib(address),
    };
    gid.unwrap_or_default()
}

/// The address itself, if it is an IPv4 one.
pub fn ipv4(address: &[u8]) -> Option<[u8; 4]> {
    (i32::from(family(address)) == libc::AF_INET).then(|| bytes_at(address, IN_ADDR)).flatten()
}

/// The address itself, if it is an IPv6 one.
pub fn ipv6(address: &[u8]) -> Option<[u8; 16]> {
    (i32::from(family(address)) == libc::AF_INET6).then(|| bytes_at(address, IN6_ADDR)).flatten()
}

/// The GID of an AF_IB address.
pub fn ib(address: &[u8]) -> Option<[u8; 16]> {
    (family(address) == AF_IB).then(|| bytes_at(address, IB_GID)).flatten()
}

/// An IPv4 address without port.
pub fn of_ipv4(ip: [u8; 4]) -> Result<Vec<u8>> {
    with_bytes(libc::AF_INET, size_of::<libc::sockaddr_in>(), IN_ADDR, &ip)
}

/// An IPv6 address without port.
pub fn of_ipv6(ip: [u8; 16]) -> Result<Vec<u8>> {
    with_bytes(libc::AF_INET6, size_of::<libc::sockaddr_in6>(), IN6_ADDR, &ip)
}

/// An IP address with its port, as the kernel knows it.
pub fn of_ip(address: SocketAddr) -> Result<Vec<u8>> {
    let bytes = match address {
        SocketAddr::V4(v4) => of_ipv4(v4.ip().octets())?,
        SocketAddr::V6(v6) => {
            let mut bytes = of_ipv6(v6.ip().octets())?;
            for (place, byte) in bytes.iter_mut().skip(IN6_SCOPE).zip(v6.scope_id().to_ne_bytes()) {
                *place = byte;
            }
            bytes
        }
    };
    Ok(with_port(bytes, address.port().to_be()))
}

/// The same IP address with a port, in network byte order.
pub fn with_port(mut address: Vec<u8>, port: u16) -> Vec<u8> {
    for (place, byte) in address.iter_mut().skip(IN_PORT).zip(port.to_ne_bytes()) {
        *place = byte;
    }
    address
}

fn with_bytes(family: c_int, size: usize, at: usize, bytes: &[u8]) -> Result<Vec<u8>> {
    let mut address = memory::zeros(size)?;
    let family = (family as u16).to_ne_bytes();
    for (place, byte) in address.iter_mut().zip(family) {
        *place = byte;
    }
    for (place, byte) in address.iter_mut().skip(at).zip(bytes) {
        *place = *byte;
    }
    Ok(address)
}

/// The AF_IB address of a service: a port space, and a port (in network byte order) unless that is 0.
pub fn of_service(port_space: c_int, port: u16) -> SockaddrIb {
    let port = u64::from(u16::from_be(port));
    let space_mask = if port_space != 0 { RDMA_IB_IP_PS_MASK } else { 0 };
    let port_mask = if port != 0 { RDMA_IB_IP_PORT_MASK } else { 0 };
    SockaddrIb {
        family: AF_IB,
        sid: ((u64::from(port_space as u32) << 16) | port).to_be(),
        sid_mask: (space_mask | port_mask).to_be(),
        ..FromZeros::new_zeroed()
    }
}

/// The AF_IB address whose GID was written as an IPv6 address.
pub fn of_gid_text(port_space: c_int, written: &[u8]) -> Result<Vec<u8>> {
    let address = SockaddrIb {
        pkey: u16::MAX,
        flowinfo: bytes_at(written, IN6_FLOW).map_or(0, u32::from_ne_bytes),
        addr: gid(written),
        scope_id: bytes_at(written, IN6_SCOPE).map_or(0, u32::from_ne_bytes).into(),
        ..of_service(port_space, port(written))
    };
    memory::concat(&[address.as_bytes()])
}

fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctypes::{RDMA_IB_IP_PS_TCP, RDMA_PS_TCP};

    fn address(family: u16, bytes: &[(usize, &[u8])]) -> [u8; 128] {
        let mut address = [0; 128];
        address[..2].copy_from_slice(&family.to_ne_bytes());
        for (at, value) in bytes {
            address[*at..*at + value.len()].copy_from_slice(value);
        }
        address
    }

    #[test]
    fn ports_by_family() {
        assert_eq!(port(&address(libc::AF_INET as u16, &[(2, &[0x12, 0x34])])), 0x1234u16.to_be());
        assert_eq!(port(&address(libc::AF_INET6 as u16, &[(2, &[0x12, 0x34])])), 0x1234u16.to_be());
        let service = RDMA_IB_IP_PS_TCP | 0x1234;
        assert_eq!(port(&address(AF_IB, &[(24, &service.to_be_bytes())])), 0x1234u16.to_be());
        assert_eq!(port(&address(0, &[(2, &[1, 1])])), 0);
        assert_eq!(port(&[]), 0);
    }

    #[test]
    fn gids_by_family() {
        let mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 99, 0, 1];
        assert_eq!(gid(&address(libc::AF_INET as u16, &[(4, &[10, 99, 0, 1])])), mapped);
        assert_eq!(gid(&of_ipv4([10, 99, 0, 1]).unwrap()), mapped);
        let ip: [u8; 16] = std::array::from_fn(|byte| byte as u8);
        assert_eq!(gid(&address(libc::AF_INET6 as u16, &[(8, &ip)])), ip);
        assert_eq!(gid(&of_ipv6(ip).unwrap()), ip);
        assert_eq!(gid(&address(AF_IB, &[(8, &ip)])), ip);
        assert_eq!(gid(&address(0, &[(8, &ip)])), [0; 16]);
    }

    #[test]
    fn a_service_has_the_port_at_its_end() {
        let service = of_service(RDMA_PS_TCP as c_int, 0x1234u16.to_be());
        assert_eq!(u64::from_be(service.sid), RDMA_IB_IP_PS_TCP | 0x1234);
        assert_eq!(u64::from_be(service.sid_mask), u64::MAX);
        assert_eq!(port(service.as_bytes()), 0x1234u16.to_be());
        assert_eq!(u64::from_be(of_service(RDMA_PS_TCP as c_int, 0).sid_mask), RDMA_IB_IP_PS_MASK);
        assert_eq!(of_service(0, 0).sid_mask, 0);
    }

    #[test]
    fn a_written_gid_keeps_flow_and_scope() {
        let ip: [u8; 16] = std::array::from_fn(|byte| byte as u8);
        let written =
            address(libc::AF_INET6 as u16, &[(4, &[1, 2, 3, 4]), (8, &ip), (24, &7u32.to_ne_bytes())]);
        let address = of_gid_text(0, &written).unwrap();
        assert_eq!(address.len(), size_of::<SockaddrIb>());
        assert_eq!((family(&address), ib(&address)), (AF_IB, Some(ip)));
        assert_eq!(address[2..8], [0xff, 0xff, 1, 2, 3, 4]);
        assert_eq!(address[40..], 7u64.to_ne_bytes());
    }
}
