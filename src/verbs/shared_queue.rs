// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Shared receive queues.

use super::owned::{Destroy, Owned};
use super::{Context, extended, ffi};
use crate::ctypes::{
    IBV_SRQ_INIT_ATTR_CQ, IBV_SRQ_INIT_ATTR_PD, IBV_SRQ_INIT_ATTR_TYPE, IBV_SRQ_INIT_ATTR_XRCD, IBV_SRQT_XRC,
    ibv_cq, ibv_pd, ibv_srq, ibv_srq_attr, ibv_srq_init_attr_ex, ibv_xrcd,
};
use crate::errno::Result;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A shared receive queue that somebody keeps alive. Nothing happens when it is dropped.
#[derive(Clone, Copy)]
pub struct SharedQueue(NonNull<ibv_srq>);

impl SharedQueue {
    /// The queue at a pointer; None for NULL.
    ///
    /// # Safety
    ///
    /// NULL, or a queue that is alive as long as the result is used.
    pub unsafe fn from_ptr(queue: *mut ibv_srq) -> Option<SharedQueue> {
        NonNull::new(queue).map(SharedQueue)
    }

    /// Makes one.
    pub fn create(
        context: &Context,
        attributes: &mut SharedQueueAttributes<'_>,
    ) -> Result<Owned<SharedQueue>> {
        // SAFETY: the context is open; from_ptr() promised the rest. Nobody else knows what was made.
        unsafe {
            extended::create_srq(context.as_ptr(), attributes.attributes)
                .map(|made| Owned::new(SharedQueue(made)))
        }
    }

    /// For the application.
    pub fn as_ptr(self) -> *mut ibv_srq {
        self.0.as_ptr()
    }

    /// Receives that it has room for; 0 if it does not say.
    pub fn size(self) -> u32 {
        let mut attributes = ibv_srq_attr { max_wr: 0, max_sge: 0, srq_limit: 0 };
        // SAFETY: the queue is alive and the place is valid.
        match unsafe { ffi::ibv_query_srq(self.as_ptr(), &mut attributes) } {
            0 => attributes.max_wr,
            _ => 0,
        }
    }
}

impl Destroy for SharedQueue {
    unsafe fn destroy(self) {
        // SAFETY: the queue is alive; the caller promises the rest.
        unsafe { ffi::ibv_destroy_srq(self.as_ptr()) };
    }
}

/// Attributes of a new shared receive queue, lent by the application. What is filled in here is taken out when this is
/// dropped: afterwards only the sizes differ, which libibverbs adjusts.
pub struct SharedQueueAttributes<'a> {
    attributes: NonNull<ibv_srq_init_attr_ex>,
    given: Given,
    lent: PhantomData<&'a mut ibv_srq_init_attr_ex>,
}

#[derive(Clone, Copy)]
struct Given {
    comp_mask: u32,
    pd: *mut ibv_pd,
    xrcd: *mut ibv_xrcd,
    cq: *mut ibv_cq,
}

impl SharedQueueAttributes<'_> {
    /// Those at a pointer; None for NULL.
    ///
    /// # Safety
    ///
    /// NULL, or attributes that reach to `cq` and as far as their bits say, and whose objects are alive. Nobody else
    /// uses them as long as the result lives.
    pub unsafe fn from_ptr<'a>(attributes: *mut ibv_srq_init_attr_ex) -> Option<SharedQueueAttributes<'a>> {
        let attributes = NonNull::new(attributes)?;
        // SAFETY: the caller's promise. Single fields are read, as those behind may be missing.
        let given = unsafe {
            let all = attributes.as_ptr();
            Given { comp_mask: (*all).comp_mask, pd: (*all).pd, xrcd: (*all).xrcd, cq: (*all).cq }
        };
        Some(SharedQueueAttributes { attributes, given, lent: PhantomData })
    }

    fn has(&self, bit: u32) -> bool {
        self.given.comp_mask & bit != 0
    }

    /// Whether the kind is given.
    pub fn has_kind(&self) -> bool {
        self.has(IBV_SRQ_INIT_ATTR_TYPE)
    }

    /// Whether it is for extended reliable connections.
    pub fn is_xrc(&self) -> bool {
        // SAFETY: from_ptr()'s promise.
        self.has_kind() && unsafe { (*self.attributes.as_ptr()).srq_type } == IBV_SRQT_XRC
    }

    /// The protection domain, if one is given.
    pub fn pd(&self) -> Option<*mut ibv_pd> {
        (self.has(IBV_SRQ_INIT_ATTR_PD) && !self.given.pd.is_null()).then_some(self.given.pd)
    }

    /// The extended reliable connection domain, if one is given.
    pub fn xrcd(&self) -> Option<*mut ibv_xrcd> {
        (self.has(IBV_SRQ_INIT_ATTR_XRCD) && !self.given.xrcd.is_null()).then_some(self.given.xrcd)
    }

    /// The completion queue, if one is given.
    pub fn cq(&self) -> Option<*mut ibv_cq> {
        (self.has(IBV_SRQ_INIT_ATTR_CQ) && !self.given.cq.is_null()).then_some(self.given.cq)
    }

    /// Receives to have room for.
    pub fn size(&self) -> u32 {
        // SAFETY: from_ptr()'s promise.
        unsafe { (*self.attributes.as_ptr()).attr.max_wr }
    }

    /// Fills in the protection domain.
    pub fn set_pd(&mut self, pd: *mut ibv_pd) {
        // SAFETY: from_ptr()'s promise.
        unsafe {
            (*self.attributes.as_ptr()).comp_mask |= IBV_SRQ_INIT_ATTR_PD;
            (*self.attributes.as_ptr()).pd = pd;
        }
    }

    /// Fills in what extended reliable connections need.
    pub fn set_xrc(&mut self, xrcd: *mut ibv_xrcd, cq: *mut ibv_cq) {
        // SAFETY: from_ptr()'s promise.
        unsafe {
            (*self.attributes.as_ptr()).comp_mask |= IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
            (*self.attributes.as_ptr()).xrcd = xrcd;
            (*self.attributes.as_ptr()).cq = cq;
        }
    }
}

impl Drop for SharedQueueAttributes<'_> {
    fn drop(&mut self) {
        let Given { comp_mask, pd, xrcd, cq } = self.given;
        // SAFETY: from_ptr()'s promise.
        unsafe {
            (*self.attributes.as_ptr()).comp_mask = comp_mask;
            (*self.attributes.as_ptr()).pd = pd;
            (*self.attributes.as_ptr()).xrcd = xrcd;
            (*self.attributes.as_ptr()).cq = cq;
        }
    }
}
