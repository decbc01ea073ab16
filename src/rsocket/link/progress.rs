// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What came and what is done; and telling the peer how much room there is.

use super::{CONTROL, Link, Message, wire};
use crate::ctypes::{
    IBV_WC_REM_ACCESS_ERR, IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_OP_ERR, IBV_WC_RETRY_EXC_ERR, IBV_WC_SUCCESS,
    IBV_WC_WITH_IMM, IBV_WC_WR_FLUSH_ERR, ibv_wc_status,
};
use crate::errno::{Errno, Result};
use crate::rsocket::ends::{PEER_GONE, PEER_SHUT};
use crate::rsocket::wire::Entry;
use crate::verbs::{Completion, Data, Post, Remote};
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering;

/// Number of a completion: of a receive, with its place.
pub(super) const RECEIVE: u64 = 1 << 63;
/// Of a send that tells something, with the count of those.
const CONTROL_SEND: u64 = 1 << 62;
/// Bits of a count of sends; the rest, below, is a count of bytes.
const SLOT_BITS: u32 = 24;
const SLOT_MASK: u32 = (1 << SLOT_BITS) - 1;

/// Number for a data send: all sends and bytes up to it, both of which wrap.
pub(super) fn data_number(slots: u32, bytes: u32) -> u64 {
    u64::from(slots & SLOT_MASK) << 32 | u64::from(bytes)
}

/// Under the lock that all share.
#[derive(Default)]
pub(super) struct Progress {
    /// The next completion makes an event, or has made one that nobody has taken.
    armed: bool,
    /// The peer knows of the room that the greeting did not tell of.
    begun: bool,
    /// Events that were taken.
    pub events: u32,
    /// Messages of data and mappings that came, and how many of them the peer knows of. Both wrap.
    messages: u32,
    credited: u32,
    /// Entry of the peer's list that the next room is told in.
    peer_entry: u32,
    /// Control sends posted, done, and posted up to the last one that tells when it is done. All wrap.
    posted: u32,
    done: u32,
    signalled: u32,
    /// What is still to be told.
    owed: Option<Message>,
    /// The end has been told: nothing else follows.
    ended: bool,
}

impl Progress {
    fn free(&self) -> u32 {
        CONTROL - self.posted.wrapping_sub(self.done)
    }
}

impl Link {
    /// Takes the completions that there are, and tells the peer what follows from them.
    #[inline]
    pub(super) fn drain(&self, progress: &mut Progress) {
        // An empty queue is the usual case, and asking for more than one takes longer.
        let mut one = [MaybeUninit::<Completion>::uninit()];
        match self.completions.poll(&mut one) {
            Ok([]) if progress.begun => {}
            Ok([]) => self.keep_up(progress),
            Ok(first) => self.drain_from(progress, first),
            Err(error) => self.break_off(error),
        }
    }

    #[cold]
    fn drain_from(&self, progress: &mut Progress, first: &[Completion]) {
        let mut receives = 0;
        self.take_all(progress, first, &mut receives);
        self.drain_rest(progress, receives);
        self.keep_up(progress);
    }

    fn drain_rest(&self, progress: &mut Progress, mut receives: usize) {
        let mut room = [MaybeUninit::<Completion>::uninit(); 16];
        loop {
            match self.completions.poll(&mut room) {
                Ok([]) => break,
                Ok(completions) => self.take_all(progress, completions, &mut receives),
                Err(error) => return self.break_off(error),
            }
        }
        if receives > 0 && !self.ends.is_over() {
            if let Err(error) = self.queue_pair.post_empty_receives(RECEIVE, receives) {
                self.break_off(error);
            }
        }
    }

    fn take_all(&self, progress: &mut Progress, completions: &[Completion], receives: &mut usize) {
        for completion in completions {
            let result = if completion.wr_id & RECEIVE != 0 {
                self.take_receive(progress, completion, receives)
            } else {
                self.take_send(progress, completion)
            };
            if let Err(error) = result {
                let is_first = !self.ends.is_over();
                self.break_off(error);
                if is_first && error == Errno::EPROTO {
                    self.fail();
                }
            }
        }
    }

    fn take_receive(
        &self,
        progress: &mut Progress,
        completion: &Completion,
        receives: &mut usize,
    ) -> Result<()> {
        // What a receive fails of came from the peer.
        well(completion.status, Errno::EPROTO)?;
        let number = if completion.wc_flags & IBV_WC_WITH_IMM != 0 {
            *receives += 1;
            u32::from_be(completion.imm_data)
        } else if self.by_message && completion.byte_len as usize == wire::MESSAGE {
            let index = (completion.wr_id & !RECEIVE) as usize % usize::from(self.sizes.receive_queue);
            let number = self.block.half_number(self.layout.messages + index * wire::MESSAGE);
            if !self.ends.is_over() {
                self.post_message_receive(index)?;
            }
            number
        } else {
            // A message where none is due, or of another length.
            return Err(Errno::EPROTO);
        };
        self.take_message(progress, Message::from_number(number)?)
    }

    fn take_message(&self, progress: &mut Progress, message: Message) -> Result<()> {
        match message {
            // Nothing comes after the end.
            Message::Data(_) if self.ends.any(PEER_SHUT) => {}
            Message::Data(length) => {
                let received = self.received.load(Ordering::Relaxed);
                if u64::from(length) > self.granted.load(Ordering::Relaxed) - received {
                    return Err(Errno::EPROTO);
                }
                progress.messages = progress.messages.wrapping_add(1);
                self.received.store(received + u64::from(length), Ordering::Release);
            }
            Message::Credits(limit) => self.credit_limit.store(limit.into(), Ordering::Release),
            Message::Disconnect => {
                self.ends.set(PEER_SHUT | PEER_GONE);
            }
            Message::Shutdown => {
                self.ends.set(PEER_SHUT);
            }
            // The sender counts it as one of data.
            Message::Mapped(_) => progress.messages = progress.messages.wrapping_add(1),
            Message::KeepAlive => {}
        }
        Ok(())
    }

    fn take_send(&self, progress: &mut Progress, completion: &Completion) -> Result<()> {
        let number = completion.wr_id;
        if number & CONTROL_SEND != 0 {
            progress.done = number as u32;
        } else {
            let done = self.done_slots.load(Ordering::Relaxed);
            let slots = ((number >> 32) as u32).wrapping_sub(done) & SLOT_MASK;
            self.done_bytes.store(number as u32, Ordering::Relaxed);
            self.done_slots.store(done.wrapping_add(slots), Ordering::Release);
        }
        well(completion.status, Errno::EIO)
    }

    pub(super) fn post_message_receive(&self, index: usize) -> Result<()> {
        let place = self.layout.messages + index * wire::MESSAGE;
        let piece = self.shared_memory.piece(&self.block, place, wire::MESSAGE as u32);
        self.queue_pair.post_receive(RECEIVE | index as u64, piece)
    }

    /// Bytes of the buffer that the peer does not know to be free.
    fn untold_room(&self) -> u64 {
        // Both may move meanwhile.
        let taken =
            self.granted.load(Ordering::Relaxed).saturating_sub(self.consumed.load(Ordering::Acquire));
        (self.layout.receive as u64).saturating_sub(taken)
    }

    fn half(&self) -> u64 {
        self.layout.receive as u64 / 2
    }

    /// Whether the peer is to be told of half a buffer that is free again.
    pub(super) fn owes_room(&self) -> bool {
        self.untold_room() >= self.half()
    }

    /// Tells the peer what it is to know.
    pub(super) fn keep_up(&self, progress: &mut Progress) {
        let is_behind = !self.catch_up(progress);
        if self.is_behind() != is_behind {
            self.is_behind.store(is_behind, Ordering::SeqCst);
        }
    }

    /// False if there was no room to tell all.
    fn catch_up(&self, progress: &mut Progress) -> bool {
        while !progress.ended && !self.ends.is_over() && self.owes(progress) {
            if progress.free() < if self.by_message { 2 } else { 1 } {
                return false;
            }
            match progress.owed.take() {
                Some(message) => {
                    progress.ended = message == Message::Disconnect;
                    self.tell(progress, Remote { address: 0, key: 0 }, None, message, true);
                }
                None => self.grant(progress),
            }
        }
        true
    }

    fn owes(&self, progress: &Progress) -> bool {
        let unknown = progress.messages.wrapping_sub(progress.credited);
        let owes_credits = self.owes_room() || unknown >= u32::from(self.sizes.receive_queue) / 2;
        progress.owed.is_some() || (owes_credits && self.peer.get().is_some())
    }

    /// Tells how many messages there is room for, and of half a buffer if that is free.
    fn grant(&self, progress: &mut Progress) {
        let Some(peer) = self.peer.get() else { return };
        progress.credited = progress.messages;
        let limit = progress.messages.wrapping_add(self.sizes.receive_queue.into()) as u16;
        if !self.owes_room() {
            self.tell(progress, Remote { address: 0, key: 0 }, None, Message::Credits(limit), false);
            return;
        }
        let granted = self.granted.load(Ordering::Relaxed);
        let offset = (granted % self.layout.receive as u64) as usize;
        let place = Remote { address: self.block.address(offset), key: self.shared_memory.remote_key() };
        let entry = Entry { place, length: self.half() as u32 }.in_memory(peer.swapped);
        let next = progress.peer_entry.wrapping_add(1) % peer.list.length;
        let at = peer.list.place.address.wrapping_add(u64::from(next) * wire::ENTRY as u64);
        progress.peer_entry = next;
        progress.begun = true;
        self.granted.store(granted + self.half(), Ordering::Relaxed);
        let target = Remote { address: at, key: peer.list.place.key };
        self.tell(progress, target, Some(entry), Message::Credits(limit), false);
    }

    /// Posts what the peer is to know: a message, and an entry for its list.
    fn tell(
        &self,
        progress: &mut Progress,
        target: Remote,
        entry: Option<[u8; wire::ENTRY]>,
        message: Message,
        signalled: bool,
    ) {
        let entry = entry.as_ref().map_or(&[][..], |entry| &entry[..]);
        let posted = if self.by_message {
            let written = if entry.is_empty() {
                Ok(())
            } else {
                self.post_control(progress, Post::Write(target), entry, false)
            };
            written.and_then(|()| {
                self.post_control(progress, Post::Message, &message.to_number().to_ne_bytes(), signalled)
            })
        } else {
            self.post_control(progress, Post::Tell(target, message.to_number()), entry, signalled)
        };
        if let Err(error) = posted {
            self.break_off(error);
        }
    }

    fn post_control(&self, progress: &mut Progress, post: Post, bytes: &[u8], signalled: bool) -> Result<()> {
        progress.posted = progress.posted.wrapping_add(1);
        let signalled = signalled || progress.posted.wrapping_sub(progress.signalled) >= CONTROL / 2;
        if signalled {
            progress.signalled = progress.posted;
        }
        let number = CONTROL_SEND | u64::from(progress.posted);
        if bytes.len() <= usize::from(self.sizes.inline) {
            return self.queue_pair.post(number, post, &Data::Bytes(bytes), signalled);
        }
        let place = self.layout.entries + (progress.posted % CONTROL) as usize * wire::ENTRY;
        self.block.copy_in(place, bytes);
        let piece = self.send_memory.piece(&self.block, place, bytes.len() as u32);
        self.queue_pair.post(number, post, &Data::Pieces(&[piece]), signalled)
    }

    /// Takes the completions that there are.
    #[inline]
    pub fn look(&self) {
        self.drain(&mut self.progress.lock());
    }

    /// Takes the completions that there are, and sees to it that the next one makes an event.
    pub fn look_and_arm(&self) {
        self.arm_and_drain(&mut self.progress.lock());
    }

    /// The same. Nobody need look until the event is taken.
    pub fn look_and_rest(&self) {
        let mut progress = self.progress.lock();
        self.arm_and_drain(&mut progress);
        self.is_quiet.store(progress.armed, Ordering::Release);
    }

    fn arm_and_drain(&self, progress: &mut Progress) {
        if !progress.armed {
            if let Err(error) = self.completions.arm() {
                return self.break_off(error);
            }
            progress.armed = true;
        }
        self.drain(progress);
    }

    /// The event was taken, or none will come.
    pub fn event_taken(&self, result: Result<()>) {
        let mut progress = self.progress.lock();
        match result {
            Ok(()) => {
                progress.armed = false;
                self.is_quiet.store(false, Ordering::Release);
                progress.events = progress.events.wrapping_add(1);
            }
            // Nobody took it: the descriptor is the application's too.
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            Err(error) => self.break_off(error),
        }
    }

    /// Tells the peer, now or when there is room, that nothing more is sent, or nothing more at all.
    pub fn tell_end(&self, message: Message) {
        // What another thread is sending comes before the end: later ones see that there is one.
        drop(self.sending.lock());
        let mut progress = self.progress.lock();
        if !progress.ended {
            progress.owed = Some(message);
        }
        self.drain(&mut progress);
        self.keep_up(&mut progress);
    }

    /// Whether all that was sent has arrived, and the peer knows of the end.
    pub fn is_all_told(&self) -> bool {
        let progress = self.progress.lock();
        self.ends.is_over() || (progress.owed.is_none() && progress.posted == progress.done)
    }

    /// Sends what the peer need not see: if it is not there any more the connection breaks. Its completion wakes the
    /// reader.
    pub fn knock(&self) {
        let mut progress = self.progress.lock();
        if progress.ended || self.ends.is_over() || progress.free() == 0 {
            return;
        }
        let nowhere = Remote { address: 0, key: 0 };
        if let Err(error) = self.post_control(&mut progress, Post::Write(nowhere), &[], true) {
            self.break_off(error);
        }
    }
}

/// How something ended; `otherwise` for a failure that is no other's.
fn well(status: ibv_wc_status, otherwise: Errno) -> Result<()> {
    match status {
        IBV_WC_SUCCESS => Ok(()),
        IBV_WC_RETRY_EXC_ERR => Err(Errno::ETIMEDOUT),
        IBV_WC_WR_FLUSH_ERR => Err(Errno::ECONNRESET),
        // The peer did not take what it had asked for.
        IBV_WC_REM_ACCESS_ERR | IBV_WC_REM_INV_REQ_ERR | IBV_WC_REM_OP_ERR => Err(Errno::EPROTO),
        _ => Err(otherwise),
    }
}
