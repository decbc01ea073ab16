// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! An open device.

use super::ffi;
use crate::ctypes::{
    IBV_LINK_LAYER_UNSPECIFIED, ibv_context, ibv_device_attr, ibv_gid, ibv_link_layer, ibv_port_attr,
    ibv_transport_type,
};
use crate::errno::{Errno, Result};
use crate::sys::uverbs::{self, Kind};
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

/// Closed when dropped: nothing made on it may be left then.
pub struct Context {
    context: NonNull<ibv_context>,
    /// The kernel's number of the device's driver, if it tells.
    driver: Option<u32>,
}

// SAFETY: libibverbs' functions on a context may be called from any thread at once.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    pub(super) fn new(context: NonNull<ibv_context>, driver: Option<u32>) -> Context {
        Context { context, driver }
    }

    /// For the application.
    pub fn as_ptr(&self) -> *mut ibv_context {
        self.context.as_ptr()
    }

    /// What the device speaks.
    pub fn transport(&self) -> ibv_transport_type {
        // SAFETY: an open context points to its device, which lives as long.
        unsafe { (*(*self.as_ptr()).device).transport_type }
    }

    /// Limits of the device.
    pub fn attributes(&self) -> Result<ibv_device_attr> {
        let mut attributes = MaybeUninit::zeroed();
        // SAFETY: the context is open and the struct is a valid place.
        match unsafe { ffi::ibv_query_device(self.as_ptr(), attributes.as_mut_ptr()) } {
            // SAFETY: numbers only, and all bytes are set.
            0 => Ok(unsafe { attributes.assume_init() }),
            error => Err(Errno::from_raw(error)),
        }
    }

    /// Whether there are objects on it besides that many protection domains and XRC domains. EOPNOTSUPP if the kernel never
    /// tells; another error now, as after the device was taken away.
    pub fn has_more_than(&self, domains: usize, xrc_domains: usize) -> Result<bool> {
        let driver = self.driver.ok_or(Errno::EOPNOTSUPP)?;
        // SAFETY: the context is open; the field is read by value and never changes.
        let fd = unsafe { (*self.as_ptr()).cmd_fd };
        for kind in Kind::all() {
            let own = match kind {
                Kind::PD => domains,
                Kind::XRCD => xrc_domains,
                _ => 0,
            };
            if uverbs::count(fd, driver, kind)? > own {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Link layer of a port, counted from 1; unspecified if the port does not answer.
    pub fn link_layer(&self, port: u8) -> ibv_link_layer {
        self.port(port).map_or(IBV_LINK_LAYER_UNSPECIFIED, |port| port.link_layer)
    }

    /// State and limits of a port, counted from 1.
    pub fn port(&self, port: u8) -> Result<ibv_port_attr> {
        let mut attributes = MaybeUninit::<ibv_port_attr>::zeroed();
        // SAFETY: the context is open and the struct is a valid, cleared place.
        match unsafe { ffi::ibv_query_port(self.as_ptr(), port, attributes.as_mut_ptr()) } {
            // SAFETY: numbers only, and all bytes are set.
            0 => Ok(unsafe { attributes.assume_init() }),
            error => Err(Errno::from_raw(error)),
        }
    }

    /// A GID of a port, counted from 1.
    pub fn gid(&self, port: u8, index: c_int) -> Result<[u8; 16]> {
        let mut gid = ibv_gid { raw: [0; 16] };
        // SAFETY: the context is open and the GID is a valid place.
        match unsafe { ffi::ibv_query_gid(self.as_ptr(), port, index, &mut gid) } {
            // SAFETY: any bytes are a GID.
            0 => Ok(unsafe { gid.raw }),
            _ => Err(Errno::last()),
        }
    }

    /// Index of a partition key, in network byte order, in the table of a port, counted from 1. EINVAL if it is not there.
    pub fn pkey_index(&self, port: u8, pkey: u16) -> Result<u16> {
        for index in 0..self.port(port)?.pkey_tbl_len {
            let mut found = 0;
            // SAFETY: the context is open and the place is valid.
            match unsafe { ffi::ibv_query_pkey(self.as_ptr(), port, index.into(), &mut found) } {
                0 if found == pkey => return Ok(index),
                0 => {}
                _ => return Err(Errno::last()),
            }
        }
        Err(Errno::EINVAL)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context is open and closed once. An error would leave nothing to do.
        unsafe { ffi::ibv_close_device(self.as_ptr()) };
    }
}
