// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Making the kernel queue an event on a channel, so that its descriptor is readable: by command where the kernel has
//! one for that (Linux 6.18), else by the address resolution of a hidden id.

use super::family;
use crate::ctypes::{IBV_QPT_RC, RDMA_CM_EVENT_USER, RDMA_PS_TCP};
use crate::errno::{Errno, Result};
use crate::uapi::{CreateId, DestroyId, DestroyIdReply, ResolveIp, WriteCmEvent, WriteUserEvent};
use crate::ucma::{self, Fd};
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use zerocopy::FromZeros;

/// A number that no table gives out, for hidden ids that nobody asks about.
const NOBODY: u64 = u64::MAX;
/// A kernel number that no id has.
const NO_ID: u32 = u32::MAX;

/// Set once the kernel is known to lack WRITE_CM_EVENT. Its version says nothing: the command may be backported.
static MISSING: AtomicBool = AtomicBool::new(false);

/// Puts a user event of a live id into its channel by command. EINVAL if the kernel lacks the command or does not want
/// it for this id.
#[inline]
pub fn write(fd: Fd, handle: u32, status: c_int, arg: u64) -> Result<()> {
    if MISSING.load(Ordering::Relaxed) {
        return Err(Errno::EINVAL);
    }
    let result = ucma::order(
        &fd,
        WriteUserEvent { id: handle, reserved: 0, event: RDMA_CM_EVENT_USER, status: status as u32, arg },
    );
    if result == Err(Errno::EINVAL) {
        probe(fd);
    }
    result
}

/// As [`write()`], with the whole of the kernel's struct: a kernel reads all of it, whatever the length of the message,
/// and at the very top of a small stack there is nothing to read behind a short one (EFAULT).
#[cold]
pub fn write_whole(fd: Fd, handle: u32, status: c_int, arg: u64) -> Result<()> {
    let event = RDMA_CM_EVENT_USER;
    ucma::order(
        &fd,
        WriteCmEvent { id: handle, reserved: 0, event, status: status as u32, param: arg.into() },
    )
}

/// A kernel that has the command answers ENOENT for an id that does not exist; one that does not, EINVAL as for every
/// unknown command.
#[cold]
fn probe(fd: Fd) {
    let command = WriteUserEvent { id: NO_ID, event: RDMA_CM_EVENT_USER, ..FromZeros::new_zeroed() };
    if ucma::order(&fd, command) == Err(Errno::EINVAL) {
        MISSING.store(true, Ordering::Relaxed);
    }
}

/// Makes a hidden id on the channel and returns the kernel's number of it.
pub fn hide(fd: Fd, uid: u64) -> Result<u32> {
    let command =
        CreateId { uid, ps: RDMA_PS_TCP as u16, qp_type: IBV_QPT_RC as u8, ..FromZeros::new_zeroed() };
    Ok(ucma::request(&fd, command)?.id)
}

/// Makes an event of a hidden id arrive by resolving the wildcard address, which sends nothing. That works once for
/// each id. ENODEV without an active port.
pub fn resolve(fd: Fd, handle: u32) -> Result<()> {
    let any = (libc::AF_INET as u16).to_ne_bytes();
    ucma::order(
        &fd,
        ResolveIp { dst_addr: family::ip(&any), id: handle, timeout_ms: 1000, ..FromZeros::new_zeroed() },
    )
}

/// Waits until every event asked for by [`resolve`] so far has been queued.
///
/// The kernel resolves one id after the other, in a queue of its own, and does not destroy an id that is in the queue.
/// So a further id is put in, and destroyed, which takes it out of the way when its turn comes.
pub fn wait_until_rung(fd: Fd) {
    if let Ok(handle) = hide(fd, NOBODY) {
        let _ = resolve(fd, handle);
        let _ = end(fd, handle);
    }
}

/// Ends an id in the kernel, with the events of it that were not taken.
pub fn end(fd: Fd, handle: u32) -> Result<DestroyIdReply> {
    ucma::request(&fd, DestroyId { id: handle, ..FromZeros::new_zeroed() })
}

/// Makes one thread return that waits for an event of the channel. The hidden id goes with the descriptor.
pub fn one_waiter(fd: Fd) -> Result<()> {
    let handle = hide(fd, NOBODY)?;
    match write(fd, handle, 0, 0) {
        Err(Errno::EINVAL) => resolve(fd, handle),
        other => other,
    }
}
