// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! A kernel that answers whatever its input says, but counts the events that it reports: who waits for an event that
//! the kernel has reported may rely on that.

use super::input::Input;
use crate::cm::uid::hidden;
use crate::ctypes::RDMA_CM_EVENT_CONNECT_REQUEST;
use crate::errno::{Errno, Result};
use crate::uapi::{
    Accept, CmdHdr, Command, CreateId, CreateIdReply, DestroyId, DestroyIdReply, EventReply, GetEvent,
    JoinIpMcast, JoinMcast, LeaveMcast, MigrateId, MigrateIdReply, QueryAddr,
};
use zerocopy::{FromBytes, FromZeros, IntoBytes};

/// An id or a membership.
struct Known {
    handle: u32,
    uid: u64,
    /// Of a membership: the id that is the member.
    owner: Option<u32>,
    reported: u32,
}

/// See the module.
#[derive(Default)]
pub struct Kernel {
    answers: Input,
    known: Vec<Known>,
    last_handle: u32,
    /// From now on every command succeeds, and there are no events.
    tired: bool,
}

const ERRORS: [Errno; 16] = [
    Errno::EINVAL,
    Errno::ENOENT,
    Errno::ENODEV,
    Errno::ENOMEM,
    Errno::EINTR,
    Errno::EAGAIN,
    Errno::EFAULT,
    Errno::EBADF,
    Errno::EACCES,
    Errno::EPERM,
    Errno::EIO,
    Errno::EADDRINUSE,
    Errno::EADDRNOTAVAIL,
    Errno::EBUSY,
    Errno::ENODATA,
    Errno::EOPNOTSUPP,
];

impl Kernel {
    /// Its answers come from there.
    pub fn new(answers: Input) -> Kernel {
        Kernel { answers, ..Kernel::default() }
    }

    /// From now on every command succeeds, and there are no events.
    pub fn tire(&mut self) {
        self.tired = true;
    }

    /// Answers a message as the device does.
    pub fn answer(&mut self, message: &[u8], reply: &mut [u8]) -> Result<usize> {
        let (header, body) = CmdHdr::read_from_prefix(message).map_err(|_| Errno::EINVAL)?;
        let is_wait = header.cmd == GetEvent::NUMBER;
        if is_wait && (self.tired || self.answers.is_empty()) {
            return Err(Errno::EAGAIN);
        }
        match if self.tired { 0 } else { self.answers.byte() } {
            0..200 => {}
            // A system call that waits for an event is either interrupted or has it.
            200..250 => return Err(self.fail(header.cmd, body)),
            _ if is_wait => return Err(Errno::EINTR),
            cut => return Ok(message.len() - usize::from(cut - 249)),
        }
        match header.cmd {
            GetEvent::NUMBER => put(reply, &self.event()),
            CreateId::NUMBER => {
                let uid = CreateId::read_from_bytes(body).map_or(0, |command| command.uid);
                put(reply, &CreateIdReply { id: self.meet(uid, None) });
            }
            JoinMcast::NUMBER => {
                if let Ok(command) = JoinMcast::read_from_bytes(body) {
                    put(reply, &CreateIdReply { id: self.meet(command.uid, Some(command.id)) });
                }
            }
            JoinIpMcast::NUMBER => {
                if let Ok(command) = JoinIpMcast::read_from_bytes(body) {
                    put(reply, &CreateIdReply { id: self.meet(command.uid, Some(command.id)) });
                }
            }
            DestroyId::NUMBER | LeaveMcast::NUMBER => {
                let handle = DestroyId::read_from_bytes(body).map_or(0, |command| command.id);
                put(reply, &DestroyIdReply { events_reported: self.reported(handle) });
                self.forget(body);
            }
            MigrateId::NUMBER => {
                let handle = MigrateId::read_from_bytes(body).map_or(0, |command| command.id);
                put(reply, &MigrateIdReply { events_reported: self.reported(handle) });
            }
            Accept::NUMBER => {
                if let Ok(command) = Accept::read_from_bytes(body) {
                    if let Some(known) = self.known.iter_mut().find(|known| known.handle == command.id) {
                        known.uid = command.uid;
                    }
                }
            }
            _ => self.make_up(reply),
        }
        // Mostly there is no device of that GUID, and looking for it takes long.
        if header.cmd == QueryAddr::NUMBER && (self.tired || self.answers.byte() < 240) {
            if let Some(guid) = reply.first_chunk_mut::<8>() {
                *guid = [0; 8];
            }
        }
        Ok(message.len())
    }

    /// What is not to be ended because it is not there may not tell of events afterwards.
    fn fail(&mut self, command: u32, body: &[u8]) -> Errno {
        let error = self.answers.one_of(&ERRORS).unwrap_or(Errno::EIO);
        if ends(command) && [Errno::EACCES, Errno::EBADF, Errno::ENODEV, Errno::ENOENT].contains(&error) {
            self.forget(body);
        }
        error
    }

    fn forget(&mut self, body: &[u8]) {
        let handle = DestroyId::read_from_bytes(body).map_or(0, |command| command.id);
        self.known.retain(|known| known.handle != handle && known.owner != Some(handle));
    }

    fn meet(&mut self, uid: u64, owner: Option<u32>) -> u32 {
        self.last_handle += 1;
        self.known.push(Known { handle: self.last_handle, uid, owner, reported: 0 });
        self.last_handle
    }

    fn reported(&self, handle: u32) -> u32 {
        self.known.iter().find(|known| known.handle == handle).map_or(0, |known| known.reported)
    }

    fn event(&mut self) -> EventReply {
        let mut event = EventReply::new_zeroed();
        let choice = self.answers.byte();
        let known = usize::from(choice).checked_rem(self.known.len()).and_then(|place| self.known.get(place));
        (event.uid, event.id) = match (choice, known) {
            (0..200, Some(known)) => (known.uid, known.handle),
            (200..210, Some(known)) => (hidden::BELL, known.handle),
            (210..220, Some(known)) => (hidden::WAKE_UP, known.handle),
            (220..230, Some(known)) => (hidden::SILENT, known.handle),
            _ => (u64::from_ne_bytes(self.answers.array()), u32::from_ne_bytes(self.answers.array())),
        };
        let kind = self.answers.byte();
        event.event =
            if kind < 240 { u32::from(kind % 24) } else { u32::from_ne_bytes(self.answers.array()) };
        self.make_up(event.status.as_mut_bytes());
        self.make_up(event.param.as_mut_bytes());
        event.ece.vendor_id = self.answers.byte().into();
        self.count(&event);
        if event.event == RDMA_CM_EVENT_CONNECT_REQUEST && !hidden_or_membership(event.uid) {
            event.id = self.meet(0, None);
        }
        event
    }

    /// The event counts for whom its number names, or without one for whom the kernel's number names.
    fn count(&mut self, event: &EventReply) {
        let named = |known: &&mut Known| match event.uid {
            hidden::SILENT => known.handle == event.id && known.owner.is_none(),
            uid => known.uid == uid,
        };
        let Some(known) = self.known.iter_mut().find(named) else { return };
        known.reported += 1;
        let owner = known.owner;
        if let Some(owner) = self.known.iter_mut().find(|known| Some(known.handle) == owner) {
            owner.reported += 1;
        }
    }

    fn make_up(&mut self, place: &mut [u8]) {
        for (place, byte) in place.iter_mut().zip(self.answers.counted()) {
            *place = byte;
        }
    }
}

fn ends(command: u32) -> bool {
    command == DestroyId::NUMBER || command == LeaveMcast::NUMBER
}

/// Numbers of memberships are inverted keys: their upper half is large.
fn hidden_or_membership(uid: u64) -> bool {
    uid == hidden::SILENT || uid > u64::MAX / 2
}

fn put(reply: &mut [u8], value: &(impl IntoBytes + zerocopy::Immutable)) {
    for (place, byte) in reply.iter_mut().zip(value.as_bytes()) {
        *place = *byte;
    }
}
