// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The fields of the struct that an id shares with the application, which reads and writes them whenever it likes, from
//! any thread: single fields are read and written through the struct's address, and no reference to it ever exists.

use super::event::Handed;
use super::id::CmId;
use crate::ctypes::{ibv_comp_channel, ibv_context, ibv_cq, ibv_gid, ibv_pd, ibv_qp, ibv_sa_path_rec};
use crate::errno::Result;
use crate::sys::memory::{self, Array};
use crate::uapi::SockaddrStorage;
use crate::verbs::{CompletionQueue, Owned, QueuePair, SharedQueue};
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};

impl CmId {
    /// The application's own pointer.
    pub fn context(&self) -> *mut c_void {
        // SAFETY: the public struct is alive; the field is read by value.
        unsafe { (*self.public()).context }
    }

    /// It is on that device from now on.
    pub fn set_device(&self, verbs: *mut ibv_context, pd: *mut ibv_pd, port: u8, pkey: u16) {
        let public = self.public();
        // SAFETY: the public struct is alive; single fields are written.
        unsafe {
            (*public).verbs = verbs;
            (*public).pd = pd;
            (*public).port_num = port;
            (*public).route.addr.addr.ibaddr.pkey = pkey;
        }
    }

    /// Partition key, in network byte order.
    pub fn pkey(&self) -> u16 {
        // SAFETY: the public struct is alive; the field is read by value, and any bytes are a key.
        unsafe { (*self.public()).route.addr.addr.ibaddr.pkey }
    }

    /// The protection domain; NULL without device.
    pub fn pd(&self) -> *mut ibv_pd {
        // SAFETY: the public struct is alive; the field is read by value.
        unsafe { (*self.public()).pd }
    }

    /// The protection domain for what is made from now on.
    pub fn set_pd(&self, pd: *mut ibv_pd) {
        // SAFETY: the public struct is alive; one field is written.
        unsafe { (*self.public()).pd = pd };
    }

    /// Whether it has a queue pair.
    pub fn has_queue_pair(&self) -> bool {
        !self.queue_pair_field().load(Ordering::Relaxed).is_null()
    }

    /// Where the queue pair stands: whether there is one is asked without the lock.
    fn queue_pair_field(&self) -> &AtomicPtr<ibv_qp> {
        // SAFETY: the public struct is alive as long as the id; the library knows the field by this alone.
        unsafe { AtomicPtr::from_ptr(&raw mut (*self.public()).qp) }
    }

    /// The queue pair. The application may have put one of its own there.
    pub fn queue_pair(&self) -> Option<QueuePair> {
        // SAFETY: what stands in the field is alive or NULL; callers hold the lock under which the library takes it out
        // to destroy it.
        unsafe { QueuePair::from_ptr(self.queue_pair_field().load(Ordering::Relaxed)) }
    }

    /// The queue pair from now on.
    pub fn set_queue_pair(&self, queue_pair: QueuePair) {
        self.queue_pair_field().store(queue_pair.as_ptr(), Ordering::Relaxed);
    }

    /// Takes the queue pair out, to be destroyed: the application asks for that.
    pub fn take_queue_pair(&self) -> Option<Owned<QueuePair>> {
        let queue_pair = self.queue_pair();
        self.queue_pair_field().store(ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: the application destroys nothing that stands in the field when it asks the library to.
        queue_pair.map(|queue_pair| unsafe { Owned::new(queue_pair) })
    }

    /// The shared receive queue. The application may have put one of its own there.
    pub fn shared_queue(&self) -> Option<SharedQueue> {
        // SAFETY: as for queue_pair().
        unsafe { SharedQueue::from_ptr((*self.public()).srq) }
    }

    /// The shared receive queue from now on.
    pub fn set_shared_queue(&self, queue: SharedQueue) {
        // SAFETY: the public struct is alive; one field is written.
        unsafe { (*self.public()).srq = queue.as_ptr() };
    }

    /// Takes the shared receive queue out, to be destroyed: the application asks for that.
    pub fn take_shared_queue(&self) -> Option<Owned<SharedQueue>> {
        let queue = self.shared_queue();
        // SAFETY: as for take_queue_pair().
        unsafe {
            (*self.public()).srq = ptr::null_mut();
            queue.map(|queue| Owned::new(queue))
        }
    }

    /// Completion queues for sends and for receives.
    pub fn completion_queues(&self) -> (*mut ibv_cq, *mut ibv_cq) {
        // SAFETY: the public struct is alive; fields are read by value.
        unsafe { ((*self.public()).send_cq, (*self.public()).recv_cq) }
    }

    /// The completion queue for sends, with its channel, from now on.
    pub fn set_send_queue(&self, queue: Option<&CompletionQueue>) {
        let (queue, channel) = parts(queue);
        // SAFETY: the public struct is alive; single fields are written.
        unsafe {
            (*self.public()).send_cq = queue;
            (*self.public()).send_cq_channel = channel;
        }
    }

    /// The completion queue for receives, with its channel, from now on.
    pub fn set_receive_queue(&self, queue: Option<&CompletionQueue>) {
        let (queue, channel) = parts(queue);
        // SAFETY: the public struct is alive; single fields are written.
        unsafe {
            (*self.public()).recv_cq = queue;
            (*self.public()).recv_cq_channel = channel;
        }
    }

    /// Port of the device, counted from 1; 0 without device.
    pub fn port(&self) -> u8 {
        // SAFETY: the public struct is alive; the field is read by value.
        unsafe { (*self.public()).port_num }
    }

    /// Local address: as many bytes as are given, which fit.
    pub fn set_source(&self, address: &[u8]) {
        // SAFETY: the public struct is alive; the address is of the field alone.
        write_address(unsafe { &raw mut (*self.public()).route.addr.src }.cast(), address);
    }

    /// Remote address: as many bytes as are given, which fit.
    pub fn set_destination(&self, address: &[u8]) {
        // SAFETY: the public struct is alive; the address is of the field alone.
        write_address(unsafe { &raw mut (*self.public()).route.addr.dst }.cast(), address);
    }

    /// Local and remote address.
    pub fn addresses(&self) -> (SockaddrStorage, SockaddrStorage) {
        // SAFETY: the public struct is alive; both fields are as large as what is read and any bytes will do.
        unsafe {
            let source = (&raw const (*self.public()).route.addr.src).cast::<SockaddrStorage>().read();
            let destination = (&raw const (*self.public()).route.addr.dst).cast::<SockaddrStorage>().read();
            (source, destination)
        }
    }

    /// Local and remote GID.
    pub fn set_gids(&self, source: [u8; 16], destination: [u8; 16]) {
        // SAFETY: the public struct is alive; single fields are written.
        unsafe {
            (*self.public()).route.addr.addr.ibaddr.sgid = ibv_gid { raw: source };
            (*self.public()).route.addr.addr.ibaddr.dgid = ibv_gid { raw: destination };
        }
    }

    /// Partition key, in network byte order.
    pub fn set_pkey(&self, pkey: u16) {
        // SAFETY: the public struct is alive; one field is written.
        unsafe { (*self.public()).route.addr.addr.ibaddr.pkey = pkey };
    }

    /// The paths, in place of those found before.
    pub fn set_paths(&self, paths: impl ExactSizeIterator<Item = ibv_sa_path_rec>) -> Result<()> {
        let count = paths.len();
        if count == 0 {
            return Ok(());
        }
        let array = Array::collect(paths)?;
        // SAFETY: the public struct is alive; the array that it had came from here too.
        unsafe {
            let route = &raw mut (*self.public()).route;
            let old = ptr::replace(&raw mut (*route).path_rec, array.into_raw());
            (*route).num_paths = i32::try_from(count).unwrap_or(i32::MAX);
            memory::release(old);
        }
        Ok(())
    }

    /// A copy of the paths. ENOMEM without memory.
    pub fn paths(&self) -> Result<Vec<ibv_sa_path_rec>> {
        // SAFETY: the public struct is alive; the array came from set_paths() and has that many elements. Callers own the
        // id: nobody sets its paths meanwhile.
        unsafe {
            let route = &raw const (*self.public()).route;
            let (paths, count) = ((*route).path_rec, (*route).num_paths);
            match usize::try_from(count) {
                Ok(count) if !paths.is_null() => {
                    memory::collect(std::slice::from_raw_parts(paths, count).iter().copied())
                }
                _ => Ok(Vec::new()),
            }
        }
    }

    /// Leaves the event of a synchronous call in the public struct.
    pub fn keep_event(&self, event: Handed) {
        // SAFETY: the public struct is alive; one field is written.
        unsafe { (*self.public()).event = event.as_ptr() };
    }

    /// Acknowledges the event that the last synchronous call left, if there is one.
    pub fn acknowledge_kept(&self) {
        // SAFETY: the public struct is alive; one field is read and written.
        let kept = unsafe { ptr::replace(&raw mut (*self.public()).event, ptr::null_mut()) };
        if let Some(event) = NonNull::new(kept) {
            // SAFETY: the field holds what keep_event() put there, and was just emptied.
            unsafe { Handed::from_ptr(event) }.acknowledge();
        }
    }
}

fn parts(queue: Option<&CompletionQueue>) -> (*mut ibv_cq, *mut ibv_comp_channel) {
    queue.map_or((ptr::null_mut(), ptr::null_mut()), |queue| (queue.queue(), queue.channel()))
}

/// Writes the beginning of one of the address fields, which have room for any address.
fn write_address(field: *mut SockaddrStorage, address: &[u8]) {
    let length = address.len().min(size_of::<SockaddrStorage>());
    // SAFETY: the callers pass the address of a field of that size in a public struct that is alive.
    unsafe { field.cast::<u8>().copy_from_nonoverlapping(address.as_ptr(), length) };
}
