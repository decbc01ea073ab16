// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! From the application's memory to the peer.

use super::progress::data_number;
use super::{Link, Message, wire};
use crate::errno::{Errno, Result};
use crate::rsocket::wire::Entry;
use crate::sys::iovec::{self, Pieces};
use crate::verbs::{Data, Post, Remote};
use std::ptr;
use std::sync::atomic::Ordering;

/// Bytes of the first send of a call; each further one is twice as long, so that copying and sending overlap.
pub const FIRST_CHUNK: u32 = 8 << 10;
const CHUNK_MAX: u32 = 64 << 10;
/// Bytes of the buffer that are free when a socket is ready to send.
const LOW_WATER: u32 = 2048;
/// Most bytes that are copied to the stack for a send without the buffer.
const INLINE_MAX: usize = 256;

/// Under the lock of those who send.
#[derive(Default)]
pub(super) struct Sending {
    /// Sends and bytes of the buffer that were posted, and those up to the last send that tells when it is done. All wrap.
    slots: u32,
    bytes: u32,
    told_slots: u32,
    told_bytes: u32,
    /// Where the buffer goes on.
    head: usize,
    /// Messages; wraps.
    sequence: u16,
    /// Room at the peer.
    room: Option<Entry>,
    /// The entry of the list that comes next.
    next: usize,
}

impl Sending {
    /// The peer has told of its first room.
    pub fn begin(&mut self, room: Entry) {
        self.room = Some(room);
        self.next = 1;
    }
}

impl Link {
    /// Sends what there is room for. Chunks grow during a call.
    pub fn send(&self, pieces: &mut Pieces<'_>, chunk: &mut u32) -> Result<()> {
        let mut sending = self.sending.lock();
        while pieces.left() > 0 && !self.ends.is_end_of_sending() {
            let mut room = self.data_room(&mut sending);
            if room == 0 {
                self.look();
                room = self.data_room(&mut sending);
            }
            if room == 0 || self.ends.is_end_of_sending() {
                break;
            }
            let length = room.min(*chunk).min(u32::try_from(pieces.left()).unwrap_or(u32::MAX));
            *chunk = (*chunk * 2).min(CHUNK_MAX);
            self.send_data(&mut sending, pieces, length)?;
        }
        Ok(())
    }

    /// Whether there is room to send.
    pub fn has_room(&self) -> bool {
        self.data_room(&mut self.sending.lock()) > 0
    }

    /// Bytes that can be sent now, as far as is known.
    fn data_room(&self, sending: &mut Sending) -> u32 {
        if self.credit_limit.load(Ordering::Acquire) as u16 == sending.sequence || self.peer.get().is_none() {
            return 0;
        }
        let free = self.free(sending);
        if free == 0 {
            return 0;
        }
        if sending.room.is_none_or(|room| room.length == 0) {
            sending.room = self.next_room(sending);
        }
        sending.room.map_or(0, |room| room.length.min(free))
    }

    /// Bytes of the buffer that are free, or 0 if there is none to speak of or no send left.
    fn free(&self, sending: &Sending) -> u32 {
        let each = if self.by_message { 2 } else { 1 };
        let used = sending.slots.wrapping_sub(self.done_slots.load(Ordering::Acquire));
        if used + each > u32::from(self.sizes.send_queue) - super::CONTROL {
            return 0;
        }
        let taken = sending.bytes.wrapping_sub(self.done_bytes.load(Ordering::Relaxed));
        let free = self.sizes.send_buffer - taken;
        if free < LOW_WATER { 0 } else { free }
    }

    /// The next entry of the list, if the peer has written it. It is read once, and taken away, before anything is sent
    /// there: the peer writes it again only afterwards.
    fn next_room(&self, sending: &mut Sending) -> Option<Entry> {
        let place = self.layout.list + sending.next * wire::ENTRY;
        let second = self.block.number(place + 8);
        let [a, b, c, d, e, f, g, h] = second.load(Ordering::Acquire).to_ne_bytes();
        let (key, length) = (u32::from_ne_bytes([a, b, c, d]), u32::from_ne_bytes([e, f, g, h]));
        if length == 0 {
            return None;
        }
        let address = self.block.number(place).load(Ordering::Acquire);
        second.store(0, Ordering::Release);
        sending.next = (sending.next + 1) % wire::LIST;
        Some(Entry { place: Remote { address, key }, length })
    }

    fn send_data(&self, sending: &mut Sending, pieces: &mut Pieces<'_>, length: u32) -> Result<()> {
        let Some(room) = &mut sending.room else { return Err(Errno::EPROTO) };
        let target = room.place;
        room.place.address = room.place.address.wrapping_add(length.into());
        room.length -= length;
        sending.sequence = sending.sequence.wrapping_add(1);
        self.write(sending, pieces, length, target, Some(Message::Data(length)))
    }

    /// Writes to the peer's memory, through the buffer unless it is little, and tells what it was.
    fn write(
        &self,
        sending: &mut Sending,
        pieces: &mut Pieces<'_>,
        length: u32,
        target: Remote,
        message: Option<Message>,
    ) -> Result<()> {
        let size = length as usize;
        if size <= usize::from(self.sizes.inline).min(INLINE_MAX) {
            let mut taken = [0; INLINE_MAX];
            let mut places = taken.iter_mut();
            pieces.read(size, |run| {
                for (byte, place) in run.iter().zip(places.by_ref()) {
                    *place = *byte;
                }
            });
            let bytes = taken.get(..size).unwrap_or_default();
            return self.post_data(sending, &Data::Bytes(bytes), 0, target, message);
        }
        let capacity = self.sizes.send_buffer as usize;
        let first = size.min(capacity - sending.head);
        let mut at = self.layout.send + sending.head;
        let begin = at;
        pieces.read(first, |run| {
            self.block.copy_in(at, run);
            at += run.len();
        });
        let mut at = self.layout.send;
        pieces.read(size - first, |run| {
            self.block.copy_in(at, run);
            at += run.len();
        });
        sending.head = (sending.head + size) % capacity;
        let list = [
            self.send_memory.piece(&self.block, begin, first as u32),
            self.send_memory.piece(&self.block, self.layout.send, (size - first) as u32),
        ];
        let count = if first < size { 2 } else { 1 };
        self.post_data(sending, &Data::Pieces(list.get(..count).unwrap_or_default()), length, target, message)
    }

    fn post_data(
        &self,
        sending: &mut Sending,
        data: &Data<'_>,
        bytes: u32,
        target: Remote,
        message: Option<Message>,
    ) -> Result<()> {
        let slots = if self.by_message && message.is_some() { 2 } else { 1 };
        sending.slots = sending.slots.wrapping_add(slots);
        sending.bytes = sending.bytes.wrapping_add(bytes);
        // A completion wakes a thread that waits for something else, so few sends make one: enough that there is always
        // one to wait for.
        let signalled = sending.slots.wrapping_sub(sending.told_slots)
            >= u32::from(self.sizes.send_queue) / 4
            || sending.bytes.wrapping_sub(sending.told_bytes) >= self.sizes.send_buffer / 4;
        if signalled {
            (sending.told_slots, sending.told_bytes) = (sending.slots, sending.bytes);
        }
        let number = data_number(sending.slots, sending.bytes);
        let posted = match message {
            None => self.queue_pair.post(number, Post::Write(target), data, signalled),
            Some(message) if !self.by_message => {
                self.queue_pair.post(number, Post::Tell(target, message.to_number()), data, signalled)
            }
            Some(message) => self.queue_pair.post(number, Post::Write(target), data, false).and_then(|()| {
                let told = message.to_number().to_ne_bytes();
                self.queue_pair.post(number, Post::Message, &Data::Bytes(&told), signalled)
            }),
        };
        posted.inspect_err(|error| self.break_off(*error))
    }

    /// Writes to memory that the peer has offered, as much as there is room for.
    pub(super) fn write_to(
        &self,
        pieces: &mut Pieces<'_>,
        chunk: &mut u32,
        target: Remote,
        most: u32,
    ) -> Result<u32> {
        let mut sending = self.sending.lock();
        let mut free = self.free(&sending);
        if free == 0 {
            self.look();
            free = self.free(&sending);
        }
        let left = u32::try_from(pieces.left()).unwrap_or(u32::MAX);
        let length = free.min(*chunk).min(left).min(most);
        if length > 0 {
            *chunk = (*chunk * 2).min(CHUNK_MAX);
            self.write(&mut sending, pieces, length, target, None)?;
        }
        Ok(length)
    }

    /// Tells the peer of a mapping. False if there is no room to.
    pub(super) fn tell_mapping(
        &self,
        bytes: &[u8; wire::MAPPING],
        target: Remote,
        index: u16,
    ) -> Result<bool> {
        let mut sending = self.sending.lock();
        if self.credit_limit.load(Ordering::Acquire) as u16 == sending.sequence || self.free(&sending) == 0 {
            return Ok(false);
        }
        let mut list = [iovec::single(ptr::null(), 0)];
        let mut pieces = Pieces::of_bytes(bytes, &mut list);
        sending.sequence = sending.sequence.wrapping_add(1);
        self.write(&mut sending, &mut pieces, wire::MAPPING as u32, target, Some(Message::Mapped(index)))?;
        Ok(true)
    }

    /// Whether there is room in the buffer.
    pub fn has_free_buffer(&self) -> bool {
        self.free(&self.sending.lock()) > 0
    }
}
