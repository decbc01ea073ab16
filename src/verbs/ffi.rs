// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Foreign functions. Only those that libibverbs has had since its first symbol versions are linked; younger ones
//! are looked up at run time, so that the library loads on an old distribution too.

use crate::ctypes::{__be64, ibv_context, ibv_device, ibv_device_attr, ibv_pd, ibv_port_attr};
use crate::sys::symbol;
use std::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;

#[link(name = "ibverbs")]
unsafe extern "C" {
    pub fn ibv_get_device_list(count: *mut c_int) -> *mut *mut ibv_device;
    pub fn ibv_free_device_list(list: *mut *mut ibv_device);
    pub fn ibv_get_device_name(device: *mut ibv_device) -> *const c_char;
    pub fn ibv_get_device_guid(device: *mut ibv_device) -> __be64;
    pub fn ibv_open_device(device: *mut ibv_device) -> *mut ibv_context;
    pub fn ibv_close_device(context: *mut ibv_context) -> c_int;
    pub fn ibv_query_device(context: *mut ibv_context, attributes: *mut ibv_device_attr) -> c_int;
    /// Fills the older, shorter form of the struct: the caller clears it before.
    pub fn ibv_query_port(context: *mut ibv_context, port: u8, attributes: *mut ibv_port_attr) -> c_int;
    pub fn ibv_alloc_pd(context: *mut ibv_context) -> *mut ibv_pd;
    pub fn ibv_dealloc_pd(pd: *mut ibv_pd) -> c_int;
}

type GetDeviceIndex = unsafe extern "C" fn(*mut ibv_device) -> c_int;

/// `ibv_get_device_index`, since IBVERBS_1.9.
pub fn get_device_index() -> Option<GetDeviceIndex> {
    static FOUND: OnceLock<Option<GetDeviceIndex>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let address = symbol::find(c"ibv_get_device_index")?;
        // SAFETY: the symbol of this name is a function of this type in every libibverbs that has it.
        Some(unsafe { std::mem::transmute::<*mut c_void, GetDeviceIndex>(address.as_ptr()) })
    })
}
