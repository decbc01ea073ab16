// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The queue pair of one local address of a datagram socket, with its completion queue and buffers.

use super::own_id::OwnId;
use super::way::{self, Way};
use super::wire::{self, MESSAGE};
use crate::cm::address;
use crate::cm::id::CmId;
use crate::cm::queue::{QueuePairAttributes, pair, state};
use crate::ctypes::{IBV_QPT_UD, IBV_WC_SUCCESS, RDMA_UDP_QKEY, ibv_qp_cap, ibv_qp_init_attr};
use crate::errno::{Errno, Result};
use crate::resolve::sockaddr;
use crate::rsocket::arena::{self, Block};
use crate::rsocket::config;
use crate::rsocket::socket::Socket;
use crate::sync::{Lock, Shared};
use crate::sys::iovec::Pieces;
use crate::sys::{descriptor, memory};
use crate::verbs::{Access, Completion, CompletionQueue, Data, Post, QueuePair, Registered};
use std::mem::MaybeUninit;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::RawFd;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the device writes before a message: room for a global route, whether there is one or not.
const ROUTE: usize = 40;
/// Number of a completion: of a receive, with its place.
const RECEIVE: u64 = 1 << 63;
/// Most bytes that are sent without the buffer.
const INLINE: usize = 256;

/// A message that came over RDMA.
#[derive(Clone, Copy)]
pub struct Came {
    /// Its place.
    pub place: usize,
    /// Bytes, with the header.
    pub length: usize,
    /// Number of the queue pair that sent it.
    pub from: u32,
}

/// What changes while messages go.
struct Turn {
    /// Places for sends that are free.
    free: Vec<u16>,
    /// What the sends under way go by, which must outlive them.
    ways: Vec<Option<Shared<Way>>>,
    /// The next completion makes an event, or has made one that nobody has taken.
    armed: bool,
    /// Events that were taken.
    events: u32,
}

/// See the module.
pub struct Queue {
    queue_pair: QueuePair,
    local: SocketAddr,
    header: wire::Bytes,
    inline: usize,
    receives: usize,
    sends: usize,
    /// Bytes of a place for a message that comes.
    place: usize,
    /// Where the buffer for sends begins.
    send_buffer: usize,
    is_broken: AtomicBool,
    turn: Lock<Turn>,
    // In this order they end, after the queue pair.
    memory: Registered,
    completions: CompletionQueue,
    block: Block,
    id: OwnId,
}

impl Queue {
    /// Makes all that messages from and to the address need, which is the socket's. ENODEV if it belongs to no RDMA device.
    pub fn create(socket: &Shared<Socket>, local: SocketAddr) -> Result<Queue> {
        let id = OwnId::create(socket)?;
        let mut without_port = local;
        // The kernel's ports of this kind mean nothing to peers: any one will do.
        without_port.set_port(0);
        address::bind(&id, &sockaddr::of_ip(without_port)?)?;
        let device = id.device().ok_or(Errno::ENODEV)?;
        let most = config::queue_max(device.queue_limit())?;
        let sizes = socket.options.lock().sizes;
        let count =
            |queue: u16, buffer: u32| usize::from(queue.min(most)).min(buffer as usize / MESSAGE).max(1);
        let receives = count(sizes.receive_queue, sizes.receive_buffer);
        let sends = count(sizes.send_queue, sizes.send_buffer);
        let completions =
            CompletionQueue::create(device.verbs(), (receives + sends) as u32, ptr::null_mut())?;
        descriptor::set_nonblocking(completions.descriptor())?;
        // A packet that is too long for its place ends the queue pair of some devices, and anybody can send it.
        let port = device.verbs().port(id.port())?;
        let place = (ROUTE + MESSAGE.max(way::mtu_bytes(port.max_mtu))).next_multiple_of(64);
        let send_buffer = receives * place;
        let length = send_buffer + sends * MESSAGE;
        let block = arena::take(length)?;
        // SAFETY: the id keeps its device, and so the domain; the block is unmapped after the registration has ended.
        let memory = unsafe { Registered::pages(id.pd(), &block, 0, length, Access::Local)? };
        let mut attributes = ibv_qp_init_attr {
            qp_context: ptr::null_mut(),
            send_cq: completions.queue(),
            recv_cq: completions.queue(),
            srq: ptr::null_mut(),
            cap: ibv_qp_cap {
                max_send_wr: sends as u32,
                max_recv_wr: receives as u32,
                max_send_sge: 1,
                max_recv_sge: 1,
                max_inline_data: sizes.inline.into(),
            },
            qp_type: IBV_QPT_UD,
            sq_sig_all: 1,
        };
        let mut ways = Vec::new();
        ways.try_reserve(sends)?;
        ways.resize_with(sends, || None);
        let free = memory::collect(0..sends as u16)?;
        let pd = id.pd();
        // SAFETY: the queues are alive, and outlive the queue pair; the domain is the device's.
        unsafe {
            QueuePairAttributes::with_short(&mut attributes, pd, |attributes| pair::create(&id, attributes))?;
        }
        let Some(queue_pair) = id.queue_pair() else { return Err(Errno::EINVAL) };
        let queue = Queue {
            queue_pair,
            local,
            header: wire::header(local),
            inline: (attributes.cap.max_inline_data as usize).min(INLINE),
            receives,
            sends,
            place,
            send_buffer,
            is_broken: AtomicBool::new(false),
            turn: Lock::new(Turn { free, ways, armed: false, events: 0 }),
            memory,
            completions,
            block,
            id,
        };
        (0..receives).try_for_each(|place| queue.receive_into(place))?;
        Ok(queue)
    }

    /// Its id.
    pub fn id(&self) -> &Shared<CmId> {
        &self.id
    }

    /// The local address.
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// What tells a peer of it.
    pub fn notice(&self, purpose: wire::Purpose) -> wire::Bytes {
        wire::notice(self.local.ip(), self.queue_pair.number(), purpose)
    }

    /// Bytes that the header of its messages takes.
    pub fn header_length(&self) -> usize {
        self.header.get().len()
    }

    /// Completions are announced there.
    pub fn descriptor(&self) -> RawFd {
        self.completions.descriptor()
    }

    /// Whether nothing comes or goes any more.
    pub fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::SeqCst)
    }

    fn start_of(&self, place: usize) -> usize {
        place * self.place
    }

    /// The place takes the next message.
    fn receive_into(&self, place: usize) -> Result<()> {
        let piece = self.memory.piece(&self.block, self.start_of(place), self.place as u32);
        self.queue_pair.post_receive(RECEIVE | place as u64, piece)
    }

    /// The message was taken: its place takes another one.
    pub fn receive_again(&self, came: Came) {
        if self.receive_into(came.place).is_err() {
            self.break_off();
        }
    }

    /// Messages that can wait to be taken.
    pub fn places(&self) -> usize {
        self.receives
    }

    /// The beginning of a message.
    pub fn header_of(&self, came: Came, room: &mut [u8; wire::HEADER]) -> usize {
        let length = came.length.min(room.len());
        if let Some(room) = room.get_mut(..length) {
            self.block.read(self.start_of(came.place) + ROUTE, room);
        }
        length
    }

    /// Copies from a message into the application's memory.
    pub fn copy_out(&self, came: Came, skip: usize, length: usize, pieces: &mut Pieces<'_>) {
        let mut at = self.start_of(came.place) + ROUTE + skip;
        pieces.write(length.min(MESSAGE.saturating_sub(skip)), |room| {
            self.block.copy_out(at, &room);
            at += room.length();
        });
    }

    /// Takes the completions that there are. `take` gets messages, and keeps their places if it says so.
    pub fn drain(&self, mut take: impl FnMut(Came) -> bool) {
        let mut turn = self.turn.lock();
        let mut room = [MaybeUninit::<Completion>::uninit(); 16];
        let mut has_failed = false;
        loop {
            let completions = match self.completions.poll(&mut room) {
                Ok([]) => break,
                Ok(completions) => completions,
                Err(_) => return self.break_off(),
            };
            for completion in completions {
                let is_well = completion.status == IBV_WC_SUCCESS;
                let number = (completion.wr_id & !RECEIVE) as usize;
                if completion.wr_id & RECEIVE == 0 {
                    has_failed |= !is_well;
                    turn.give_back(number);
                    continue;
                }
                let length =
                    (completion.byte_len as usize).checked_sub(ROUTE).filter(|length| *length <= MESSAGE);
                let came = length.map(|length| Came { place: number, length, from: completion.src_qp });
                if !is_well {
                    return self.break_off();
                }
                if !came.is_some_and(&mut take) && self.receive_into(number).is_err() {
                    return self.break_off();
                }
            }
        }
        drop(turn);
        if has_failed {
            self.resume();
        }
    }

    fn break_off(&self) {
        self.is_broken.store(true, Ordering::SeqCst);
    }

    /// Sends go on after one that failed.
    fn resume(&self) {
        let _queues = self.id.queues().lock();
        if state::resume(self.queue_pair).is_err() {
            self.break_off();
        }
    }

    /// The next completion makes an event.
    pub fn arm(&self) {
        let mut turn = self.turn.lock();
        if !turn.armed {
            match self.completions.arm() {
                Ok(()) => turn.armed = true,
                Err(_) => self.break_off(),
            }
        }
    }

    /// Takes an event, if there is one.
    pub fn take_event(&self) -> bool {
        let taken = self.completions.take_event().is_ok();
        if taken {
            let mut turn = self.turn.lock();
            turn.armed = false;
            turn.events = turn.events.wrapping_add(1);
        }
        taken
    }

    /// Whether a message can be sent.
    pub fn has_room(&self) -> bool {
        !self.turn.lock().free.is_empty()
    }

    /// Whether all messages were sent.
    pub fn is_idle(&self) -> bool {
        self.is_broken() || self.turn.lock().free.len() == self.sends
    }

    /// Sends all of the pieces as one message, which is not too long. False if there is no room.
    pub fn send(&self, way: &Shared<Way>, number: u32, pieces: &mut Pieces<'_>) -> Result<bool> {
        let mut turn = self.turn.lock();
        let Some(place) = turn.free.pop() else { return Ok(false) };
        let header = self.header.get();
        let length = header.len() + pieces.left();
        let post = Post::Datagram(way.handle(), number, RDMA_UDP_QKEY);
        let posted = if length <= self.inline {
            let mut bytes = [0; INLINE];
            let mut places = bytes.iter_mut();
            let mut put = |part: &[u8]| {
                for byte in part {
                    if let Some(place) = places.next() {
                        *place = *byte;
                    }
                }
            };
            put(header);
            pieces.read(usize::MAX, put);
            let bytes = bytes.get(..length).unwrap_or_default();
            self.queue_pair.post(place.into(), post, &Data::Bytes(bytes), true)
        } else {
            let start = self.send_buffer + usize::from(place) * MESSAGE;
            self.block.copy_in(start, header);
            let mut at = start + header.len();
            pieces.read(MESSAGE - header.len(), |part| {
                self.block.copy_in(at, part);
                at += part.len();
            });
            let piece = self.memory.piece(&self.block, start, length as u32);
            self.queue_pair.post(place.into(), post, &Data::Pieces(&[piece]), true)
        };
        match posted {
            Ok(()) => {
                if let Some(kept) = turn.ways.get_mut(usize::from(place)) {
                    *kept = Some(Shared::clone(way));
                }
                Ok(true)
            }
            Err(error) => {
                turn.give_back(place.into());
                Err(error)
            }
        }
    }
}

impl Turn {
    /// The place is free again. It was taken from the list, so there is room.
    fn give_back(&mut self, place: usize) {
        if let Some(way) = self.ways.get_mut(place) {
            *way = None;
            self.free.push(place as u16);
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        pair::destroy(&self.id);
        let events = std::mem::take(&mut self.turn.lock().events);
        self.completions.acknowledge(events);
    }
}

/// Whether an address stands for any of this machine's.
pub fn is_any(ip: IpAddr) -> bool {
    ip.is_unspecified() || ip.is_loopback()
}
