// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Posting to queue pairs and taking completions. In C these are inline functions, which call the driver without entering
//! libibverbs.

use super::address::AddressHandle;
use super::queue_pair::QueuePair;
use super::{CompletionQueue, ffi};
use crate::ctypes::{
    IBV_SEND_INLINE, IBV_SEND_SIGNALED, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_SEND,
    ibv_context, ibv_cq, ibv_qp, ibv_recv_wr, ibv_send_wr, ibv_sge, ibv_wc,
};
use crate::errno::{Errno, Result};
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::ptr;

/// Places of the functions among the driver's.
const POLL_CQ: usize = 11;
const REQ_NOTIFY_CQ: usize = 12;
const POST_SEND: usize = 25;
const POST_RECV: usize = 26;

type PollCq = unsafe extern "C" fn(*mut ibv_cq, c_int, *mut ibv_wc) -> c_int;
type ReqNotifyCq = unsafe extern "C" fn(*mut ibv_cq, c_int) -> c_int;
type PostSend = unsafe extern "C" fn(*mut ibv_qp, *mut ibv_send_wr, *mut *mut ibv_send_wr) -> c_int;
type PostRecv = unsafe extern "C" fn(*mut ibv_qp, *mut ibv_recv_wr, *mut *mut ibv_recv_wr) -> c_int;

/// A function of the driver. EOPNOTSUPP without it.
///
/// # Safety
///
/// The context is open, and the type is that of the function at that place.
#[inline]
unsafe fn function<F: Copy>(context: *mut ibv_context, place: usize) -> Result<F> {
    const { assert!(size_of::<F>() == size_of::<unsafe extern "C" fn()>()) };
    // SAFETY: the caller's promise: the entry is NULL or such a function.
    unsafe {
        let entry = (*context).ops.entries.get(place).copied().flatten().ok_or(Errno::EOPNOTSUPP)?;
        Ok(std::mem::transmute_copy::<unsafe extern "C" fn(), F>(&entry))
    }
}

fn done(error: c_int) -> Result<()> {
    match error {
        0 => Ok(()),
        error => Err(Errno::from_raw(error)),
    }
}

/// Something that was posted has ended.
pub type Completion = ibv_wc;

/// Room for completions.
pub type Room = [MaybeUninit<Completion>];

/// Memory of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Where it begins.
    pub address: u64,
    /// The peer's key.
    pub key: u32,
}

/// A send.
#[derive(Clone, Copy)]
pub enum Post {
    /// Writes to the peer's memory.
    Write(Remote),
    /// The same, and tells it a number.
    Tell(Remote, u32),
    /// Sends a message.
    Message,
    /// Sends a datagram to the queue pair of a number, whose key is the last one.
    Datagram(AddressHandle, u32, u32),
}

/// What is sent.
pub enum Data<'a> {
    /// These bytes, taken at once.
    Bytes(&'a [u8]),
    /// Registered memory.
    Pieces(&'a [ibv_sge]),
}

impl QueuePair {
    /// Posts a send, which comes back with that number if it is signalled or fails. ENOMEM if the queue is full, EINVAL
    /// for more bytes or pieces than it takes.
    #[inline]
    pub fn post(self, number: u64, post: Post, data: &Data<'_>, signalled: bool) -> Result<()> {
        let mut bytes = ibv_sge { addr: 0, length: 0, lkey: 0 };
        let (list, count, inline) = match data {
            Data::Bytes([]) => (ptr::null(), 0, 0),
            Data::Bytes(taken) => {
                bytes.addr = taken.as_ptr().expose_provenance() as u64;
                bytes.length = u32::try_from(taken.len()).map_err(|_| Errno::EINVAL)?;
                (&raw const bytes, 1, IBV_SEND_INLINE)
            }
            Data::Pieces(pieces) => (pieces.as_ptr(), pieces.len() as c_int, 0),
        };
        let nothing = Remote { address: 0, key: 0 };
        let (opcode, remote, told) = match post {
            Post::Write(remote) => (IBV_WR_RDMA_WRITE, remote, 0),
            Post::Tell(remote, told) => (IBV_WR_RDMA_WRITE_WITH_IMM, remote, told),
            Post::Message => (IBV_WR_SEND, nothing, 0),
            Post::Datagram(handle, number, _) => {
                let address = handle.as_ptr().expose_provenance() as u64;
                (IBV_WR_SEND, Remote { address, key: number }, 0)
            }
        };
        let mut request = ibv_send_wr {
            wr_id: number,
            next: ptr::null_mut(),
            sg_list: list.cast_mut(),
            num_sge: count,
            opcode,
            send_flags: inline | if signalled { IBV_SEND_SIGNALED } else { 0 },
            imm_data: told.to_be(),
            remote_addr: remote.address,
            rkey: remote.key,
            remote_qkey: if let Post::Datagram(_, _, key) = post { key } else { 0 },
            other: [0; 9],
        };
        let mut bad = ptr::null_mut();
        // SAFETY: the queue pair is alive, the request and what it points to are valid during the call. Registered memory
        // is only touched by the device while its key holds.
        done(unsafe {
            function::<PostSend>((*self.as_ptr()).context, POST_SEND)?(self.as_ptr(), &mut request, &mut bad)
        })
    }

    /// Posts receives without room, each for one number of a peer's; all come back with the same number.
    pub fn post_empty_receives(self, number: u64, mut count: usize) -> Result<()> {
        const LIST: usize = 64;
        let empty =
            ibv_recv_wr { wr_id: number, next: ptr::null_mut(), sg_list: ptr::null_mut(), num_sge: 0 };
        let mut list = [empty; LIST];
        while count > 0 {
            let length = count.min(LIST);
            let first = list.as_mut_ptr();
            for position in 0..length {
                // SAFETY: both places are in the list, or the second one is not used.
                unsafe {
                    let last = position + 1 == length;
                    (*first.add(position)).next =
                        if last { ptr::null_mut() } else { first.add(position + 1) };
                }
            }
            self.post_receives(first)?;
            count -= length;
        }
        Ok(())
    }

    /// Posts a receive, which comes back with that number, into a piece of registered memory.
    pub fn post_receive(self, number: u64, mut piece: ibv_sge) -> Result<()> {
        let mut request =
            ibv_recv_wr { wr_id: number, next: ptr::null_mut(), sg_list: &mut piece, num_sge: 1 };
        self.post_receives(&mut request)
    }

    fn post_receives(self, first: *mut ibv_recv_wr) -> Result<()> {
        let mut bad = ptr::null_mut();
        // SAFETY: the queue pair is alive; callers pass a list that is valid during the call.
        done(unsafe {
            function::<PostRecv>((*self.as_ptr()).context, POST_RECV)?(self.as_ptr(), first, &mut bad)
        })
    }
}

impl CompletionQueue {
    /// Takes completions out, at most as many as there is room for.
    #[inline]
    pub fn poll<'a>(&self, room: &'a mut Room) -> Result<&'a [Completion]> {
        let most = c_int::try_from(room.len()).unwrap_or(c_int::MAX);
        // SAFETY: the queue is alive, and there is that much room.
        let taken = unsafe {
            function::<PollCq>((*self.queue()).context, POLL_CQ)?(
                self.queue(),
                most,
                room.as_mut_ptr().cast(),
            )
        };
        let taken = usize::try_from(taken).map_err(|_| Errno::EIO)?;
        // SAFETY: the driver has written that many.
        Ok(unsafe { std::slice::from_raw_parts(room.as_ptr().cast(), taken.min(room.len())) })
    }

    /// The next completion makes an event.
    pub fn arm(&self) -> Result<()> {
        // SAFETY: the queue is alive.
        done(unsafe { function::<ReqNotifyCq>((*self.queue()).context, REQ_NOTIFY_CQ)?(self.queue(), 0) })
    }

    /// Takes one event, waiting for it unless the descriptor was made non-blocking (EAGAIN). EINTR after a signal, EIO if
    /// the device was taken away.
    ///
    /// A thread that is cancelled ends here: nothing that must be dropped may be alive in a caller.
    pub fn take_event(&self) -> Result<()> {
        let (mut queue, mut context) = (ptr::null_mut::<ibv_cq>(), ptr::null_mut::<c_void>());
        // SAFETY: the channel is open and the places are valid. The only queue on it is this one.
        match unsafe { ffi::ibv_get_cq_event(self.channel(), &mut queue, &mut context) } {
            0 => Ok(()),
            _ => Err(Errno::last()),
        }
    }

    /// That many events that were taken are done with: destroying the queue waits for that.
    pub fn acknowledge(&self, events: u32) {
        // SAFETY: the queue is alive.
        unsafe { ffi::ibv_ack_cq_events(self.queue(), events) };
    }

    /// The descriptor of its channel.
    pub fn descriptor(&self) -> RawFd {
        // SAFETY: the channel is open; the field is read by value.
        unsafe { (*self.channel()).fd }
    }

    /// The channel's descriptor has another number from now on, which is closed with it. The caller has seen to it that
    /// this number is the same descriptor.
    pub fn set_descriptor(&self, fd: RawFd) {
        // SAFETY: the channel is open; libibverbs reads the field whenever it needs the descriptor.
        unsafe { (*self.channel()).fd = fd };
    }
}
