// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Socket addresses of the families that the connection manager knows, and which commands the kernel has for them.

use super::uid::hidden;
use super::wake;
use crate::ctypes::{RDMA_IB_IP_PS_MASK, RDMA_IB_IP_PS_TCP, RDMA_PS_IB};
use crate::errno::{Errno, Result};
use crate::uapi::{AF_IB, Bind, SockaddrIb, SockaddrIn6, SockaddrStorage};
use crate::ucma::{self, Fd};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU8, Ordering};
use zerocopy::{FromZeros, IntoBytes};

pub use crate::resolve::sockaddr::{family, gid, port};

/// Whether the kernel has the commands for addresses of any family, AF_IB included. Kernels without them have those
/// for IP addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commands {
    /// BIND, RESOLVE_ADDR, QUERY.
    AnyFamily,
    /// BIND_IP, RESOLVE_IP, QUERY_ROUTE.
    IpOnly,
}

const UNKNOWN: u8 = 0;
const ANY_FAMILY: u8 = 1;
const IP_ONLY: u8 = 2;
static ANSWER: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Forgets what is known of the kernel.
#[cfg(any(test, fuzzing))]
pub fn forget() {
    ANSWER.store(UNKNOWN, Ordering::Relaxed);
}

impl Commands {
    /// Asks the kernel once per process. The descriptor must be one of its connection manager's.
    pub fn of_kernel(fd: Fd) -> Result<Commands> {
        match ANSWER.load(Ordering::Relaxed) {
            ANY_FAMILY => return Ok(Commands::AnyFamily),
            IP_ONLY => return Ok(Commands::IpOnly),
            _ => {}
        }
        // Threads that ask at the same time get the same answer.
        let any_family = bind_ib(fd)?;
        ANSWER.store(if any_family { ANY_FAMILY } else { IP_ONLY }, Ordering::Relaxed);
        Ok(if any_family { Commands::AnyFamily } else { Commands::IpOnly })
    }
}

/// Whether the kernel knows AF_IB addresses. Without an answer it does not.
pub fn is_ib_known() -> bool {
    let commands = ucma::node::open().and_then(|node| Commands::of_kernel(Fd(node.as_raw_fd())));
    commands == Ok(Commands::AnyFamily)
}

/// Binds a hidden id to an AF_IB address that needs no device. Whatever is said against the binding means no; that no
/// id can be made, or that there is too little to bind it, says nothing and is an error.
fn bind_ib(fd: Fd) -> Result<bool> {
    let id = wake::hide(fd, RDMA_PS_IB, hidden::SILENT)?;
    let address = SockaddrIb {
        family: AF_IB,
        sid: RDMA_IB_IP_PS_TCP.to_be(),
        sid_mask: RDMA_IB_IP_PS_MASK.to_be(),
        ..FromZeros::new_zeroed()
    };
    let addr_size = size_of::<SockaddrIb>() as u16;
    let bound = ucma::order(&fd, Bind { id, addr_size, reserved: 0, addr: storage(address.as_bytes()) });
    wake::end_hidden(fd, id);
    match bound {
        Err(error) if error.is_passing() => Err(error),
        bound => Ok(bound.is_ok()),
    }
}

/// Bytes of an address of that family. EINVAL if the connection manager, or this kernel, does not know it.
pub fn size(family: u16, commands: Commands) -> Result<usize> {
    match i32::from(family) {
        libc::AF_INET => Ok(size_of::<libc::sockaddr_in>()),
        libc::AF_INET6 => Ok(size_of::<libc::sockaddr_in6>()),
        _ if family == AF_IB && commands == Commands::AnyFamily => Ok(size_of::<SockaddrIb>()),
        _ => Err(Errno::EINVAL),
    }
}

/// Most bytes that an address of a known family has; 0 for an unknown one. This is how much of an address may be read
/// before its family is checked against the kernel.
pub fn readable(family: u16) -> usize {
    size(family, Commands::AnyFamily).unwrap_or(0)
}

/// An address in the room of the commands for any family. One that is too long is cut.
pub fn storage(address: &[u8]) -> SockaddrStorage {
    let mut room = SockaddrStorage::new_zeroed();
    copy(&mut room.0, address);
    room
}

/// An address in the room of the commands for IP addresses. One that is too long is cut.
pub fn ip(address: &[u8]) -> SockaddrIn6 {
    let mut room = SockaddrIn6::new_zeroed();
    copy(&mut room.0, address);
    room
}

fn copy(room: &mut [u8], address: &[u8]) {
    for (place, byte) in room.iter_mut().zip(address) {
        *place = *byte;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_by_family() {
        assert_eq!(size(libc::AF_INET as u16, Commands::IpOnly), Ok(16));
        assert_eq!(size(libc::AF_INET6 as u16, Commands::IpOnly), Ok(28));
        assert_eq!(size(AF_IB, Commands::AnyFamily), Ok(48));
        for family in [AF_IB, libc::AF_UNIX as u16, 0, u16::MAX] {
            assert_eq!(size(family, Commands::IpOnly), Err(Errno::EINVAL));
        }
    }
}
