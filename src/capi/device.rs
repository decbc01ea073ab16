// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Devices.

use super::ret;
use crate::cm::devices;
use crate::ctypes::ibv_context;
use std::ffi::c_int;

/// Opens all RDMA devices and returns an array of them that ends with NULL. Their number is stored at num_devices
/// unless that is NULL. A context is valid until the array is freed and no id uses the device.
///
/// # Errors
///
/// NULL and errno: ENODEV without an RDMA device, ENOMEM.
///
/// # Safety
///
/// num_devices is NULL or has room for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_devices(num_devices: *mut c_int) -> *mut *mut ibv_context {
    let result = devices::list();
    let count = result.map_or(0, |(_, count)| count);
    // SAFETY: the caller's promise.
    if let Some(num_devices) = unsafe { num_devices.as_mut() } {
        *num_devices = c_int::try_from(count).unwrap_or(c_int::MAX);
    }
    ret::pointer(rdma_get_devices, result.map(|(array, _)| array))
}

/// Frees an array of rdma_get_devices(). NULL is ignored.
///
/// # Safety
///
/// Nobody uses the array any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_free_devices(list: *mut *mut ibv_context) {
    devices::free(list);
}
