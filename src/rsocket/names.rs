// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Addresses of sockets. A socket of IPv6 also speaks to IPv4, whose addresses it sees in mapped form.

use super::datagram;
use super::socket::{self, Socket};
use super::stage::Stage;
use crate::cm::address;
use crate::cm::family;
use crate::errno::{Errno, Result};
use crate::resolve::sockaddr;
use crate::sys::memory;
use crate::sys::thread::uncancellable;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::RawFd;

/// Largest size that an application may give for an address.
const SIZE_MAX: usize = size_of::<libc::sockaddr_storage>();

/// An address of the application as the kernel is to see it. EINVAL for a wrong size, EAFNOSUPPORT for an unknown family.
pub fn for_kernel(socket_family: u16, address: &[u8], v6_only: bool) -> Result<Vec<u8>> {
    if address.len() < size_of::<libc::sa_family_t>() || address.len() > SIZE_MAX {
        return Err(Errno::EINVAL);
    }
    let size = family::readable(family::family(address));
    if size == 0 {
        return Err(Errno::EAFNOSUPPORT);
    }
    let address = address.get(..size).ok_or(Errno::EINVAL)?;
    let mapped = sockaddr::ipv6(address).and_then(|ip| Ipv6Addr::from(ip).to_ipv4_mapped());
    match mapped {
        Some(ip) if i32::from(socket_family) == libc::AF_INET6 && !v6_only => {
            Ok(sockaddr::with_port(sockaddr::of_ipv4(ip.octets())?, family::port(address)))
        }
        Some(_) if v6_only => Err(Errno::EINVAL),
        _ => memory::concat(&[address]),
    }
}

/// An address of the kernel's as the application is to see it.
fn for_application(socket_family: u16, address: &[u8]) -> Result<Vec<u8>> {
    let size = family::readable(family::family(address));
    match sockaddr::ipv4(address) {
        Some(ip) if i32::from(socket_family) == libc::AF_INET6 => {
            let mapped = Ipv4Addr::from(ip).to_ipv6_mapped().octets();
            Ok(sockaddr::with_port(sockaddr::of_ipv6(mapped)?, family::port(address)))
        }
        _ => memory::concat(&[address.get(..size).unwrap_or_default()]),
    }
}

/// The wildcard address of a family.
pub fn any(of: u16) -> Result<Vec<u8>> {
    match i32::from(of) {
        libc::AF_INET6 => sockaddr::of_ipv6([0; 16]),
        libc::AF_INET => sockaddr::of_ipv4([0; 4]),
        _ => {
            let mut address = memory::zeros(family::readable(of))?;
            for (place, byte) in address.iter_mut().zip(of.to_ne_bytes()) {
                *place = byte;
            }
            Ok(address)
        }
    }
}

/// Gives a socket an address.
pub fn bind(number: RawFd, address: &[u8]) -> Result<()> {
    let socket = socket::find(number)?;
    uncancellable(|| {
        if let Some(datagram) = socket.datagram() {
            return datagram::bind(&socket, datagram, address);
        }
        let _attempt = socket.attempt.lock();
        match socket.stage() {
            Stage::New => {}
            Stage::Closed => return Err(Errno::EBADF),
            _ => return Err(Errno::EINVAL),
        }
        let address = for_kernel(socket.family(), address, socket.options.lock().v6_only)?;
        address::bind(socket.id(), &address)?;
        socket.set_stage(Stage::Bound);
        Ok(())
    })
}

/// The socket's own address.
pub fn own(number: RawFd) -> Result<Vec<u8>> {
    let socket = socket::find(number)?;
    if let Some(datagram) = socket.datagram() {
        return datagram::own(datagram);
    }
    let (source, _) = socket.id().addresses();
    if family::readable(family::family(&source.0)) == 0 {
        return any(socket.family());
    }
    for_application(socket.family(), &source.0)
}

/// The address of the peer. ENOTCONN without one.
pub fn peer(number: RawFd) -> Result<Vec<u8>> {
    let socket = socket::find(number)?;
    if let Some(datagram) = socket.datagram() {
        return datagram::peer(&socket, datagram);
    }
    if socket.stage() != Stage::Connected {
        return Err(Errno::ENOTCONN);
    }
    of_peer(&socket)
}

/// The address of a peer that there is.
pub fn of_peer(socket: &Socket) -> Result<Vec<u8>> {
    for_application(socket.family(), &socket.id().addresses().1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;

    const V4: u16 = libc::AF_INET as u16;
    const V6: u16 = libc::AF_INET6 as u16;

    fn bytes(text: &str) -> Vec<u8> {
        let address: SocketAddr = text.parse().unwrap();
        let bytes = match address {
            SocketAddr::V4(v4) => sockaddr::of_ipv4(v4.ip().octets()).unwrap(),
            SocketAddr::V6(v6) => sockaddr::of_ipv6(v6.ip().octets()).unwrap(),
        };
        sockaddr::with_port(bytes, address.port().to_be())
    }

    #[test]
    fn mapped_addresses_go_out_plain_and_come_back_mapped() {
        let (mapped, plain) = (bytes("[::ffff:10.0.0.1]:7"), bytes("10.0.0.1:7"));
        assert_eq!(for_kernel(V6, &mapped, false), Ok(plain.clone()));
        assert_eq!(for_application(V6, &plain), Ok(mapped.clone()));
        assert_eq!(for_application(V4, &plain), Ok(plain.clone()));
        assert_eq!(for_kernel(V6, &mapped, true), Err(Errno::EINVAL));
        let native = bytes("[fd00::1]:7");
        assert_eq!(for_kernel(V6, &native, true), Ok(native.clone()));
        assert_eq!(for_application(V6, &native), Ok(native.clone()));
    }

    #[test]
    fn sizes_are_checked() {
        let plain = bytes("10.0.0.1:7");
        for length in 0..plain.len() {
            assert_eq!(for_kernel(V4, &plain[..length], false), Err(Errno::EINVAL), "{length}");
        }
        let mut large = plain.clone();
        large.resize(SIZE_MAX, 0xff);
        assert_eq!(for_kernel(V4, &large, false), Ok(plain));
        large.push(0);
        assert_eq!(for_kernel(V4, &large, false), Err(Errno::EINVAL));
        assert_eq!(for_kernel(V4, &[1, 0, 0, 0], false), Err(Errno::EAFNOSUPPORT));
    }
}
