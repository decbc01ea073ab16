// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What two sockets tell each other: the C library's protocol, version 1.
//!
//! Both sides exchange a greeting in the private data of the connection. From then on data is written into the peer's
//! buffer, each write with a number of 32 bits that says what it was. Room is granted as entries of a list in the sender's
//! memory, one for each half of the buffer. Everything here comes from a stranger and is checked.

use crate::errno::{Errno, Result};
use crate::verbs::Remote;

const VERSION: u8 = 1;
/// The sender's integers in memory are big endian.
const FLAG_BIG_ENDIAN: u8 = 1 << 0;
/// The sender has a table of mappings behind its list.
const FLAG_MAPPINGS: u8 = 1 << 1;

/// Bytes of a greeting.
pub const GREETING: usize = 40;
/// Bytes that stand before it in a request by an AF_IB address.
pub const IB_HEADER: usize = 36;
/// Entries of the list of a socket of this library.
pub const LIST: usize = 2;
/// Bytes of an entry.
pub const ENTRY: usize = 16;
/// Bytes of a mapping.
pub const MAPPING: usize = 24;
/// Bytes of a number that is sent as a message.
pub const MESSAGE: usize = 4;

/// Room in a peer's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it is.
    pub place: Remote,
    /// Bytes.
    pub length: u32,
}

impl Entry {
    /// As it stands in memory, that of a machine with the other byte order if `swap`.
    pub fn in_memory(self, swap: bool) -> [u8; ENTRY] {
        let Entry { place: Remote { address, key }, length } = self;
        if swap {
            join(
                address.swap_bytes().to_ne_bytes(),
                key.swap_bytes().to_ne_bytes(),
                length.swap_bytes().to_ne_bytes(),
            )
        } else {
            join(address.to_ne_bytes(), key.to_ne_bytes(), length.to_ne_bytes())
        }
    }

    fn on_wire(self) -> [u8; ENTRY] {
        join(self.place.address.to_be_bytes(), self.place.key.to_be_bytes(), self.length.to_be_bytes())
    }

    fn from_wire(bytes: &[u8]) -> Option<Entry> {
        let (address, rest) = bytes.split_first_chunk()?;
        let (key, rest) = rest.split_first_chunk()?;
        let place = Remote { address: u64::from_be_bytes(*address), key: u32::from_be_bytes(*key) };
        Some(Entry { place, length: u32::from_be_bytes(*rest.first_chunk()?) })
    }
}

fn join(address: [u8; 8], key: [u8; 4], length: [u8; 4]) -> [u8; ENTRY] {
    let mut bytes = [0; ENTRY];
    for (place, byte) in bytes.iter_mut().zip(address.iter().chain(&key).chain(&length)) {
        *place = *byte;
    }
    bytes
}

/// What a socket says of itself when it connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// Its byte order is not that of this machine.
    pub swapped: bool,
    /// Messages that it has room for.
    pub credits: u16,
    /// Mappings that it has room for.
    pub mappings: u16,
    /// Its list; the length counts entries.
    pub list: Entry,
    /// The first room for data.
    pub room: Entry,
}

impl Greeting {
    /// For the peer, in private data.
    pub fn to_bytes(self) -> [u8; GREETING] {
        let big_endian = cfg!(target_endian = "big") != self.swapped;
        let [high, low] = self.credits.to_be_bytes();
        let flags = FLAG_MAPPINGS | if big_endian { FLAG_BIG_ENDIAN } else { 0 };
        let head = [VERSION, flags, high, low, 0, 0, 0, to_scale(self.mappings)];
        let mut bytes = [0; GREETING];
        let (list, room) = (self.list.on_wire(), self.room.on_wire());
        for (place, byte) in bytes.iter_mut().zip(head.iter().chain(&list).chain(&room)) {
            *place = *byte;
        }
        bytes
    }

    /// From the private data of a peer. EPROTO if it is none, or says what cannot be.
    pub fn from_bytes(bytes: &[u8]) -> Result<Greeting> {
        let [version, flags, high, low, _, _, _, scale] = *bytes.first_chunk().ok_or(Errno::EPROTO)?;
        let rest = bytes.get(8..GREETING).ok_or(Errno::EPROTO)?;
        let (list, room) = rest.split_at_checked(ENTRY).ok_or(Errno::EPROTO)?;
        let list = Entry::from_wire(list).ok_or(Errno::EPROTO)?;
        let room = Entry::from_wire(room).ok_or(Errno::EPROTO)?;
        if version != VERSION || list.length == 0 {
            return Err(Errno::EPROTO);
        }
        Ok(Greeting {
            swapped: (flags & FLAG_BIG_ENDIAN != 0) != cfg!(target_endian = "big"),
            credits: u16::from_be_bytes([high, low]),
            mappings: if flags & FLAG_MAPPINGS != 0 { from_scale(scale) } else { 0 },
            list,
            room,
        })
    }

    /// Where a mapping of that index stands in the sender's memory.
    pub fn mapping(&self, index: u16) -> Remote {
        let behind =
            (u64::from(self.list.length) * ENTRY as u64).wrapping_add(u64::from(index) * MAPPING as u64);
        Remote { address: self.list.place.address.wrapping_add(behind), key: self.list.place.key }
    }
}

/// A size of a table as eight bits: exact up to 128, else a multiple of 256.
pub fn to_scale(value: u16) -> u8 {
    match u8::try_from(value) {
        Ok(small) if small <= 1 << 7 => small,
        _ => 1 << 7 | (value >> 8).min(0x7f) as u8,
    }
}

/// What eight bits say of the size of a table.
pub fn from_scale(scale: u8) -> u16 {
    if scale <= 1 << 7 { scale.into() } else { u16::from(scale & !(1 << 7)) << 8 }
}

const OP_SHIFT: u32 = 29;
const OP_DATA: u32 = 0;
const OP_LIST: u32 = 4;
const OP_MAPPING: u32 = 6;
const OP_CONTROL: u32 = 7;
const CONTROL_DISCONNECT: u32 = 0;
const CONTROL_KEEPALIVE: u32 = 1;
const CONTROL_SHUTDOWN: u32 = 2;
const DATA_MASK: u32 = (1 << OP_SHIFT) - 1;

/// What a number tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// That many bytes of data were written.
    Data(u32),
    /// Up to that message, counted from the beginning, there is room; perhaps an entry was written.
    Credits(u16),
    /// A mapping was written.
    Mapped(u16),
    /// The sender neither sends nor receives any more.
    Disconnect,
    /// The sender sends no more.
    Shutdown,
    /// Nothing.
    KeepAlive,
}

impl Message {
    /// As it is sent.
    pub fn to_number(self) -> u32 {
        let (op, data) = match self {
            Message::Data(length) => (OP_DATA, length),
            Message::Credits(limit) => (OP_LIST, limit.into()),
            Message::Mapped(index) => (OP_MAPPING, index.into()),
            Message::Disconnect => (OP_CONTROL, CONTROL_DISCONNECT),
            Message::KeepAlive => (OP_CONTROL, CONTROL_KEEPALIVE),
            Message::Shutdown => (OP_CONTROL, CONTROL_SHUTDOWN),
        };
        op << OP_SHIFT | data & DATA_MASK
    }

    /// What a peer told. EPROTO for what no peer tells.
    pub fn from_number(number: u32) -> Result<Message> {
        let data = number & DATA_MASK;
        match number >> OP_SHIFT {
            OP_DATA => Ok(Message::Data(data)),
            OP_LIST => Ok(Message::Credits(data as u16)),
            OP_MAPPING => Ok(Message::Mapped(data as u16)),
            // An unknown control message is no reason to give up.
            OP_CONTROL => Ok(match data {
                CONTROL_DISCONNECT => Message::Disconnect,
                CONTROL_SHUTDOWN => Message::Shutdown,
                _ => Message::KeepAlive,
            }),
            _ => Err(Errno::EPROTO),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(address: u64, key: u32, length: u32) -> Entry {
        Entry { place: Remote { address, key }, length }
    }

    #[test]
    fn a_greeting_on_the_wire() {
        let greeting = Greeting {
            swapped: false,
            credits: 384,
            mappings: 0,
            list: entry(0x0102_0304_0506_0708, 0x0a0b_0c0d, 2),
            room: entry(0x1112_1314_1516_1718, 0x1a1b_1c1d, 65536),
        };
        let bytes = greeting.to_bytes();
        assert_eq!(bytes[..8], [1, if cfg!(target_endian = "big") { 3 } else { 2 }, 1, 128, 0, 0, 0, 0]);
        assert_eq!(bytes[8..24], [1, 2, 3, 4, 5, 6, 7, 8, 0x0a, 0x0b, 0x0c, 0x0d, 0, 0, 0, 2]);
        assert_eq!(bytes[36..], [0, 1, 0, 0]);
        assert_eq!(Greeting::from_bytes(&bytes), Ok(greeting));
        assert_eq!(greeting.mapping(1).address, 0x0102_0304_0506_0708 + 32 + 24);
    }

    #[test]
    fn a_greeting_that_is_none() {
        let good =
            Greeting { swapped: true, credits: 1, mappings: 3, list: entry(1, 2, 2), room: entry(3, 4, 5) }
                .to_bytes();
        assert!(Greeting::from_bytes(&good).is_ok());
        for length in 0..GREETING {
            assert_eq!(Greeting::from_bytes(&good[..length]), Err(Errno::EPROTO), "{length}");
        }
        let mut other_version = good;
        other_version[0] = 2;
        assert_eq!(Greeting::from_bytes(&other_version), Err(Errno::EPROTO));
        let mut without_list = good;
        without_list[20..24].fill(0);
        assert_eq!(Greeting::from_bytes(&without_list), Err(Errno::EPROTO));
    }

    #[test]
    fn an_entry_for_the_other_byte_order() {
        let plain = entry(1, 2, 3).in_memory(false);
        let mut swapped = entry(1, 2, 3).in_memory(true);
        swapped[..8].reverse();
        swapped[8..12].reverse();
        swapped[12..].reverse();
        assert_eq!(plain, swapped);
    }

    #[test]
    fn sizes_of_tables() {
        for (value, scale, back) in
            [(0, 0, 0), (1, 1, 1), (128, 128, 128), (300, 129, 256), (32767, 255, 32512)]
        {
            assert_eq!((to_scale(value), from_scale(scale)), (scale, back), "{value}");
        }
    }

    proptest! {
        #[test]
        fn any_number_is_a_message_or_refused(number: u32) {
            if let Ok(message) = Message::from_number(number) {
                prop_assert_eq!(Message::from_number(message.to_number()), Ok(message));
            } else {
                prop_assert!([1, 2, 3, 5].contains(&(number >> OP_SHIFT)));
            }
        }

        #[test]
        fn any_private_data_is_a_greeting_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = Greeting::from_bytes(&bytes);
        }
    }
}
