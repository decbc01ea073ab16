// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Ids: the struct that the application sees, and the library's own state beside it.
//!
//! The application reads and writes the public struct whenever it likes, from any thread. So no reference to it ever
//! exists here: single fields are read and written through its address.

use super::addrinfo::Resolution;
use super::channel::Channel;
use super::connection::{Connection, Stage};
use super::device::{Device, Name};
use super::event::Handed;
use super::ledger::Ledger;
use super::multicast::{self, Memberships};
use super::pool::InUse;
use super::queue::Queues;
use super::uid::IDS;
use super::unfinished::Unfinished;
use super::{bell, unacknowledged, wake};
use crate::ctypes::{
    IBV_QPT_RC, IBV_QPT_UD, RDMA_PS_IPOIB, RDMA_PS_UDP, ibv_qp_init_attr, ibv_qp_type, rdma_cm_id,
    rdma_event_channel, rdma_port_space,
};
use crate::errno::{Errno, Result};
use crate::sync::{Key, Lock, Shared};
use crate::sys::memory;
use crate::uapi::CreateId;
use crate::ucma::{self, Fd};
use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use zerocopy::FromZeros;

/// The application sees the first field and points to it.
#[repr(C)]
pub struct CmId {
    public: UnsafeCell<rdma_cm_id>,
    key: Key,
    /// The kernel's number.
    handle: u32,
    ps: rdma_port_space,
    qp_type: ibv_qp_type,
    ledger: Ledger,
    /// Held while a user event of it is written, or the id moves to another channel (`bell`).
    staying: Lock<()>,
    queues: Lock<Queues>,
    connection: Lock<Connection>,
    stage: Stage,
    memberships: Memberships,
    /// For the queue pairs of the ids that a listening endpoint makes.
    attributes: OnceLock<ibv_qp_init_attr>,
    /// `first_channel` or one of `later_channels`.
    channel: AtomicPtr<Channel>,
    /// An id keeps every channel that it has been on: another thread may be about to use one that the id just left.
    first_channel: Shared<Channel>,
    later_channels: Lock<Vec<Shared<Channel>>>,
    /// Whether the channel is the id's own, because the application gave none.
    synchronous: AtomicBool,
    device: OnceLock<InUse>,
    resolution: Resolution,
    unfinished: Unfinished,
}

// SAFETY: the public struct belongs to the application, which may read and write it in any thread; all else is
// synchronised by its own type.
unsafe impl Send for CmId {}
// SAFETY: as above.
unsafe impl Sync for CmId {}

/// The kind of queue pair that goes with a port space.
pub fn usual_type(ps: rdma_port_space) -> ibv_qp_type {
    if ps == RDMA_PS_IPOIB || ps == RDMA_PS_UDP { IBV_QPT_UD } else { IBV_QPT_RC }
}

/// Makes an id on a channel; without one the id gets a channel of its own.
pub fn create(
    channel: Option<Shared<Channel>>,
    context: *mut c_void,
    ps: rdma_port_space,
    qp_type: ibv_qp_type,
) -> Result<Shared<CmId>> {
    let space = u16::try_from(ps).map_err(|_| Errno::EINVAL)?;
    let synchronous = channel.is_none();
    let channel = channel.map_or_else(Channel::open, Ok)?;
    let result = IDS.insert_with(|key| {
        let command =
            CreateId { uid: key.raw(), ps: space, qp_type: qp_type as u8, ..FromZeros::new_zeroed() };
        let handle = ucma::request(&channel.fd(), command)?.id;
        let id = CmId::new(key, handle, Shared::clone(&channel), synchronous, context, ps, qp_type);
        share(id, channel.fd())
    });
    if result.is_err() && synchronous {
        Channel::destroy(&channel);
    }
    result
}

/// Without memory for an id, the kernel's ends.
fn share(id: CmId, fd: Fd) -> Result<Shared<CmId>> {
    let handle = id.handle;
    Shared::try_new(id).inspect_err(|_| wake::end_hidden(fd, handle))
}

impl CmId {
    fn new(
        key: Key,
        handle: u32,
        channel: Shared<Channel>,
        synchronous: bool,
        context: *mut c_void,
        ps: rdma_port_space,
        qp_type: ibv_qp_type,
    ) -> CmId {
        // SAFETY: integers and pointers; all of them may be zero.
        let mut public: rdma_cm_id = unsafe { std::mem::zeroed() };
        public.channel = Channel::for_application(&channel);
        public.context = context;
        public.ps = ps;
        public.qp_type = qp_type;
        CmId {
            public: UnsafeCell::new(public),
            key,
            handle,
            ps,
            qp_type,
            ledger: Ledger::default(),
            staying: Lock::default(),
            queues: Lock::default(),
            connection: Lock::default(),
            stage: Stage::default(),
            memberships: Memberships::default(),
            attributes: OnceLock::new(),
            channel: AtomicPtr::new(Shared::as_ptr(&channel)),
            first_channel: channel,
            later_channels: Lock::default(),
            synchronous: AtomicBool::new(synchronous),
            device: OnceLock::new(),
            resolution: Resolution::default(),
            unfinished: Unfinished::default(),
        }
    }

    /// The id of a connection request, which the kernel has already made: it inherits from the listener. If it cannot
    /// be made here, the kernel's is destroyed, which refuses the request.
    pub fn of_request(listener: &CmId, handle: u32, connection: Connection) -> Result<Shared<CmId>> {
        let channel = listener.own_channel();
        let fd = channel.fd();
        let mut made = false;
        IDS.insert_with(|key| {
            let mut id =
                CmId::new(key, handle, channel, false, listener.context(), listener.ps, listener.qp_type);
            id.connection = Lock::new(connection);
            made = true;
            share(id, fd)
        })
        .inspect_err(|_| {
            if !made {
                wake::end_hidden(fd, handle);
            }
        })
    }

    /// For the application. Of this pointer a reference can be made again.
    pub fn for_application(id: &Shared<CmId>) -> *mut rdma_cm_id {
        Shared::as_ptr(id).cast()
    }

    /// The struct that the application sees.
    pub(super) fn public(&self) -> *mut rdma_cm_id {
        self.public.get()
    }

    /// The kernel's number.
    #[inline]
    pub fn handle(&self) -> u32 {
        self.handle
    }

    /// Where commands about the id go.
    #[inline]
    pub fn fd(&self) -> Fd {
        self.channel().fd()
    }

    /// The channel that the id is on.
    #[inline]
    pub fn channel(&self) -> &Channel {
        // SAFETY: the pointer is to one of the channels that the id keeps.
        unsafe { &*self.channel.load(Ordering::Acquire) }
    }

    /// As [`CmId::channel`], to be kept.
    pub fn own_channel(&self) -> Shared<Channel> {
        let current = self.channel.load(Ordering::Acquire);
        // SAFETY: as in channel(); the pointer came from the reference there.
        unsafe { Shared::another(NonNull::new_unchecked(current)) }
    }

    /// Whether the calling process is a child of the one that made the id.
    pub fn is_inherited(&self) -> bool {
        self.first_channel.is_inherited()
    }

    /// Waits, in `call`, until the events that the kernel `reported` are acknowledged. In the child of a fork the threads
    /// that hold them do not exist.
    pub fn settle(&self, reported: u32, call: &str) {
        if !self.is_inherited() {
            let tell = || unacknowledged::tell(call, self, |event| event.counts_for(self));
            self.ledger.settle(reported, tell);
        }
    }

    /// The id is about to enter that channel. ENOMEM without memory for it.
    pub fn expect_channel(&self, channel: &Shared<Channel>) -> Result<()> {
        let mut later = self.later_channels.lock();
        if !Shared::is_same(&self.first_channel, channel) {
            later.try_reserve(1)?;
        }
        Ok(())
    }

    /// The id is on that channel from now on, which was expected.
    pub fn enter_channel(&self, channel: Shared<Channel>, synchronous: bool) {
        let entered = Shared::as_ptr(&channel);
        let mut later = self.later_channels.lock();
        if !later.iter().chain([&self.first_channel]).any(|known| Shared::is_same(known, &channel)) {
            later.push(channel);
        }
        self.channel.store(entered, Ordering::Release);
        self.synchronous.store(synchronous, Ordering::Release);
        // SAFETY: the public struct is alive; one field is written.
        unsafe { (*self.public()).channel = entered.cast::<rdma_event_channel>() };
    }

    /// Whether `is_wanted` says so of one of the channels that the id has been on, or is on.
    pub fn was_on(&self, is_wanted: impl FnMut(&Channel) -> bool) -> bool {
        let later = self.later_channels.lock();
        later.iter().chain([&self.first_channel]).map(|channel| &**channel).any(is_wanted)
    }

    /// Whether the channel is the id's own: calls on it wait for their event.
    pub fn is_synchronous(&self) -> bool {
        self.synchronous.load(Ordering::Acquire)
    }

    /// Its name in the table of ids.
    pub fn key(&self) -> Key {
        self.key
    }

    /// What the library made on the device for it. Held while its queue pair is used, or taken out to be destroyed.
    pub fn queues(&self) -> &Lock<Queues> {
        &self.queues
    }

    /// What it knows of its connection.
    pub fn connection(&self) -> &Lock<Connection> {
        &self.connection
    }

    /// How far its connection is.
    #[inline]
    pub fn stage(&self) -> &Stage {
        &self.stage
    }

    /// Multicast groups that it is in, or joins.
    pub fn memberships(&self) -> &Memberships {
        &self.memberships
    }

    /// Attributes for the queue pairs of its requests, if it is a listening endpoint with such.
    pub fn attributes(&self) -> &OnceLock<ibv_qp_init_attr> {
        &self.attributes
    }

    /// What the kernel hands back with its events.
    pub fn uid(&self) -> u64 {
        self.key.raw()
    }

    /// The space that its ports are counted in.
    pub fn port_space(&self) -> rdma_port_space {
        self.ps
    }

    /// The kind of its queue pair.
    pub fn queue_pair_type(&self) -> ibv_qp_type {
        self.qp_type
    }

    /// As long as this is locked the id stays on its channel.
    pub fn staying(&self) -> &Lock<()> {
        &self.staying
    }

    /// What addresses are looked for or found for it.
    pub fn resolution(&self) -> &Resolution {
        &self.resolution
    }

    /// What it has to make up for.
    pub fn unfinished(&self) -> &Unfinished {
        &self.unfinished
    }

    /// The account of its events.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Whether events of it carry parameters of datagrams.
    pub fn is_datagram(&self) -> bool {
        self.qp_type == IBV_QPT_UD
    }

    /// The device that it is bound to.
    pub fn device(&self) -> Option<&Device> {
        self.device.get().map(|device| &**device)
    }

    /// Binds it to a device, unless it already is on one.
    pub fn bind_device(&self, name: Name, port: u8, pkey: u16) -> Result<()> {
        if self.device.get().is_some() {
            return Ok(());
        }
        let device = super::device::find(name)?;
        let pd = device.pd()?;
        let context = device.context();
        if self.device.set(device).is_err() {
            return Ok(());
        }
        self.set_device(context, pd, port, pkey);
        Ok(())
    }

    /// Acknowledges all events that no application has seen: those that synchronous calls left or put off.
    fn acknowledge_own(&self) {
        self.acknowledge_kept();
        while let Some(event) = self.channel().take_deferred(|event| event.counts_for(self)) {
            lose(event);
        }
    }
}

/// Ends an event that no application will ever see; a request is refused.
pub(super) fn lose(event: Handed) {
    let request = event.request();
    event.acknowledge();
    let _ = request.map(|id| abandon(&id));
}

/// Ends the id: no event of it arrives any more, undelivered ones are gone. Waits for events that other threads have
/// not acknowledged; one that the calling thread holds keeps the id's memory until it is.
///
/// Where the kernel has already forgotten the id, or refuses every command of this process (a child of the one that
/// made it), the memory is freed and the error returned; other errors leave everything as it was.
pub fn destroy(id: &Shared<CmId>) -> Result<()> {
    let result = wake::end(id.fd(), id.handle);
    let reported = match result {
        Ok(reply) => Some(reply.events_reported),
        Err(Errno::EACCES | Errno::EBADF | Errno::ENODEV | Errno::ENOENT) => None,
        Err(error) => return Err(error),
    };
    forget(id, reported);
    result.map(|_| ())
}

/// Ends an id of which nobody would hear that it cannot be ended: whatever the kernel says, the memory is freed. Events
/// that come nevertheless are of an unknown id.
pub fn abandon(id: &Shared<CmId>) {
    let ended = wake::twice(|| wake::end(id.fd(), id.handle));
    forget(id, ended.ok().map(|reply| reply.events_reported));
}

/// Frees an id that the kernel has ended, after it `reported` so many events.
fn forget(id: &Shared<CmId>, reported: Option<u32>) {
    bell::withdraw(id);
    id.acknowledge_own();
    if let Some(reported) = reported {
        id.settle(reported, "rdma_destroy_id");
    }
    // Not before: another thread may be about to look up the membership whose event it has taken from the kernel.
    multicast::forget_all(id);
    if id.is_synchronous() {
        Channel::destroy(&id.own_channel());
    }
    // This was the reference that stood for the application's.
    drop(IDS.remove(id.key));
}

impl Drop for CmId {
    fn drop(&mut self) {
        // SAFETY: the array came from set_paths(), and nobody is left to use it.
        unsafe { memory::release(self.public.get_mut().route.path_rec) };
    }
}
