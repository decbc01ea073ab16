// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Options of an id.

use super::id::CmId;
use crate::ctypes::{
    RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, rdma_option_level,
};
use crate::errno::{Errno, Result};
use crate::uapi::SetOption;
use crate::ucma;
use std::ffi::c_int;

/// Most that RDMA_OPTION_ID_ACK_TIMEOUT can be: a queue pair has five bits for it.
const ACK_TIMEOUT_MAX: u8 = 31;

/// Sets an option; the kernel knows which there are. EINVAL for a value of the wrong size and for a wrong value,
/// ENOSYS for an unknown option.
pub fn set(id: &CmId, level: rdma_option_level, name: c_int, value: &[u8]) -> Result<()> {
    if (level, name) == (RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT)
        && value.first().is_some_and(|&exponent| exponent > ACK_TIMEOUT_MAX)
    {
        return Err(Errno::EINVAL);
    }
    let optlen = u32::try_from(value.len()).map_err(|_| Errno::EINVAL)?;
    ucma::order(
        &id.fd(),
        SetOption {
            optval: value.as_ptr().expose_provenance() as u64,
            id: id.handle(),
            level: level as u32,
            optname: name as u32,
            optlen,
        },
    )
}

/// Sets the path of an id, an array of `struct ibv_path_data`, in place of resolving the route.
/// RDMA_CM_EVENT_ROUTE_RESOLVED follows. EINVAL if no path of the array can be used in both directions, or the id's
/// address is not resolved.
pub fn set_path(id: &CmId, paths: &[u8]) -> Result<()> {
    set(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, paths)
}
