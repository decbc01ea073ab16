// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What a peer of a stream socket says: its greeting, then numbers, and room for entries in its memory. And what strangers
//! send to a datagram socket.

use super::input::Input;
use crate::errno::Errno;
use crate::rsocket::datagram::wire as datagram;
use crate::rsocket::wire::{ENTRY, Entry, GREETING, Greeting, IB_HEADER, MAPPING, Message};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Most mappings that are looked at: a peer may say that it has room for 32512.
const MOST: u16 = 300;

/// The first byte tells whether a header of an AF_IB address stands before the greeting.
pub fn sockets(data: &[u8]) {
    datagrams(data);
    let mut input = Input::new(data);
    let header = if input.byte() & 1 == 0 { 0 } else { IB_HEADER };
    let private_data = input.counted();
    let words = private_data.get(header..).unwrap_or_default();
    let short = words.get(..GREETING - 1).unwrap_or_default();
    assert_eq!(Greeting::from_bytes(short), Err(Errno::EPROTO), "it was a greeting before its end");
    let Ok(greeting) = Greeting::from_bytes(words) else { return };
    meet(greeting);
    while !input.is_empty() {
        number(u32::from_be_bytes(input.array()));
    }
}

/// What is taken for a header or a notice lies within the message, and says the same when it is sent.
fn datagrams(data: &[u8]) {
    if let Some((sender, length)) = datagram::read_header(data) {
        assert!(length <= data.len());
        assert_eq!(datagram::read_header(datagram::header(sender).get()).map(|(same, _)| same), Some(sender));
    }
    for own in [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)] {
        let Some(notice) = datagram::read_notice(data, own) else { continue };
        let again = datagram::notice(own, notice.number, notice.purpose);
        assert_eq!(again.get().len() + notice.payload.len(), data.len());
        let same = datagram::read_notice(again.get(), own).map(|same| (same.number, same.purpose));
        assert_eq!(same, Some((notice.number, notice.purpose)));
    }
}

/// What is kept of a greeting says the same again, and places in the peer's memory follow each other.
fn meet(greeting: Greeting) {
    assert_eq!(Greeting::from_bytes(&greeting.to_bytes()), Ok(greeting));
    assert_ne!(greeting.list.length, 0, "the next entry is found by a remainder");
    let Greeting { list, mappings, .. } = greeting;
    let behind = list.place.address.wrapping_add(u64::from(list.length).wrapping_mul(ENTRY as u64));
    for index in 0..mappings.min(MOST) {
        let place = greeting.mapping(index);
        assert_eq!(place.key, list.place.key);
        let before = place.address.wrapping_sub(behind);
        assert_eq!(before, u64::from(index) * MAPPING as u64);
    }
    for entry in [list, greeting.room] {
        assert_eq!(turned(entry).in_memory(true), entry.in_memory(false));
    }
}

/// The entry as a machine of the other byte order reads it.
fn turned(entry: Entry) -> Entry {
    let Entry { mut place, length } = entry;
    place.address = place.address.swap_bytes();
    place.key = place.key.swap_bytes();
    Entry { place, length: length.swap_bytes() }
}

/// A number is refused, or a message that says the same when it is sent.
fn number(number: u32) {
    match Message::from_number(number) {
        Ok(message) => assert_eq!(Message::from_number(message.to_number()), Ok(message)),
        Err(error) => assert_eq!(error, Errno::EPROTO),
    }
}
