// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Foreign functions. Only those that libibverbs has had since its first symbol versions are linked; younger ones
//! are looked up at run time, so that the library loads on an old distribution too.

use crate::ctypes::{
    __be16, __be64, ibv_ah_attr, ibv_comp_channel, ibv_context, ibv_cq, ibv_device, ibv_device_attr, ibv_ece,
    ibv_gid, ibv_mr, ibv_pd, ibv_port_attr, ibv_qp, ibv_qp_attr, ibv_qp_init_attr_ex, ibv_srq, ibv_srq_attr,
    ibv_srq_init_attr_ex,
};
use crate::sys::symbol;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
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
    pub fn ibv_query_gid(context: *mut ibv_context, port: u8, index: c_int, gid: *mut ibv_gid) -> c_int;
    pub fn ibv_alloc_pd(context: *mut ibv_context) -> *mut ibv_pd;
    pub fn ibv_dealloc_pd(pd: *mut ibv_pd) -> c_int;
    pub fn ibv_create_ah(pd: *mut ibv_pd, attributes: *mut ibv_ah_attr) -> *mut c_void;
    pub fn ibv_destroy_ah(handle: *mut c_void) -> c_int;
    pub fn ibv_query_pkey(context: *mut ibv_context, port: u8, index: c_int, pkey: *mut __be16) -> c_int;
    pub fn ibv_create_comp_channel(context: *mut ibv_context) -> *mut ibv_comp_channel;
    pub fn ibv_destroy_comp_channel(channel: *mut ibv_comp_channel) -> c_int;
    pub fn ibv_create_cq(
        context: *mut ibv_context,
        size: c_int,
        cq_context: *mut c_void,
        channel: *mut ibv_comp_channel,
        vector: c_int,
    ) -> *mut ibv_cq;
    pub fn ibv_destroy_cq(queue: *mut ibv_cq) -> c_int;
    pub fn ibv_get_cq_event(
        channel: *mut ibv_comp_channel,
        queue: *mut *mut ibv_cq,
        cq_context: *mut *mut c_void,
    ) -> c_int;
    pub fn ibv_ack_cq_events(queue: *mut ibv_cq, events: c_uint);
    pub fn ibv_reg_mr(pd: *mut ibv_pd, start: *mut c_void, length: usize, access: c_int) -> *mut ibv_mr;
    pub fn ibv_dereg_mr(memory: *mut ibv_mr) -> c_int;
    /// In C the attributes are of the short form, with which the extended one begins.
    pub fn ibv_create_srq(pd: *mut ibv_pd, attributes: *mut ibv_srq_init_attr_ex) -> *mut ibv_srq;
    pub fn ibv_query_srq(queue: *mut ibv_srq, attributes: *mut ibv_srq_attr) -> c_int;
    pub fn ibv_destroy_srq(queue: *mut ibv_srq) -> c_int;
    /// In C the attributes are of the short form, with which the extended one begins.
    pub fn ibv_create_qp(pd: *mut ibv_pd, attributes: *mut ibv_qp_init_attr_ex) -> *mut ibv_qp;
    pub fn ibv_modify_qp(queue_pair: *mut ibv_qp, attributes: *mut ibv_qp_attr, mask: c_int) -> c_int;
    pub fn ibv_destroy_qp(queue_pair: *mut ibv_qp) -> c_int;
    pub fn ibv_attach_mcast(queue_pair: *mut ibv_qp, group: *const ibv_gid, lid: u16) -> c_int;
    pub fn ibv_detach_mcast(queue_pair: *mut ibv_qp, group: *const ibv_gid, lid: u16) -> c_int;
}

/// A function of libibverbs that may be missing, looked up once.
macro_rules! younger {
    ($(#[$meta:meta])* $name:ident: $symbol:literal, fn($($parameter:ty),*)) => {
        $(#[$meta])*
        pub fn $name() -> Option<unsafe extern "C" fn($($parameter),*) -> c_int> {
            static FOUND: OnceLock<Option<unsafe extern "C" fn($($parameter),*) -> c_int>> = OnceLock::new();
            *FOUND.get_or_init(|| {
                let name: &CStr = $symbol;
                let address = symbol::find(name)?;
                // SAFETY: the symbol of this name is a function of this type in every libibverbs that has it.
                Some(unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($parameter),*) -> c_int>(address.as_ptr()) })
            })
        }
    };
}

younger! {
    /// Since IBVERBS_1.9.
    get_device_index: c"ibv_get_device_index", fn(*mut ibv_device)
}
younger! {
    /// Since IBVERBS_1.10.
    query_ece: c"ibv_query_ece", fn(*mut ibv_qp, *mut ibv_ece)
}
younger! {
    /// Since IBVERBS_1.10.
    set_ece: c"ibv_set_ece", fn(*mut ibv_qp, *mut ibv_ece)
}
