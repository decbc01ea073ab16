// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Sending a typed command, whatever carries it.

use crate::diag::{self, Level};
use crate::errno::{Errno, Result};
use crate::sys::device;
use crate::uapi::{Command, CreateId, GetEvent, NoReply};
use std::any::type_name;
use std::fmt::Display;
use std::os::fd::RawFd;
use zerocopy::{FromZeros, IntoBytes};

/// What carries commands: the kernel's device, or a test's stand-in for it.
pub trait Transport {
    /// Hands over one message whose reply belongs into `reply`; byte `response` of the message is where the kernel
    /// looks for the address of it. Returns the bytes taken.
    fn submit(&self, message: &mut [u8], response: Option<usize>, reply: &mut [u8]) -> Result<usize>;
}

/// The device, opened as this descriptor.
#[derive(Clone, Copy)]
pub struct Fd(pub RawFd);

impl Transport for Fd {
    #[inline]
    fn submit(&self, message: &mut [u8], response: Option<usize>, reply: &mut [u8]) -> Result<usize> {
        #[cfg(any(test, fuzzing))]
        if let Some(answered) = super::stand_in::submit(message, reply) {
            return answered;
        }
        device::submit(self.0, message, response, reply)
    }
}

/// Executes a command into a reply that the caller prepared: the kernel leaves alone what it does not know.
/// ENODATA if the device takes only a part of the message.
#[inline]
pub fn execute<C: Command>(device: &impl Transport, command: C, reply: &mut C::Reply) -> Result<()> {
    execute_into(device, command, reply.as_mut_bytes())
}

/// As [`execute`], for a reply that is longer the more room there is for it.
#[inline]
pub fn execute_into<C: Command>(device: &impl Transport, command: C, reply: &mut [u8]) -> Result<()> {
    submit::<C>(device, &mut command.message(), reply)
}

#[inline]
fn submit<C: Command>(device: &impl Transport, message: &mut C::Message, reply: &mut [u8]) -> Result<()> {
    // Asked first: what is said afterwards would keep all of this from being inlined. An event has a line of its own.
    if C::NUMBER != GetEvent::NUMBER && diag::wants(Level::Command) {
        return submit_and_say::<C>(device, message, reply);
    }
    whole::<C>(device.submit(message.as_mut_bytes(), C::RESPONSE, reply)?)
}

/// ENODATA if the kernel took a part of the message only.
#[inline]
fn whole<C: Command>(taken: usize) -> Result<()> {
    if taken == size_of::<C::Message>() { Ok(()) } else { Err(Errno::ENODATA) }
}

/// With a line about the command that the kernel has answered. A new id's number is in the answer.
#[cold]
#[inline(never)]
fn submit_and_say<C: Command>(
    device: &impl Transport,
    message: &mut C::Message,
    reply: &mut [u8],
) -> Result<()> {
    let taken = device.submit(message.as_mut_bytes(), C::RESPONSE, reply);
    let has_new_id = C::NUMBER == CreateId::NUMBER && taken.is_ok();
    let place = C::ID.and_then(|at| message.as_bytes().get(at..)).or(has_new_id.then_some(&*reply));
    let id = place.and_then(|bytes| bytes.first_chunk().copied()).map(u32::from_ne_bytes);
    say_command(diag::last_name(type_name::<C>()), id, taken.map(|taken| taken == size_of::<C::Message>()));
    whole::<C>(taken?)
}

fn say_command(name: &str, id: Option<u32>, taken: Result<bool>) {
    let id: &dyn Display = match &id {
        Some(id) => id,
        None => &"-",
    };
    match taken {
        Ok(true) => diag::line(format_args!("command {name}, kernel's id {id}: done")),
        Ok(false) => diag::line(format_args!("command {name}, kernel's id {id}: only a part was taken")),
        Err(error) => diag::line(format_args!("command {name}, kernel's id {id}: {error:?}")),
    }
}

/// A command without a reply that is filled in place, because it is large.
pub struct Draft<C: Command>(C::Message);

impl<C: Command<Reply = NoReply>> Draft<C> {
    /// One that is clear.
    #[inline]
    pub fn clear() -> Draft<C> {
        Draft(C::blank())
    }

    /// To be filled.
    #[inline]
    pub fn body(&mut self) -> &mut C {
        C::body(&mut self.0)
    }

    /// As the function [`order`].
    #[inline]
    pub fn order(&mut self, device: &impl Transport) -> Result<()> {
        submit::<C>(device, &mut self.0, &mut [])
    }
}

/// Executes a command and returns its reply.
pub fn request<C: Command>(device: &impl Transport, command: C) -> Result<C::Reply> {
    let mut reply = C::Reply::new_zeroed();
    execute(device, command, &mut reply)?;
    Ok(reply)
}

/// Executes a command that has no reply.
#[inline]
pub fn order<C: Command<Reply = NoReply>>(device: &impl Transport, command: C) -> Result<()> {
    execute(device, command, &mut NoReply)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uapi::{CreateId, CreateIdReply, ResolveRoute};

    /// Takes `taken` bytes of every message and answers with `answer`.
    struct Script {
        taken: usize,
        answer: &'static [u8],
    }

    impl Transport for Script {
        fn submit(&self, _: &mut [u8], _: Option<usize>, reply: &mut [u8]) -> Result<usize> {
            reply[..self.answer.len()].copy_from_slice(self.answer);
            Ok(self.taken)
        }
    }

    #[test]
    fn the_reply_comes_back() {
        let device = Script { taken: 8 + size_of::<CreateId>(), answer: &[1, 0, 0, 0] };
        let CreateIdReply { id } = request(&device, CreateId::new_zeroed()).unwrap();
        assert_eq!(id, u32::from_ne_bytes([1, 0, 0, 0]));
    }

    #[test]
    fn a_short_write_is_no_success() {
        for taken in [0, 1, 8 + size_of::<ResolveRoute>() - 1] {
            let device = Script { taken, answer: &[] };
            assert_eq!(order(&device, ResolveRoute::new_zeroed()), Err(Errno::ENODATA));
        }
    }

    #[test]
    fn what_the_kernel_does_not_write_stays() {
        let device = Script { taken: 8 + size_of::<CreateId>(), answer: &[] };
        let mut reply = CreateIdReply { id: 77 };
        execute(&device, CreateId::new_zeroed(), &mut reply).unwrap();
        assert_eq!(reply.id, 77);
    }
}
