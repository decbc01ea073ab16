// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Functions of a device's driver that verbs.h calls without entering libibverbs. The driver keeps them right before
//! its `struct ibv_context`, and they grow downwards: the length in front says how many there are.

use crate::ctypes::{
    IBV_QP_INIT_ATTR_PD, IBV_SRQ_INIT_ATTR_PD, IBV_SRQ_INIT_ATTR_TYPE, IBV_SRQT_BASIC, ibv_context, ibv_qp,
    ibv_qp_init_attr_ex, ibv_srq, ibv_srq_init_attr_ex, ibv_xrcd, ibv_xrcd_init_attr,
};
use crate::errno::{Errno, Result};
use std::ffi::c_int;
use std::mem::offset_of;
use std::ptr::NonNull;

use super::ffi;

/// The end of `struct verbs_context`, up to the `struct ibv_context` that follows.
#[repr(C)]
struct Operations {
    create_qp_ex: Option<unsafe extern "C" fn(*mut ibv_context, *mut ibv_qp_init_attr_ex) -> *mut ibv_qp>,
    get_srq_num: Option<unsafe extern "C" fn(*mut ibv_srq, *mut u32) -> c_int>,
    create_srq_ex: Option<unsafe extern "C" fn(*mut ibv_context, *mut ibv_srq_init_attr_ex) -> *mut ibv_srq>,
    open_xrcd: Option<unsafe extern "C" fn(*mut ibv_context, *mut ibv_xrcd_init_attr) -> *mut ibv_xrcd>,
    close_xrcd: Option<unsafe extern "C" fn(*mut ibv_xrcd) -> c_int>,
    placeholder: u64,
    /// Bytes of the whole struct.
    size: usize,
}

/// What stands in `abi_compat` of a context that has the functions.
const EXTENDED: usize = usize::MAX;

/// One of the functions, by its offset; EOPNOTSUPP if the driver lacks it.
///
/// # Safety
///
/// The context is open.
unsafe fn operation<F: Copy>(
    context: *mut ibv_context,
    offset: usize,
    field: fn(&Operations) -> Option<F>,
) -> Result<F> {
    // SAFETY: an open context says in this field whether the functions stand before it, and how many.
    let operations = unsafe {
        if (*context).abi_compat.addr() != EXTENDED {
            return Err(Errno::EOPNOTSUPP);
        }
        &*context.byte_sub(size_of::<Operations>()).cast::<Operations>()
    };
    let needed = size_of::<Operations>() - offset + size_of::<ibv_context>();
    if operations.size < needed { None } else { field(operations) }.ok_or(Errno::EOPNOTSUPP)
}

/// Makes a queue pair of the attributes.
///
/// # Safety
///
/// The context is open, and the attributes are as large as their bits say; what they point to is alive.
pub unsafe fn create_qp(
    context: *mut ibv_context,
    attributes: NonNull<ibv_qp_init_attr_ex>,
) -> Result<NonNull<ibv_qp>> {
    // SAFETY: the caller's promises.
    let made = unsafe {
        let attributes = attributes.as_ptr();
        if (*attributes).comp_mask == IBV_QP_INIT_ATTR_PD {
            ffi::ibv_create_qp((*attributes).pd, attributes)
        } else {
            operation(context, offset_of!(Operations, create_qp_ex), |all| all.create_qp_ex)?(
                context, attributes,
            )
        }
    };
    NonNull::new(made).ok_or_else(Errno::last)
}

/// Makes a shared receive queue of the attributes.
///
/// # Safety
///
/// As for [`create_qp`].
pub unsafe fn create_srq(
    context: *mut ibv_context,
    attributes: NonNull<ibv_srq_init_attr_ex>,
) -> Result<NonNull<ibv_srq>> {
    // SAFETY: the caller's promises.
    let made = unsafe {
        let attributes = attributes.as_ptr();
        let simple = (*attributes).comp_mask == IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE;
        if simple && (*attributes).srq_type == IBV_SRQT_BASIC {
            ffi::ibv_create_srq((*attributes).pd, attributes)
        } else {
            operation(context, offset_of!(Operations, create_srq_ex), |all| all.create_srq_ex)?(
                context, attributes,
            )
        }
    };
    NonNull::new(made).ok_or_else(Errno::last)
}

/// Opens a domain for extended reliable connections.
///
/// # Safety
///
/// The context is open.
pub unsafe fn open_xrcd(
    context: *mut ibv_context,
    attributes: &mut ibv_xrcd_init_attr,
) -> Result<NonNull<ibv_xrcd>> {
    // SAFETY: the caller's promise.
    let made = unsafe {
        operation(context, offset_of!(Operations, open_xrcd), |all| all.open_xrcd)?(context, attributes)
    };
    NonNull::new(made).ok_or_else(Errno::last)
}

/// Closes what [`open_xrcd`] opened.
///
/// # Safety
///
/// The context is open and so is the domain, which is not used any more if this succeeds.
pub unsafe fn close_xrcd(context: *mut ibv_context, domain: NonNull<ibv_xrcd>) -> Result<()> {
    // SAFETY: the caller's promises.
    match unsafe {
        operation(context, offset_of!(Operations, close_xrcd), |all| all.close_xrcd)?(domain.as_ptr())
    } {
        0 => Ok(()),
        error => Err(Errno::from_raw(error)),
    }
}

// Nothing may lie between the two structs.
const _: () = assert!(size_of::<Operations>() % align_of::<ibv_context>() == 0);
