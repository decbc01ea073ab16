// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What datagram sockets send each other, as the C library has it. Over RDMA a datagram begins with a header that names its
//! sender. Over UDP, at the same port, goes a notice of the sender's queue pair, with a datagram behind it or none.
//!
//! Everything that is read here may come from anybody.

use std::net::{IpAddr, SocketAddr};

/// Most bytes of a message over RDMA, with the longest header.
pub const MESSAGE: usize = 2048;
/// Most bytes of either header.
pub const HEADER: usize = 28;
/// Most bytes of a datagram.
pub const PAYLOAD: usize = MESSAGE - HEADER_V6;

const HEADER_V4: usize = 8;
const HEADER_V6: usize = 24;
const TAG: [u8; 4] = [0x55; 4];
const NOTICE_V4: usize = 16;
const NOTICE_V6: usize = 28;
/// Numbers of queue pairs have 24 bits. The first two are for management, and the last one means a group.
const NUMBER_MASK: u32 = 0xff_ffff;
const FIRST_NUMBER: u32 = 2;

/// A header as bytes.
#[derive(Clone, Copy)]
pub struct Bytes {
    bytes: [u8; HEADER],
    length: usize,
}

impl Bytes {
    fn of(parts: &[&[u8]]) -> Bytes {
        let mut made = Bytes { bytes: [0; HEADER], length: 0 };
        let all = parts.iter().flat_map(|part| part.iter());
        for (place, byte) in made.bytes.iter_mut().zip(all) {
            *place = *byte;
            made.length += 1;
        }
        made
    }

    /// The bytes.
    pub fn get(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// What a notice is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A datagram follows, and an answer is wanted.
    Data,
    /// It is an answer.
    Answer,
}

impl Purpose {
    const ALL: [(Purpose, u8); 2] = [(Purpose::Data, 0), (Purpose::Answer, 7)];

    fn number(self) -> u8 {
        Purpose::ALL.iter().find(|(purpose, _)| *purpose == self).map_or(0, |(_, number)| *number)
    }
}

/// The beginning of a datagram over RDMA.
pub fn header(sender: SocketAddr) -> Bytes {
    let port = sender.port().to_be_bytes();
    match sender.ip() {
        IpAddr::V4(ip) => Bytes::of(&[&[4, HEADER_V4 as u8], &port, &ip.octets()]),
        IpAddr::V6(ip) => Bytes::of(&[&[6, HEADER_V6 as u8], &port, &[0; 4], &ip.octets()]),
    }
}

/// Who sent a datagram over RDMA, and how long the header is. None for what is no datagram, or shorter than its header.
pub fn read_header(message: &[u8]) -> Option<(SocketAddr, usize)> {
    let (start, rest) = message.split_first_chunk::<4>()?;
    let [version, length, high, low] = *start;
    let (ip, length): (IpAddr, usize) = match (version, usize::from(length)) {
        (4, HEADER_V4) => (IpAddr::from(*rest.first_chunk::<4>()?), HEADER_V4),
        (6, HEADER_V6) => (IpAddr::from(*rest.get(4..)?.first_chunk::<16>()?), HEADER_V6),
        _ => return None,
    };
    Some((SocketAddr::new(ip.to_canonical(), u16::from_be_bytes([high, low])), length))
}

/// A notice of this process's queue pair, which is bound to the address.
pub fn notice(own: IpAddr, number: u32, purpose: Purpose) -> Bytes {
    let number = (number & NUMBER_MASK).to_be_bytes();
    match own {
        IpAddr::V4(ip) => {
            Bytes::of(&[&TAG, &[4, purpose.number(), NOTICE_V4 as u8, 0], &number, &ip.octets()])
        }
        IpAddr::V6(ip) => {
            Bytes::of(&[&TAG, &[6, purpose.number(), NOTICE_V6 as u8, 0], &number, &ip.octets()])
        }
    }
}

/// What a notice says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice<'a> {
    /// What it is for.
    pub purpose: Purpose,
    /// Number of the sender's queue pair.
    pub number: u32,
    /// The datagram behind it.
    pub payload: &'a [u8],
}

/// Reads a notice. None for what is none.
pub fn read_notice(message: &[u8], sender: IpAddr) -> Option<Notice<'_>> {
    let (tag, rest) = message.split_first_chunk::<4>()?;
    let (kind, rest) = rest.split_first_chunk::<4>()?;
    let (number, _) = rest.split_first_chunk::<4>()?;
    let [version, purpose, length, _] = *kind;
    let length = usize::from(length);
    let fits = match (version, length) {
        (4, NOTICE_V4) => sender.is_ipv4(),
        (6, NOTICE_V6) => sender.is_ipv6(),
        _ => false,
    };
    if *tag != TAG || !fits {
        return None;
    }
    let (purpose, _) = *Purpose::ALL.iter().find(|(_, number)| *number == purpose)?;
    let number = u32::from_be_bytes(*number) & NUMBER_MASK;
    let is_number = (FIRST_NUMBER..NUMBER_MASK).contains(&number);
    is_number.then_some(Notice { purpose, number, payload: message.get(length..)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const V4: &str = "10.1.2.3:258";
    const V6: &str = "[fd00::1]:258";

    #[test]
    fn headers_come_back_and_short_ones_are_none() {
        for text in [V4, V6] {
            let sender: SocketAddr = text.parse().unwrap();
            let bytes = header(sender);
            let whole = bytes.get();
            assert_eq!(read_header(whole), Some((sender, whole.len())));
            for length in 0..whole.len() {
                assert_eq!(read_header(&whole[..length]), None, "{length}");
            }
        }
        assert_eq!(header(V4.parse().unwrap()).get(), [4, 8, 1, 2, 10, 1, 2, 3]);
        assert_eq!(read_header(&[4, 24, 1, 2, 10, 1, 2, 3]), None);
        assert_eq!(read_header(&[5; 40]), None);
    }

    #[test]
    fn notices_come_back_and_short_ones_are_none() {
        for (text, purpose) in [(V4, Purpose::Data), (V6, Purpose::Answer)] {
            let ip = text.parse::<SocketAddr>().unwrap().ip();
            let bytes = notice(ip, 0x12345, purpose);
            let whole = bytes.get();
            assert_eq!(read_notice(whole, ip), Some(Notice { purpose, number: 0x12345, payload: &[] }));
            for length in 0..whole.len() {
                assert_eq!(read_notice(&whole[..length], ip), None, "{length}");
            }
            let long = [whole, b"data"].concat();
            assert_eq!(read_notice(&long, ip).unwrap().payload, b"data");
        }
        let v4: IpAddr = "10.1.2.3".parse().unwrap();
        let expected = [0x55, 0x55, 0x55, 0x55, 4, 7, 16, 0, 0, 0, 1, 2, 10, 1, 2, 3];
        assert_eq!(notice(v4, 0x102, Purpose::Answer).get(), expected);
    }

    #[test]
    fn odd_notices_are_none() {
        let v4: IpAddr = "10.1.2.3".parse().unwrap();
        let v6: IpAddr = "fd00::1".parse().unwrap();
        for number in [0, 1, 0xff_ffff] {
            assert_eq!(read_notice(notice(v4, number, Purpose::Data).get(), v4), None);
        }
        assert_eq!(read_notice(notice(v4, 5, Purpose::Data).get(), v6), None);
        for (place, byte) in [(0, 0x54), (4, 6), (5, 1), (6, 28)] {
            let mut changed = notice(v4, 5, Purpose::Data).get().to_vec();
            changed[place] = byte;
            assert_eq!(read_notice(&changed, v4), None, "{place}");
        }
    }
}
