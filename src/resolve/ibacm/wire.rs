// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! ibacm's messages: a header, then up to eight parts. All is in host byte order but what is inside a part.

use crate::ctypes::{ibv_path_data, ibv_path_record};
use crate::errno::Result;
use crate::resolve::sockaddr;
use crate::sys::memory;
use std::mem::offset_of;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

/// Bytes of the longest message.
pub const LONGEST: usize = HEADER + 8 * PART;
const HEADER: usize = size_of::<Header>();
const PART: usize = size_of::<Part>();
/// Bytes of a path in a part.
const PATH: usize = size_of::<ibv_path_record>();

const VERSION: u8 = 1;
const RESOLVE: u8 = 1;

const IP: u16 = 2;
const IP6: u16 = 3;
const PATH_RECORD: u16 = 0x10;

const SOURCE: u32 = 1 << 0;
const DESTINATION: u32 = 1 << 1;
/// Only what is known already: no question to the fabric.
const NO_DELAY: u32 = 1 << 30;

#[derive(Clone, Copy, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
struct Header {
    version: u8,
    opcode: u8,
    /// 0, or why there is no answer.
    status: u8,
    data: [u8; 3],
    /// Bytes of the message, header included.
    length: u16,
    /// Comes back in the reply.
    tid: u64,
}

#[derive(Clone, Copy, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
struct Part {
    flags: u32,
    kind: u16,
    reserved: u16,
    info: [u8; PATH],
}

// A part with a path is a path as applications know it, but for the kind.
const _: () =
    assert!(PART == size_of::<ibv_path_data>() && offset_of!(Part, info) == offset_of!(ibv_path_data, path));

/// An IP address as it stands in a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ip {
    /// IPv4.
    V4([u8; 4]),
    /// IPv6.
    V6([u8; 16]),
}

/// The IP address in a socket address.
pub fn ip(address: &[u8]) -> Option<Ip> {
    sockaddr::ipv4(address).map(Ip::V4).or_else(|| sockaddr::ipv6(address).map(Ip::V6))
}

/// What is asked. ENOMEM if there is no memory for more.
#[derive(Default)]
pub struct Request(Vec<Part>);

impl Request {
    /// From there.
    pub fn source(&mut self, ip: Ip) -> Result<()> {
        self.address(ip, SOURCE)
    }

    /// To there; with `no_delay` only if that is known already.
    pub fn destination(&mut self, ip: Ip, no_delay: bool) -> Result<()> {
        self.address(ip, if no_delay { DESTINATION | NO_DELAY } else { DESTINATION })
    }

    fn address(&mut self, ip: Ip, flags: u32) -> Result<()> {
        let (kind, info) = match ip {
            Ip::V4(ip) => (IP, padded(&ip)),
            Ip::V6(ip) => (IP6, padded(&ip)),
        };
        memory::push(&mut self.0, Part { flags, kind, reserved: 0, info })
    }

    /// By a path like this one, a `struct ibv_path_record` or `ibv_path_data`, between these GIDs.
    pub fn path(
        &mut self,
        like: &[u8],
        source: Option<[u8; 16]>,
        destination: Option<[u8; 16]>,
    ) -> Result<()> {
        let mut info = match like.len() {
            PATH => padded(like),
            PART => padded(like.get(offset_of!(ibv_path_data, path)..).unwrap_or_default()),
            _ => [0; PATH],
        };
        let gids =
            [(offset_of!(ibv_path_record, sgid), source), (offset_of!(ibv_path_record, dgid), destination)];
        for (at, gid) in gids {
            if let (Some(gid), Some(place)) = (gid, info.get_mut(at..at + 16)) {
                place.copy_from_slice(&gid);
            }
        }
        memory::push(&mut self.0, Part { flags: 0, kind: PATH_RECORD, reserved: 0, info })
    }

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The message, under a number that comes back in the reply.
    pub fn message(&self, tid: u64) -> Result<Vec<u8>> {
        let length = HEADER + size_of_val(self.0.as_slice());
        let header =
            Header { version: VERSION, opcode: RESOLVE, length: length as u16, tid, ..Header::new_zeroed() };
        memory::concat(&[header.as_bytes(), self.0.as_bytes()])
    }
}

/// The beginning of `bytes`, filled up with zeros.
fn padded(bytes: &[u8]) -> [u8; PATH] {
    let mut padded = [0; PATH];
    for (place, byte) in padded.iter_mut().zip(bytes) {
        *place = *byte;
    }
    padded
}

/// What ibacm answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// `struct ibv_path_data[]`.
    pub paths: Vec<u8>,
    /// The local address, without port.
    pub source: Option<Vec<u8>>,
}

/// What stands at the beginning of a stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply {
    /// Not all of a message yet.
    Incomplete,
    /// A message of that many bytes, which is no reply to the request.
    Other(usize),
    /// The reply, of that many bytes. None if there is no answer.
    Complete(usize, Option<Answer>),
    /// The reply, for which there is no memory.
    Lost,
    /// No message at all.
    Garbage,
}

/// Reads the first message of `stream`, where the reply to the request of that number is looked for.
pub fn read(stream: &[u8], tid: u64) -> Reply {
    let Ok((header, _)) = Header::read_from_prefix(stream) else { return Reply::Incomplete };
    let length = usize::from(header.length);
    if !(HEADER..=LONGEST).contains(&length) {
        return Reply::Garbage;
    }
    match stream.get(HEADER..length) {
        None => Reply::Incomplete,
        Some(_) if header.tid != tid => Reply::Other(length),
        Some(_) if header.status != 0 => Reply::Complete(length, None),
        Some(parts) => answer(parts).map_or(Reply::Lost, |answer| Reply::Complete(length, Some(answer))),
    }
}

fn answer(parts: &[u8]) -> Result<Answer> {
    let mut answer = Answer::default();
    let parts = parts.chunks_exact(PART).filter_map(|part| Part::read_from_bytes(part).ok());
    for part in parts {
        let is_source = part.flags & SOURCE != 0 && answer.source.is_none();
        match part.kind {
            PATH_RECORD => {
                answer.paths.try_reserve(PART)?;
                answer.paths.extend_from_slice(Part { kind: 0, ..part }.as_bytes());
            }
            IP if is_source => {
                answer.source = part.info.first_chunk().map(|ip| sockaddr::of_ipv4(*ip)).transpose()?;
            }
            IP6 if is_source => {
                answer.source = part.info.first_chunk().map(|ip| sockaddr::of_ipv6(*ip)).transpose()?;
            }
            _ => {}
        }
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn part(flags: u32, kind: u16, info: &[u8]) -> Part {
        Part { flags, kind, reserved: 0, info: padded(info) }
    }

    fn reply(tid: u64, parts: &[Part]) -> Vec<u8> {
        Request(parts.to_vec()).message(tid).unwrap()
    }

    #[test]
    fn a_request_is_a_header_and_its_parts() {
        let mut request = Request::default();
        assert!(request.is_empty());
        request.source(Ip::V4([10, 0, 0, 1])).unwrap();
        request.destination(Ip::V6([7; 16]), true).unwrap();
        let message = request.message(0x0102).unwrap();
        assert_eq!(message.len(), 16 + 2 * 72);
        assert_eq!(message[..6], [1, 1, 0, 0, 0, 0]);
        assert_eq!(message[6..8], 160u16.to_ne_bytes());
        assert_eq!(message[8..16], 0x0102u64.to_ne_bytes());
        assert_eq!(message[16..24], part(1, 2, &[]).as_bytes()[..8]);
        assert_eq!(message[24..32], [10, 0, 0, 1, 0, 0, 0, 0]);
        assert_eq!(message[88..96], part(1 << 30 | 2, 3, &[]).as_bytes()[..8]);
        assert_eq!(message[96..112], [7; 16]);
    }

    #[test]
    fn a_path_of_the_hints_keeps_all_but_the_gids() {
        let record: [u8; 64] = std::array::from_fn(|byte| byte as u8);
        let data = [&[0xff; 8][..], &record].concat();
        for like in [&record[..], &data] {
            let mut request = Request::default();
            request.path(like, None, Some([9; 16])).unwrap();
            let Request(parts) = request;
            assert_eq!(parts[0].info[..8], record[..8]);
            assert_eq!(parts[0].info[8..24], [9; 16]);
            assert_eq!(parts[0].info[24..], record[24..]);
        }
        let mut request = Request::default();
        request.path(&[1; 7], Some([9; 16]), None).unwrap();
        assert_eq!(request.0[0].info, padded(&[[0; 24].as_slice(), &[9; 16]].concat()));
    }

    #[test]
    fn an_answer_has_all_paths_and_the_source() {
        let parts = [
            part(0x2b, PATH_RECORD, &[1; 64]),
            part(DESTINATION, IP, &[10, 0, 0, 2]),
            part(SOURCE, IP, &[10, 0, 0, 1]),
            part(SOURCE, IP6, &[5; 16]),
            part(3, PATH_RECORD, &[2; 64]),
        ];
        let Reply::Complete(length, Some(answer)) = read(&reply(5, &parts), 5) else { panic!() };
        assert_eq!(length, 16 + 5 * 72);
        assert_eq!(answer.source, Some(sockaddr::of_ipv4([10, 0, 0, 1]).unwrap()));
        assert_eq!(answer.paths.len(), 2 * 72);
        assert_eq!(answer.paths[..8], [0x2bu32.to_ne_bytes(), [0; 4]].concat());
        assert_eq!(answer.paths[8..72], [1; 64]);
        assert_eq!(answer.paths[80..], [2; 64]);
    }

    #[test]
    fn only_the_reply_to_the_request_counts() {
        let message = reply(5, &[part(0, PATH_RECORD, &[1; 64])]);
        assert_eq!(read(&message, 6), Reply::Other(88));
        assert_eq!(read(&message[..87], 5), Reply::Incomplete);
        assert_eq!(read(&message[..15], 5), Reply::Incomplete);
        let mut refused = message;
        refused[2] = 3;
        assert_eq!(read(&refused, 5), Reply::Complete(88, None));
    }

    #[test]
    fn a_length_that_cannot_be_is_garbage() {
        for length in [0u16, 15, 16 + 8 * 72 + 1, u16::MAX] {
            let mut message = reply(5, &[]);
            message[6..8].copy_from_slice(&length.to_ne_bytes());
            assert_eq!(read(&message, 5), Reply::Garbage);
        }
        assert_eq!(read(&reply(5, &[]), 5), Reply::Complete(16, Some(Answer::default())));
    }

    proptest! {
        #[test]
        fn no_reply_makes_it_panic(stream in proptest::collection::vec(any::<u8>(), 0..700), tid in 0u64..2) {
            let _ = read(&stream, tid);
        }
    }
}
