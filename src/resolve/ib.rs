// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! An IP entry once more, in InfiniBand's own addresses.

use super::info::AddrInfo;
use super::sockaddr;
use crate::ctypes::{ibv_path_data, ibv_path_record};
use crate::errno::Result;
use crate::sys::memory;
use crate::uapi::{AF_IB, SockaddrIb};
use std::ffi::c_int;
use std::mem::offset_of;
use zerocopy::IntoBytes;

/// The same entry with the GIDs of its first path for addresses, and its IP addresses in the data of the connection,
/// where the other side looks for them. None without a path.
pub fn twin(entry: &AddrInfo) -> Result<Option<AddrInfo>> {
    let address = |gid_at, address: &[u8]| {
        Some(SockaddrIb {
            pkey: u16::from_ne_bytes(in_path(entry, offset_of!(ibv_path_record, pkey))?),
            flowinfo: flow_label(in_path(entry, offset_of!(ibv_path_record, flowlabel_hoplimit))?),
            addr: in_path(entry, gid_at)?,
            ..sockaddr::of_service(entry.port_space, sockaddr::port(address))
        })
    };
    let source = address(offset_of!(ibv_path_record, sgid), &entry.source);
    let destination = address(offset_of!(ibv_path_record, dgid), &entry.destination);
    let (Some(source), Some(destination)) = (source, destination) else { return Ok(None) };
    Ok(Some(AddrInfo {
        family: c_int::from(AF_IB),
        source: memory::concat(&[source.as_bytes()])?,
        destination: memory::concat(&[destination.as_bytes()])?,
        route: memory::concat(&[&entry.route])?,
        connect: if entry.family == c_int::from(AF_IB) { Vec::new() } else { connect_header(entry)? },
        ..*entry
    }))
}

fn in_path<const N: usize>(entry: &AddrInfo, at: usize) -> Option<[u8; N]> {
    entry.route.get(offset_of!(ibv_path_data, path) + at..)?.first_chunk().copied()
}

/// From 4 reserved bits, the label and 8 bits of hop limit to the label alone, in network byte order.
fn flow_label(label_and_hops: [u8; 4]) -> u32 {
    (u32::from_be_bytes(label_and_hops) >> 8).to_be()
}

/// What the kernel puts in front of the private data of a connection between IP addresses: a version of 0, that of IP
/// in the upper half of a byte, no port, and the addresses.
fn connect_header(entry: &AddrInfo) -> Result<Vec<u8>> {
    let version = if entry.family == libc::AF_INET { 4 } else { 6 };
    let place = |address: &[u8]| {
        let ip4 = sockaddr::ipv4(address).map(|ip| u128::from(u32::from_be_bytes(ip)).to_be_bytes());
        ip4.or_else(|| sockaddr::ipv6(address)).unwrap_or_default()
    };
    memory::concat(&[&[0, version << 4, 0, 0], &place(&entry.source), &place(&entry.destination)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctypes::RDMA_PS_TCP;

    fn entry(source: Vec<u8>, destination: Vec<u8>, family: c_int) -> AddrInfo {
        let mut route = vec![0; 72];
        route[16..32].copy_from_slice(&[0xdd; 16]);
        route[32..48].copy_from_slice(&[0x55; 16]);
        route[52..56].copy_from_slice(&[0xf1, 0x23, 0x45, 0x40]);
        route[58..60].copy_from_slice(&[0x80, 0x01]);
        AddrInfo {
            family,
            port_space: RDMA_PS_TCP as c_int,
            source,
            destination,
            route,
            ..AddrInfo::default()
        }
    }

    #[test]
    fn the_twin_has_the_gids_of_the_path_and_the_ip_addresses_as_data() {
        let mut destination = sockaddr::of_ipv4([10, 0, 0, 2]).unwrap();
        destination[2..4].copy_from_slice(&7471u16.to_be_bytes());
        let entry = entry(sockaddr::of_ipv4([10, 0, 0, 1]).unwrap(), destination, libc::AF_INET);
        let twin = twin(&entry).unwrap().unwrap();
        assert_eq!((twin.family, &twin.route), (27, &entry.route));
        assert_eq!(
            (sockaddr::ib(&twin.source), sockaddr::ib(&twin.destination)),
            (Some([0x55; 16]), Some([0xdd; 16]))
        );
        assert_eq!((sockaddr::port(&twin.source), sockaddr::port(&twin.destination)), (0, 7471u16.to_be()));
        assert_eq!(twin.destination[2..8], [0x80, 0x01, 0, 0xf1, 0x23, 0x45]);
        let mut header = [0; 36];
        header[1] = 0x40;
        header[16..20].copy_from_slice(&[10, 0, 0, 1]);
        header[32..36].copy_from_slice(&[10, 0, 0, 2]);
        assert_eq!(twin.connect, header);
    }

    #[test]
    fn ipv6_addresses_fill_their_places_and_a_missing_source_is_zero() {
        let entry = entry(Vec::new(), sockaddr::of_ipv6([7; 16]).unwrap(), libc::AF_INET6);
        let connect = twin(&entry).unwrap().unwrap().connect;
        assert_eq!((connect[1], &connect[4..20], &connect[20..]), (0x60, &[0; 16][..], &[7; 16][..]));
    }

    #[test]
    fn without_path_there_is_no_twin() {
        assert_eq!(twin(&AddrInfo::default()), Ok(None));
    }
}
