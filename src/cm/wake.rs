// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Making the kernel queue an event on a channel, so that its descriptor is readable: by command where the kernel has
//! one for that (Linux 6.18), else by the address resolution of a hidden id.

use super::family;
use super::uid::{NO_ID, hidden};
use super::user::Written;
use crate::ctypes::{IBV_QPT_RC, RDMA_CM_EVENT_USER, RDMA_PS_IPOIB, rdma_port_space};
use crate::diag::{self, Level};
use crate::errno::{Errno, Result};
use crate::sys::{clock, device};
use crate::uapi::{CreateId, DestroyId, DestroyIdReply, ResolveIp, WriteCmEvent, WriteUserEvent};
use crate::ucma::{self, Fd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zerocopy::FromZeros;

/// A user event that nobody looks into.
const EMPTY: Written = Written { event: RDMA_CM_EVENT_USER, status: 0, arg: 0 };
/// A bell takes less than a tenth of it, even in an emulated machine.
const RINGING: Duration = Duration::from_millis(10);

/// Set once the kernel is known to lack WRITE_CM_EVENT. Its version says nothing: the command may be backported.
static MISSING: AtomicBool = AtomicBool::new(false);

/// Whether the kernel is known to lack the command for user events.
#[inline]
pub fn is_command_missing() -> bool {
    MISSING.load(Ordering::Relaxed)
}

/// Forgets what is known of the kernel.
#[cfg(any(test, fuzzing))]
pub fn forget() {
    MISSING.store(false, Ordering::Relaxed);
}

/// Puts an event of a live id into its channel by command. EINVAL if the kernel lacks the command or does not want
/// it for this id.
#[inline]
pub fn write(fd: Fd, handle: u32, event: Written) -> Result<()> {
    if is_command_missing() {
        return Err(Errno::EINVAL);
    }
    command(fd, handle, event).map_err(|error| probed(fd, error))
}

/// The error of a command; after EINVAL it is known whether the kernel has the command.
#[cold]
#[inline(never)]
fn probed(fd: Fd, error: Errno) -> Errno {
    if error == Errno::EINVAL {
        probe(fd);
    }
    error
}

/// As [`write()`], but asks the kernel in any case. So EINVAL means that the channel is in order.
#[inline]
pub fn command(fd: Fd, handle: u32, Written { event, status, arg }: Written) -> Result<()> {
    ucma::order(&fd, WriteUserEvent { id: handle, reserved: 0, event, status: status as u32, arg })
}

/// As [`write()`], with the whole of the kernel's struct: a kernel reads all of it, whatever the length of the message,
/// and at the very top of a small stack there is nothing to read behind a short one (EFAULT).
#[cold]
pub fn write_whole(fd: Fd, handle: u32, Written { event, status, arg }: Written) -> Result<()> {
    ucma::order(
        &fd,
        WriteCmEvent { id: handle, reserved: 0, event, status: status as u32, param: arg.into() },
    )
}

/// Asks for the command with an id that does not exist.
fn probe(fd: Fd) {
    if command(fd, NO_ID, EMPTY) == Err(Errno::EINVAL) {
        MISSING.store(true, Ordering::Relaxed);
        if diag::wants(Level::Command) {
            diag::line(format_args!(
                "the kernel has no command for user events (Linux 6.18 has): they go by hidden ids"
            ));
        }
    }
}

/// Makes a hidden id on the channel, with a number out of [`hidden`], and returns the kernel's number of it.
pub fn hide(fd: Fd, ps: rdma_port_space, uid: u64) -> Result<u32> {
    // The kernel asks for the kind of queue pair only where the port space leaves it open.
    let command = CreateId { uid, ps: ps as u16, qp_type: IBV_QPT_RC as u8, ..FromZeros::new_zeroed() };
    Ok(ucma::request(&fd, command)?.id)
}

/// Makes a hidden id and lets it ring: an event of it arrives. ENODEV without any RDMA device.
pub fn ring(fd: Fd, uid: u64) -> Result<u32> {
    // Resolving takes a port of the port space, and nobody uses those of this one.
    let id = hide(fd, RDMA_PS_IPOIB, uid)?;
    resolve(fd, id).inspect_err(|_| end_hidden(fd, id))?;
    Ok(id)
}

/// Resolves the wildcard address for an id, which sends nothing and works once.
fn resolve(fd: Fd, id: u32) -> Result<()> {
    let any = (libc::AF_INET as u16).to_ne_bytes();
    ucma::order(
        &fd,
        ResolveIp { dst_addr: family::ip(&any), id, timeout_ms: 1000, ..FromZeros::new_zeroed() },
    )
}

/// Waits until every event asked for by [`ring`] so far has been queued.
///
/// The kernel resolves one id after the other, in a queue of its own, and does not destroy an id that is in the queue.
/// So a further id is put in, and destroyed, which takes it out of the way when its turn comes.
///
/// Without memory or a port for that one, the end of the wait is a guess: until there is any event, and not for long.
pub fn wait_until_rung(fd: Fd) {
    match ring(fd, hidden::SILENT) {
        Ok(id) => end_hidden(fd, id),
        Err(_) => _ = device::becomes_readable(fd.0, clock::now() + RINGING),
    }
}

/// Ends an id in the kernel, with the events of it that were not taken.
pub fn end(fd: Fd, handle: u32) -> Result<DestroyIdReply> {
    ucma::request(&fd, DestroyId { id: handle, ..FromZeros::new_zeroed() })
}

/// Ends a hidden id.
pub fn end_hidden(fd: Fd, handle: u32) {
    let _ = twice(|| end(fd, handle));
}

/// Tries something of which nobody can be told that it failed: so it is tried again.
pub fn twice<R>(mut attempt: impl FnMut() -> Result<R>) -> Result<R> {
    attempt().or_else(|_| attempt())
}

/// Makes one thread return that waits for an event of the channel. The hidden id goes with its event, or with the
/// descriptor.
pub fn one_waiter(fd: Fd) -> Result<()> {
    let id = hide(fd, RDMA_PS_IPOIB, hidden::WAKE_UP)?;
    let woken = match write(fd, id, EMPTY) {
        Err(Errno::EINVAL) => resolve(fd, id),
        other => other,
    };
    woken.inspect_err(|_| end_hidden(fd, id))
}
