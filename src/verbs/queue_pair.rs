// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Queue pairs.

use super::owned::{Destroy, Owned};
use super::{Context, extended, ffi};
use crate::ctypes::{
    IBV_QP_INIT_ATTR_PD, IBV_QP_INIT_ATTR_XRCD, ibv_cq, ibv_ece, ibv_gid, ibv_pd, ibv_qp, ibv_qp_attr,
    ibv_qp_cap, ibv_qp_init_attr, ibv_qp_init_attr_ex, ibv_srq, ibv_xrcd,
};
use crate::errno::{Errno, Result};
use std::ffi::c_int;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A queue pair that somebody keeps alive: the application may destroy it itself. Nothing happens when it is dropped.
#[derive(Clone, Copy)]
pub struct QueuePair(NonNull<ibv_qp>);

// SAFETY: libibverbs' functions on queue pairs may be called from any thread at once.
unsafe impl Send for QueuePair {}
// SAFETY: as above.
unsafe impl Sync for QueuePair {}

fn done(error: c_int) -> Result<()> {
    match error {
        0 => Ok(()),
        error => Err(Errno::from_raw(error)),
    }
}

impl QueuePair {
    /// The queue pair at a pointer; None for NULL.
    ///
    /// # Safety
    ///
    /// NULL, or a queue pair that is alive as long as the result is used.
    pub unsafe fn from_ptr(queue_pair: *mut ibv_qp) -> Option<QueuePair> {
        NonNull::new(queue_pair).map(QueuePair)
    }

    /// Makes one.
    pub fn create(context: &Context, attributes: &mut QueuePairAttributes<'_>) -> Result<Owned<QueuePair>> {
        // SAFETY: the context is open; from_ptr() promised the rest. Nobody else knows what was made.
        unsafe {
            extended::create_qp(context.as_ptr(), attributes.attributes)
                .map(|made| Owned::new(QueuePair(made)))
        }
    }

    /// For the application.
    pub fn as_ptr(self) -> *mut ibv_qp {
        self.0.as_ptr()
    }

    /// Its number on the wire.
    pub fn number(self) -> u32 {
        // SAFETY: the queue pair is alive.
        unsafe { (*self.as_ptr()).qp_num }
    }

    /// Whether it takes receives from a shared receive queue.
    pub fn is_shared(self) -> bool {
        // SAFETY: the queue pair is alive.
        unsafe { !(*self.as_ptr()).srq.is_null() }
    }

    /// Its protection domain.
    pub fn pd(self) -> *mut ibv_pd {
        // SAFETY: the queue pair is alive.
        unsafe { (*self.as_ptr()).pd }
    }

    /// Sets the attributes of the mask.
    pub fn modify(self, attributes: &mut ibv_qp_attr, mask: c_int) -> Result<()> {
        // SAFETY: the queue pair is alive and the attributes are a valid place.
        done(unsafe { ffi::ibv_modify_qp(self.as_ptr(), attributes, mask) })
    }

    /// What the device wants to tell the peer. Nothing where device or libibverbs have no such thing.
    pub fn ece(self) -> Result<ibv_ece> {
        let mut ece = ibv_ece::default();
        let Some(query) = ffi::query_ece() else { return Ok(ece) };
        // SAFETY: the queue pair is alive and the place is valid.
        match done(unsafe { query(self.as_ptr(), &mut ece) }) {
            Err(Errno::EOPNOTSUPP) => Ok(ibv_ece::default()),
            other => other.map(|()| ece),
        }
    }

    /// Tells the device what the peer's said. Ignored where device or libibverbs have no such thing.
    pub fn set_ece(self, mut ece: ibv_ece) -> Result<()> {
        let Some(set) = ffi::set_ece() else { return Ok(()) };
        // SAFETY: the queue pair is alive and the place is valid.
        match done(unsafe { set(self.as_ptr(), &mut ece) }) {
            Err(Errno::EOPNOTSUPP) => Ok(()),
            other => other,
        }
    }

    /// Receives from a multicast group from now on.
    pub fn attach(self, group: &ibv_gid, lid: u16) -> Result<()> {
        // SAFETY: the queue pair is alive.
        done(unsafe { ffi::ibv_attach_mcast(self.as_ptr(), group, lid) })
    }

    /// Ends [`QueuePair::attach`].
    pub fn detach(self, group: &ibv_gid, lid: u16) -> Result<()> {
        // SAFETY: the queue pair is alive.
        done(unsafe { ffi::ibv_detach_mcast(self.as_ptr(), group, lid) })
    }
}

impl Destroy for QueuePair {
    unsafe fn destroy(self) {
        // SAFETY: the queue pair is alive; the caller promises the rest.
        unsafe { ffi::ibv_destroy_qp(self.as_ptr()) };
    }
}

/// Attributes of a new queue pair, lent by the application. What is filled in here is taken out when this is dropped:
/// afterwards only the sizes differ, which libibverbs adjusts.
pub struct QueuePairAttributes<'a> {
    attributes: NonNull<ibv_qp_init_attr_ex>,
    given: Given,
    lent: PhantomData<&'a mut ibv_qp_init_attr_ex>,
}

#[derive(Clone, Copy)]
struct Given {
    send_cq: *mut ibv_cq,
    recv_cq: *mut ibv_cq,
    srq: *mut ibv_srq,
    comp_mask: u32,
    pd: *mut ibv_pd,
    xrcd: *mut ibv_xrcd,
}

impl QueuePairAttributes<'_> {
    /// Those at a pointer; None for NULL.
    ///
    /// # Safety
    ///
    /// NULL, or attributes that reach to `xrcd` and as far as their bits say, and whose objects are alive. Nobody else
    /// uses them as long as the result lives.
    pub unsafe fn from_ptr<'a>(attributes: *mut ibv_qp_init_attr_ex) -> Option<QueuePairAttributes<'a>> {
        // SAFETY: the caller's promise.
        NonNull::new(attributes).map(|attributes| unsafe { QueuePairAttributes::new(attributes) })
    }

    /// # Safety
    ///
    /// As [`QueuePairAttributes::from_ptr`].
    unsafe fn new<'a>(attributes: NonNull<ibv_qp_init_attr_ex>) -> QueuePairAttributes<'a> {
        // SAFETY: the caller's promise. Single fields are read, as those behind may be missing.
        let given = unsafe {
            let all = attributes.as_ptr();
            Given {
                send_cq: (*all).send_cq,
                recv_cq: (*all).recv_cq,
                srq: (*all).srq,
                comp_mask: (*all).comp_mask,
                pd: (*all).pd,
                xrcd: (*all).xrcd,
            }
        };
        QueuePairAttributes { attributes, given, lent: PhantomData }
    }

    /// Lends the short form as the long one to `work`, and gives the sizes back.
    ///
    /// # Safety
    ///
    /// The objects of the attributes, and the protection domain unless it is NULL, are alive.
    pub unsafe fn with_short<R>(
        short: &mut ibv_qp_init_attr,
        pd: *mut ibv_pd,
        work: impl FnOnce(&mut QueuePairAttributes<'_>) -> R,
    ) -> R {
        let mut long = ibv_qp_init_attr_ex { pd, comp_mask: IBV_QP_INIT_ATTR_PD, ..(*short).into() };
        // SAFETY: the attributes are complete; the caller promises the rest.
        let result = unsafe { work(&mut QueuePairAttributes::new(NonNull::from(&mut long))) };
        short.cap = long.cap;
        result
    }

    /// The protection domain, if one is given; and whether that is on the device.
    pub fn pd(&self, context: &Context) -> Option<(*mut ibv_pd, bool)> {
        let given = self.given.comp_mask & IBV_QP_INIT_ATTR_PD != 0 && !self.given.pd.is_null();
        // SAFETY: a domain that is given is alive.
        given.then(|| (self.given.pd, unsafe { (*self.given.pd).context } == context.as_ptr()))
    }

    /// The extended reliable connection domain, if one is given.
    pub fn xrcd(&self) -> Option<*mut ibv_xrcd> {
        let given = self.given.comp_mask & IBV_QP_INIT_ATTR_XRCD != 0 && !self.given.xrcd.is_null();
        given.then_some(self.given.xrcd)
    }

    /// Completion queues for sends and for receives, and the shared receive queue, as given.
    pub fn queues(&self) -> (*mut ibv_cq, *mut ibv_cq, *mut ibv_srq) {
        (self.given.send_cq, self.given.recv_cq, self.given.srq)
    }

    /// Sizes.
    pub fn sizes(&self) -> ibv_qp_cap {
        // SAFETY: from_ptr()'s promise.
        unsafe { (*self.attributes.as_ptr()).cap }
    }

    /// Fills in the protection domain.
    pub fn set_pd(&mut self, pd: *mut ibv_pd) {
        // SAFETY: from_ptr()'s promise.
        unsafe {
            (*self.attributes.as_ptr()).comp_mask |= IBV_QP_INIT_ATTR_PD;
            (*self.attributes.as_ptr()).pd = pd;
        }
    }

    /// Fills in the extended reliable connection domain.
    pub fn set_xrcd(&mut self, xrcd: *mut ibv_xrcd) {
        // SAFETY: from_ptr()'s promise.
        unsafe {
            (*self.attributes.as_ptr()).comp_mask |= IBV_QP_INIT_ATTR_XRCD;
            (*self.attributes.as_ptr()).xrcd = xrcd;
        }
    }

    /// Fills in completion queues and the shared receive queue.
    pub fn set_queues(&mut self, send_cq: *mut ibv_cq, recv_cq: *mut ibv_cq, srq: *mut ibv_srq) {
        // SAFETY: from_ptr()'s promise.
        unsafe {
            (*self.attributes.as_ptr()).send_cq = send_cq;
            (*self.attributes.as_ptr()).recv_cq = recv_cq;
            (*self.attributes.as_ptr()).srq = srq;
        }
    }
}

impl Drop for QueuePairAttributes<'_> {
    fn drop(&mut self) {
        let Given { send_cq, recv_cq, srq, comp_mask, pd, xrcd } = self.given;
        self.set_queues(send_cq, recv_cq, srq);
        // SAFETY: from_ptr()'s promise.
        unsafe {
            (*self.attributes.as_ptr()).comp_mask = comp_mask;
            (*self.attributes.as_ptr()).pd = pd;
            (*self.attributes.as_ptr()).xrcd = xrcd;
        }
    }
}
