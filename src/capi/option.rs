// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Options.

use super::{borrow, ret};
use crate::cm;
use crate::ctypes::rdma_cm_id;
use std::ffi::{c_int, c_void};

/// Sets an option of an id: a value of enum rdma_option_level, an option of that level, and the value with its length
/// in bytes.
///
/// An option of RDMA_OPTION_ID is to be set before it matters: RDMA_OPTION_ID_REUSEADDR and RDMA_OPTION_ID_AFONLY before
/// the id is bound, the others before it connects or accepts. RDMA_OPTION_IB_PATH is followed by
/// RDMA_CM_EVENT_ROUTE_RESOLVED.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL, for a value of a wrong length or out of its range, and for an id in another
/// state; ENOSYS for an unknown level or option.
///
/// # Safety
///
/// The id is NULL or not destroyed; optval is NULL or has as many bytes as optlen says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_set_option(
    id: *mut rdma_cm_id,
    level: c_int,
    optname: c_int,
    optval: *mut c_void,
    optlen: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    let (id, value) = unsafe { (borrow::id(id), borrow::bytes(optval, optlen)) };
    ret::status(rdma_set_option, id.and_then(|id| cm::option::set(id, level, optname, value?)))
}
