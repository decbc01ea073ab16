// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Queue pairs and shared receive queues.

use super::{borrow, ret};
use crate::cm::queue::{QueuePairAttributes, SharedQueueAttributes, attributes, pair, shared};
use crate::ctypes::{
    IBV_QPT_XRC_RECV, IBV_SRQ_INIT_ATTR_PD, IBV_SRQ_INIT_ATTR_TYPE, IBV_SRQT_BASIC, IBV_SRQT_XRC, ibv_pd,
    ibv_qp_attr, ibv_qp_init_attr, ibv_qp_init_attr_ex, ibv_srq_init_attr, ibv_srq_init_attr_ex, rdma_cm_id,
};
use crate::errno::{Errno, Result};
use std::ffi::c_int;
use std::mem::offset_of;

/// Makes the queue pair of an id that is bound to a device, in id->qp, and brings it into the state that the connection
/// needs. NULL for pd stands for the protection domain of the id. Completion queues that the attributes lack are made
/// too, with channels: id->send_cq, id->recv_cq, id->send_cq_channel, id->recv_cq_channel. Of the attributes only the
/// sizes are changed, to what the device gives.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL in id or attributes, for an id without device or with a queue pair, for a
/// protection domain of another device, for other completion queues than the id's, and for no size at all; what
/// libibverbs says, such as ENOMEM for more than the device can do.
///
/// # Safety
///
/// The id is NULL or not destroyed; pd is NULL or alive; the attributes are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_create_qp(
    id: *mut rdma_cm_id,
    pd: *mut ibv_pd,
    qp_init_attr: *mut ibv_qp_init_attr,
) -> c_int {
    // SAFETY: the caller's promise.
    let (id, short) = unsafe { (borrow::id(id), qp_init_attr.as_mut().ok_or(Errno::EINVAL)) };
    ret::status(
        rdma_create_qp,
        id.and_then(|id| {
            // SAFETY: the caller's promise.
            unsafe { QueuePairAttributes::with_short(short?, pd, |attributes| pair::create(id, attributes)) }
        }),
    )
}

/// As rdma_create_qp(), with the attributes of ibv_create_qp_ex().
///
/// # Errors
///
/// As rdma_create_qp(); EOPNOTSUPP for what the device does not have.
///
/// # Safety
///
/// The id is NULL or not destroyed; the attributes are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_create_qp_ex(
    id: *mut rdma_cm_id,
    qp_init_attr: *mut ibv_qp_init_attr_ex,
) -> c_int {
    // SAFETY: the caller's promise.
    let (id, attributes) = unsafe { (borrow::id(id), QueuePairAttributes::from_ptr(qp_init_attr)) };
    ret::status(rdma_create_qp_ex, id.and_then(|id| pair::create(id, &mut attributes.ok_or(Errno::EINVAL)?)))
}

/// Destroys the queue pair of an id, and the completion queues that the library made for it. Nothing happens without one.
///
/// # Safety
///
/// The id is NULL or not destroyed; nobody uses the queue pair any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_destroy_qp(id: *mut rdma_cm_id) {
    // SAFETY: the caller's promise.
    if let Ok(id) = unsafe { borrow::id(id) } {
        pair::destroy(id);
    }
}

/// Makes the shared receive queue of an id that is bound to a device, in id->srq. NULL for pd stands for the protection
/// domain of the id. Of the attributes only the sizes are changed, to what the device gives.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL in id or attributes and for an id without device or with such a queue; what
/// libibverbs says.
///
/// # Safety
///
/// The id is NULL or not destroyed; pd is NULL or alive; the attributes are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_create_srq(
    id: *mut rdma_cm_id,
    pd: *mut ibv_pd,
    attr: *mut ibv_srq_init_attr,
) -> c_int {
    // SAFETY: the caller's promise.
    let (lent, short) = unsafe { (borrow::id(id), attr.as_mut()) };
    let (Ok(lent), Some(short)) = (lent, short) else {
        return ret::status(rdma_create_srq, Err(Errno::EINVAL));
    };
    let is_xrc = lent.queue_pair_type() == IBV_QPT_XRC_RECV;
    let mut extended = ibv_srq_init_attr_ex {
        comp_mask: IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
        srq_type: if is_xrc { IBV_SRQT_XRC } else { IBV_SRQT_BASIC },
        pd,
        ..(*short).into()
    };
    // SAFETY: the caller's promise.
    let result = unsafe { create_srq(id, &mut extended) };
    short.attr = extended.attr;
    ret::status(rdma_create_srq, result)
}

/// As rdma_create_srq(), with the attributes of ibv_create_srq_ex(). A queue for extended reliable connections gets a
/// domain that all ids on the device share, and a completion queue, id->recv_cq, if the attributes have none.
///
/// # Errors
///
/// As rdma_create_srq(); EINVAL without the kind of queue, EOPNOTSUPP for what the device does not have.
///
/// # Safety
///
/// The id is NULL or not destroyed; the attributes are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_create_srq_ex(id: *mut rdma_cm_id, attr: *mut ibv_srq_init_attr_ex) -> c_int {
    // SAFETY: the caller's promise.
    ret::status(rdma_create_srq_ex, unsafe { create_srq(id, attr) })
}

/// # Safety
///
/// As [`rdma_create_srq_ex`].
unsafe fn create_srq(id: *mut rdma_cm_id, attributes: *mut ibv_srq_init_attr_ex) -> Result<()> {
    // SAFETY: the caller's promise.
    let (id, attributes) = unsafe { (borrow::id(id), SharedQueueAttributes::from_ptr(attributes)) };
    shared::create(id?, &mut attributes.ok_or(Errno::EINVAL)?)
}

/// Destroys the shared receive queue of an id, and the completion queue that the library made for it. Nothing happens
/// without one.
///
/// # Safety
///
/// The id is NULL or not destroyed; nobody uses the queue any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_destroy_srq(id: *mut rdma_cm_id) {
    // SAFETY: the caller's promise.
    if let Ok(id) = unsafe { borrow::id(id) } {
        shared::destroy(id);
    }
}

/// Tells how a queue pair is to be set for the state in qp_attr->qp_state: fills *qp_attr, and *qp_attr_mask with the
/// IBV_QP_ bits of what counts. For queue pairs that the application makes itself.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL and for a state that the id cannot be in yet.
///
/// # Safety
///
/// The id is NULL or not destroyed; the places are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_init_qp_attr(
    id: *mut rdma_cm_id,
    qp_attr: *mut ibv_qp_attr,
    qp_attr_mask: *mut c_int,
) -> c_int {
    if qp_attr.is_null() || qp_attr_mask.is_null() {
        return ret::status(rdma_init_qp_attr, Err(Errno::EINVAL));
    }
    // SAFETY: the caller's promise.
    let (id, state) = unsafe { (borrow::id(id), (*qp_attr).qp_state) };
    ret::status(
        rdma_init_qp_attr,
        id.and_then(|id| attributes::of_state(id, state)).map(|attributes::Change { attributes, mask }| {
            // The kernel says nothing of the last field, and the struct of old programs ends before it.
            let told = offset_of!(ibv_qp_attr, rate_limit);
            // SAFETY: checked for NULL; the caller promises the rest.
            unsafe {
                qp_attr.cast::<u8>().copy_from_nonoverlapping((&raw const attributes).cast(), told);
                *qp_attr_mask = mask;
            }
        }),
    )
}
