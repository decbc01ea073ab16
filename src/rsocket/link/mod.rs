// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The data path of a connection: a queue pair, one completion queue for both directions, and the buffers.
//!
//! Four locks, none of which is held while a thread sleeps: one for mappings; one for those who send, which may be taken
//! inside it; one for those who receive; and one for what both need, taking completions and telling the peer (`progress`),
//! which may be taken inside the others.

mod mappings;
mod progress;
mod receiving;
mod sending;

pub use sending::FIRST_CHUNK;

use super::arena::{self, Block};
use super::config::{self, QUEUE_MIN, Sizes};
use super::ends::{BROKEN, Ends, PEER_GONE, PEER_SHUT, READ_SHUT, WRITE_SHUT};
use super::wire::{self, Entry, Greeting, Message};
use crate::cm::id::CmId;
use crate::cm::queue::{QueuePairAttributes, pair, state};
use crate::ctypes::{IBV_QPT_RC, IBV_TRANSPORT_IWARP, ibv_qp_cap, ibv_qp_init_attr};
use crate::errno::{Errno, Result};
use crate::sync::{Lock, Shared};
use crate::verbs::{Access, CompletionQueue, QueuePair, Registered, Remote};
use mappings::Mappings;
use progress::Progress;
use sending::Sending;
use std::os::fd::RawFd;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};

/// Sends that are kept for what the sockets tell each other besides data.
const CONTROL: u32 = 4;
/// Places in the block begin at multiples of this.
const ALIGNED: usize = 64;

/// What stands where in the block. What the peer may write to comes first, and ends before a page that it may not.
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// Bytes of the buffer for data that comes, at 0.
    receive: usize,
    /// Numbers that come as messages, where the device has no other way.
    messages: usize,
    /// Entries that the peer writes.
    list: usize,
    /// Mappings that the peer writes.
    mappings: usize,
    /// The end of what it may write to.
    shared: usize,
    /// The buffer for data that goes.
    send: usize,
    /// Entries on their way to the peer.
    entries: usize,
    end: usize,
}

impl Layout {
    fn new(sizes: &Sizes, with_messages: bool) -> Layout {
        let receive = sizes.receive_buffer as usize;
        let messages = receive.next_multiple_of(ALIGNED);
        let count = if with_messages { usize::from(sizes.receive_queue) } else { 0 };
        let list = (messages + count * wire::MESSAGE).next_multiple_of(ALIGNED);
        let mappings = list + wire::LIST * wire::ENTRY;
        let shared = (mappings + usize::from(sizes.mappings) * wire::MAPPING).next_multiple_of(8);
        let send = shared.next_multiple_of(crate::sys::pages::page());
        let entries = (send + sizes.send_buffer as usize).next_multiple_of(ALIGNED);
        let end = entries + CONTROL as usize * wire::ENTRY;
        Layout { receive, messages, list, mappings, shared, send, entries, end }
    }
}

/// See the module.
pub struct Link {
    id: Shared<CmId>,
    queue_pair: QueuePair,
    sizes: Sizes,
    layout: Layout,
    /// The device has no writes with a number: the number follows as a message.
    by_message: bool,
    peer: OnceLock<Greeting>,
    /// What is open.
    pub ends: Ends,
    /// Why it broke, until somebody was told.
    fault: AtomicI32,
    /// Bytes that came, that the application took, and that the peer was allowed to send.
    received: AtomicU64,
    consumed: AtomicU64,
    granted: AtomicU64,
    /// The message that the peer has no room for any more; counts messages and wraps.
    credit_limit: AtomicU32,
    /// Sends and bytes of the buffer that are done with; both wrap.
    done_slots: AtomicU32,
    done_bytes: AtomicU32,
    sending: Lock<Sending>,
    receiving: Lock<()>,
    progress: Lock<Progress>,
    mappings: Lock<Mappings>,
    has_untold: AtomicBool,
    is_behind: AtomicBool,
    /// All that came was looked at, and the next completion makes an event.
    pub is_quiet: AtomicBool,
    // In this order they end, after the queue pair.
    send_memory: Registered,
    shared_memory: Registered,
    completions: CompletionQueue,
    block: Block,
}

impl Link {
    /// Makes all that a connection of the id needs, which is bound to a device. The sizes are those that were asked for;
    /// what the device cannot do is cut.
    pub fn create(id: &Shared<CmId>, mut sizes: Sizes) -> Result<Link> {
        let device = id.device().ok_or(Errno::EINVAL)?;
        let most = config::queue_max(device.queue_limit())?;
        sizes.send_queue = sizes.send_queue.clamp(QUEUE_MIN, most);
        sizes.receive_queue = sizes.receive_queue.clamp(QUEUE_MIN, most);
        let by_message = device.transport() == IBV_TRANSPORT_IWARP;
        if by_message {
            sizes.inline = sizes.inline.max(wire::MESSAGE as u16);
        }
        let entries = u32::from(sizes.send_queue) + u32::from(sizes.receive_queue);
        let completions = CompletionQueue::create(device.verbs(), entries, ptr::null_mut())?;
        let mut attributes = ibv_qp_init_attr {
            qp_context: ptr::null_mut(),
            send_cq: completions.queue(),
            recv_cq: completions.queue(),
            srq: ptr::null_mut(),
            cap: ibv_qp_cap {
                max_send_wr: sizes.send_queue.into(),
                max_recv_wr: sizes.receive_queue.into(),
                max_send_sge: 2,
                max_recv_sge: 1,
                max_inline_data: sizes.inline.into(),
            },
            qp_type: IBV_QPT_RC,
            sq_sig_all: 0,
        };
        let pd = id.pd();
        let layout = Layout::new(&sizes, by_message);
        let block = arena::take(layout.end)?;
        block.clear(0, layout.shared);
        // SAFETY: the id keeps its device, and so the domain; the block is unmapped after the registrations have ended.
        let (shared_memory, send_memory) = unsafe {
            (
                Registered::pages(pd, &block, 0, layout.shared, Access::Peers)?,
                Registered::pages(pd, &block, layout.send, layout.end - layout.send, Access::Local)?,
            )
        };
        // SAFETY: the queues are alive, and outlive the queue pair; the domain is the device's.
        unsafe {
            QueuePairAttributes::with_short(&mut attributes, pd, |attributes| pair::create(id, attributes))?;
        }
        sizes.inline = u16::try_from(attributes.cap.max_inline_data).unwrap_or(u16::MAX);
        let Some(queue_pair) = id.queue_pair() else { return Err(Errno::EINVAL) };
        let link = Link {
            id: Shared::clone(id),
            queue_pair,
            sizes,
            layout,
            by_message,
            peer: OnceLock::new(),
            ends: Ends::default(),
            fault: AtomicI32::new(0),
            received: AtomicU64::new(0),
            consumed: AtomicU64::new(0),
            granted: AtomicU64::new(layout.receive as u64 / 2),
            credit_limit: AtomicU32::new(0),
            done_slots: AtomicU32::new(0),
            done_bytes: AtomicU32::new(0),
            sending: Lock::default(),
            receiving: Lock::default(),
            progress: Lock::default(),
            mappings: Lock::default(),
            has_untold: AtomicBool::new(false),
            is_behind: AtomicBool::new(false),
            is_quiet: AtomicBool::new(false),
            send_memory,
            shared_memory,
            completions,
            block,
        };
        if by_message && usize::from(sizes.inline) < wire::MESSAGE {
            return Err(Errno::EOPNOTSUPP);
        }
        link.post_first_receives()?;
        Ok(link)
    }

    fn post_first_receives(&self) -> Result<()> {
        let count = self.sizes.receive_queue;
        if !self.by_message {
            return self.queue_pair.post_empty_receives(progress::RECEIVE, count.into());
        }
        (0..count).try_for_each(|index| self.post_message_receive(index.into()))
    }

    /// What the peer gets to know.
    pub fn greeting(&self) -> Greeting {
        let place =
            |offset| Remote { address: self.block.address(offset), key: self.shared_memory.remote_key() };
        Greeting {
            swapped: false,
            credits: self.sizes.receive_queue,
            mappings: self.sizes.mappings,
            list: Entry { place: place(self.layout.list), length: wire::LIST as u32 },
            room: Entry { place: place(0), length: (self.layout.receive / 2) as u32 },
        }
    }

    /// What the peer says of itself: data can be sent from now on.
    pub fn meet(&self, greeting: Greeting) {
        if self.peer.set(greeting).is_ok() {
            self.sending.lock().begin(greeting.room);
            self.credit_limit.store(greeting.credits.into(), Ordering::Release);
        }
    }

    /// Whether the device needs one RDMA read for a handshake.
    pub fn is_by_message(&self) -> bool {
        self.by_message
    }

    /// Whether the peer is to be told something for which there is no room before earlier such sends are done. That is
    /// seen only when somebody looks.
    #[inline]
    pub fn is_behind(&self) -> bool {
        self.is_behind.load(Ordering::Relaxed)
    }

    /// Whether only the peer has ended its direction.
    pub fn is_half_closed(&self) -> bool {
        self.ends.any(PEER_SHUT) && !self.ends.is_over()
    }

    /// Sizes as they are.
    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// Why it broke; 0 if it did not, or somebody was told before.
    pub fn take_fault(&self) -> i32 {
        if self.fault.load(Ordering::Relaxed) == 0 { 0 } else { self.fault.swap(0, Ordering::SeqCst) }
    }

    /// Whether somebody is still to be told why it broke.
    pub fn has_fault(&self) -> bool {
        self.fault.load(Ordering::SeqCst) != 0
    }

    /// Completions are announced there.
    pub fn descriptor(&self) -> RawFd {
        self.completions.descriptor()
    }

    /// For the one who gives the descriptor another number.
    pub fn completions(&self) -> &CompletionQueue {
        &self.completions
    }

    /// The connection ended, as the kernel tells: what came before counts. Everything that waits is woken.
    pub fn peer_left(&self) {
        let mut progress = self.progress.lock();
        self.drain(&mut progress);
        let before = self.ends.set(PEER_GONE);
        drop(progress);
        if before & (PEER_SHUT | PEER_GONE | BROKEN) == 0 && !self.ends.all(READ_SHUT | WRITE_SHUT) {
            self.fault.store(Errno::ECONNRESET.raw(), Ordering::SeqCst);
        }
        self.fail();
    }

    /// Nothing works any more, because of `error`.
    fn break_off(&self, error: Errno) {
        let before = self.ends.set(BROKEN);
        if before & (PEER_GONE | BROKEN) == 0 {
            self.fault.store(error.raw(), Ordering::SeqCst);
        }
    }

    /// Everything posted completes now, which wakes the reader.
    pub fn fail(&self) {
        let _queues = self.id.queues().lock();
        let _ = state::fail(self.queue_pair);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        pair::destroy(&self.id);
        let events = std::mem::take(&mut self.progress.lock().events);
        self.completions.acknowledge(events);
    }
}
