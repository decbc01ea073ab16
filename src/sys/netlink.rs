// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Questions to the RDMA subsystem by netlink (`rdma/rdma_netlink.h`).

use super::memory;
use super::restart::restarted;
use crate::errno::{Errno, Result};
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto, socket,
};
use std::ffi::CStr;
use std::os::fd::AsRawFd;

/// RDMA_NL_NLDEV, the client whose commands these are, as it stands in a message type.
const NLDEV: u16 = 5 << 10;
const GET: u16 = 1;
const GET_CHARDEV: u16 = 15;

const ATTR_DEV_INDEX: u16 = 1;
const ATTR_CHARDEV_TYPE: u16 = 69;
const ATTR_CHARDEV_NAME: u16 = 70;
const ATTR_CHARDEV_ABI: u16 = 71;
const ATTR_CHARDEV: u16 = 72;
const ATTR_UVERBS_DRIVER_ID: u16 = 73;

const HEADER: usize = 16;
const ATTRIBUTE_HEADER: usize = 4;

/// A character device of the RDMA subsystem.
#[derive(Debug, PartialEq, Eq)]
pub struct CharDevice {
    /// Name of the node under `/dev/infiniband`.
    pub name: Vec<u8>,
    /// Version of its command set.
    pub abi: u32,
    /// Its device number.
    pub number: libc::dev_t,
}

/// The character device of that type ("rdma_cm", …); the kernel loads its module if need be.
pub fn char_device(kind: &CStr) -> Result<CharDevice> {
    let mut answer = [0; 4096];
    let request = [(ATTR_CHARDEV_TYPE, kind.to_bytes_with_nul())];
    parse_char_device(ask(GET_CHARDEV, 0, &request, &mut answer)?)
}

/// The number of the driver of an RDMA device (`enum rdma_driver_id`), which commands for it carry.
pub fn driver(device: u32) -> Result<u32> {
    let index = device.to_ne_bytes();
    let request = [(ATTR_DEV_INDEX, index.as_slice()), (ATTR_CHARDEV_TYPE, c"uverbs".to_bytes_with_nul())];
    let mut answer = [0; 4096];
    parse_driver(ask(GET_CHARDEV, 0, &request, &mut answer)?)
}

/// The driver in an answer to the question of [`driver`].
pub fn parse_driver(datagram: &[u8]) -> Result<u32> {
    let (_, body) = first_message(datagram)?;
    let told = attributes(body).find(|(attribute, _)| *attribute == ATTR_UVERBS_DRIVER_ID);
    u32_at(told.ok_or(Errno::EPROTO)?.1, 0)
}

/// Whether the kernel knows any RDMA device in this network namespace.
pub fn any_device() -> Result<bool> {
    let mut answer = [0; 16384];
    parse_any_device(ask(GET, libc::NLM_F_DUMP as u16, &[], &mut answer)?)
}

/// Whether an answer to the question of [`any_device`] tells of one.
pub fn parse_any_device(datagram: &[u8]) -> Result<bool> {
    let (kind, body) = first_message(datagram)?;
    Ok(kind == NLDEV + GET && attributes(body).any(|(attribute, _)| attribute == ATTR_DEV_INDEX))
}

/// The kernel's answer, or its first part. A signal does not end the wait for it.
fn ask<'a>(command: u16, flags: u16, attributes: &[(u16, &[u8])], answer: &'a mut [u8]) -> Result<&'a [u8]> {
    let socket =
        socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRDMA)?;
    let request = request(NLDEV + command, flags | libc::NLM_F_REQUEST as u16, attributes)?;
    let (socket, kernel) = (socket.as_raw_fd(), NetlinkAddr::new(0, 0));
    restarted(|| Ok(sendto(socket, &request, &kernel, MsgFlags::empty())?))?;
    let length = restarted(|| Ok(recv(socket, answer, MsgFlags::empty())?))?;
    answer.get(..length).ok_or(Errno::EPROTO)
}

fn request(kind: u16, flags: u16, attributes: &[(u16, &[u8])]) -> Result<Vec<u8>> {
    let size = |value: &[u8]| (ATTRIBUTE_HEADER + value.len()).next_multiple_of(4);
    let mut message = Vec::new();
    message.try_reserve_exact(HEADER + attributes.iter().map(|(_, value)| size(value)).sum::<usize>())?;
    message.extend_from_slice(&[0; 4]);
    message.extend_from_slice(&kind.to_ne_bytes());
    message.extend_from_slice(&flags.to_ne_bytes());
    message.extend_from_slice(&[0; 8]);
    for (attribute, value) in attributes {
        message.extend_from_slice(&((ATTRIBUTE_HEADER + value.len()) as u16).to_ne_bytes());
        message.extend_from_slice(&attribute.to_ne_bytes());
        message.extend_from_slice(value);
        message.resize(message.len().next_multiple_of(4), 0);
    }
    let length = message.len() as u32;
    for (place, byte) in message.iter_mut().zip(length.to_ne_bytes()) {
        *place = byte;
    }
    Ok(message)
}

/// Type and body of the first message; an error message is its errno.
fn first_message(datagram: &[u8]) -> Result<(u16, &[u8])> {
    let length = u32_at(datagram, 0)? as usize;
    let kind = u16_at(datagram, 4)?;
    let body = datagram.get(HEADER..length).ok_or(Errno::EPROTO)?;
    if i32::from(kind) == libc::NLMSG_ERROR {
        return Err(Errno::from_raw(u32_at(body, 0)? as i32));
    }
    Ok((kind, body))
}

/// The attributes of a message body, up to the first that is cut off.
fn attributes(mut rest: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = u16_at(rest, 0).ok()? as usize;
        let kind = u16_at(rest, 2).ok()? & libc::NLA_TYPE_MASK as u16;
        let value = rest.get(ATTRIBUTE_HEADER..length)?;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

/// The device in an answer to the question of [`char_device`].
pub fn parse_char_device(datagram: &[u8]) -> Result<CharDevice> {
    let (_, body) = first_message(datagram)?;
    let (mut name, mut abi, mut number) = (None, None, None);
    for (attribute, value) in attributes(body) {
        match attribute {
            ATTR_CHARDEV_NAME => {
                let text = value.split(|&byte| byte == 0).next().unwrap_or_default();
                // The name becomes a path below /dev/infiniband.
                let is_name = |text: &&[u8]| !matches!(*text, b"" | b"." | b"..") && !text.contains(&b'/');
                name = Some(text).filter(is_name);
            }
            // The upper half is reserved.
            ATTR_CHARDEV_ABI => abi = Some(u64_at(value, 0)? as u32),
            ATTR_CHARDEV => number = Some(device_number(u64_at(value, 0)?)),
            _ => {}
        }
    }
    match (name, abi, number) {
        (Some(name), Some(abi), Some(number)) => {
            Ok(CharDevice { name: memory::concat(&[name])?, abi, number })
        }
        _ => Err(Errno::EPROTO),
    }
}

/// From the kernel's huge_encode_dev to the C library's encoding.
fn device_number(encoded: u64) -> libc::dev_t {
    let major = (encoded & 0xf_ff00) >> 8;
    let minor = (encoded & 0xff) | ((encoded >> 12) & 0xf_ff00);
    libc::makedev(major as u32, minor as u32)
}

fn u16_at(bytes: &[u8], at: usize) -> Result<u16> {
    array_at(bytes, at).map(u16::from_ne_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32> {
    array_at(bytes, at).map(u32::from_ne_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Result<u64> {
    array_at(bytes, at).map(u64::from_ne_bytes)
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N]> {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().ok_or(Errno::EPROTO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn answer(attributes: &[(u16, &[u8])]) -> Vec<u8> {
        request(NLDEV + GET_CHARDEV, 0, attributes).unwrap()
    }

    #[test]
    fn a_full_answer_names_the_device() {
        // Major 10, minor 0x1234 in the kernel's 64-bit encoding.
        let encoded: u64 = 10 << 8 | 0x34 | 0x1200 << 12;
        let datagram = answer(&[
            (ATTR_CHARDEV, &encoded.to_ne_bytes()),
            (ATTR_CHARDEV_NAME, b"rdma_cm\0"),
            (ATTR_CHARDEV_ABI, &(7u64 << 32 | 4).to_ne_bytes()),
        ]);
        let expected = CharDevice { name: b"rdma_cm".to_vec(), abi: 4, number: libc::makedev(10, 0x1234) };
        assert_eq!(parse_char_device(&datagram), Ok(expected));
    }

    #[test]
    fn the_driver_is_told_by_number() {
        assert_eq!(parse_driver(&answer(&[(ATTR_UVERBS_DRIVER_ID, &14u32.to_ne_bytes())])), Ok(14));
        assert_eq!(parse_driver(&answer(&[(ATTR_UVERBS_DRIVER_ID, &[1, 2])])), Err(Errno::EPROTO));
        assert_eq!(parse_driver(&answer(&[(ATTR_CHARDEV_NAME, b"x\0")])), Err(Errno::EPROTO));
    }

    #[test]
    fn what_is_missing_or_strange_is_a_protocol_error() {
        assert_eq!(parse_char_device(&answer(&[(ATTR_CHARDEV_NAME, b"x\0")])), Err(Errno::EPROTO));
        for name in [c"../mem", c"..", c".", c"", c"a/b"] {
            let name = name.to_bytes_with_nul();
            let escape =
                answer(&[(ATTR_CHARDEV, &[0; 8]), (ATTR_CHARDEV_NAME, name), (ATTR_CHARDEV_ABI, &[0; 8])]);
            assert_eq!(parse_char_device(&escape), Err(Errno::EPROTO));
        }
    }

    #[test]
    fn an_error_message_is_its_errno() {
        let mut datagram = request(libc::NLMSG_ERROR as u16, 0, &[]).unwrap();
        datagram.extend_from_slice(&(-libc::EOPNOTSUPP).to_ne_bytes());
        let length = datagram.len() as u32;
        datagram[..4].copy_from_slice(&length.to_ne_bytes());
        assert_eq!(parse_char_device(&datagram), Err(Errno::from_raw(libc::EOPNOTSUPP)));
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(datagram in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse_char_device(&datagram);
            let _ = parse_driver(&datagram);
        }
    }
}
