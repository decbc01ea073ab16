// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Memory that a device knows.

use super::ffi;
use crate::ctypes::{IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_WRITE, ibv_mr, ibv_pd, ibv_sge};
use crate::errno::{Errno, Result};
use crate::sys::pages::Pages;
use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

/// Who may write to registered memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The device, for queues of this process.
    Local,
    /// Peers as well.
    Peers,
}

/// Registered memory; the registration ends when this is dropped. The memory must stay as long.
pub struct Registered(NonNull<ibv_mr>);

// SAFETY: the registration does not change, and its end may come from any thread.
unsafe impl Send for Registered {}
// SAFETY: as above.
unsafe impl Sync for Registered {}

impl Registered {
    /// Registers a part of the pages. EINVAL if it is none.
    ///
    /// # Safety
    ///
    /// The domain is alive, and the pages are not unmapped before this is dropped.
    pub unsafe fn pages(
        pd: *mut ibv_pd,
        pages: &Pages,
        offset: usize,
        length: usize,
        access: Access,
    ) -> Result<Registered> {
        if offset.checked_add(length).is_none_or(|end| end > pages.length()) {
            return Err(Errno::EINVAL);
        }
        // SAFETY: within the pages; the caller promises the rest.
        unsafe { Registered::register(pd, pages.as_ptr().wrapping_add(offset).cast(), length, access) }
    }

    /// Registers memory of the application.
    ///
    /// # Safety
    ///
    /// The domain is alive, and so is the memory until this is dropped; the application lets the device write there.
    pub unsafe fn register(
        pd: *mut ibv_pd,
        start: *mut c_void,
        length: usize,
        access: Access,
    ) -> Result<Registered> {
        if pd.is_null() {
            return Err(Errno::EINVAL);
        }
        let flags: c_int = match access {
            Access::Local => IBV_ACCESS_LOCAL_WRITE,
            Access::Peers => IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
        };
        // SAFETY: the caller's promise; NULL is checked for.
        NonNull::new(unsafe { ffi::ibv_reg_mr(pd, start, length, flags) })
            .map(Registered)
            .ok_or_else(Errno::last)
    }

    /// The key for peers.
    pub fn remote_key(&self) -> u32 {
        // SAFETY: the registration is alive.
        unsafe { (*self.0.as_ptr()).rkey }
    }

    /// The key for queues of this process.
    pub fn local_key(&self) -> u32 {
        // SAFETY: the registration is alive.
        unsafe { (*self.0.as_ptr()).lkey }
    }

    /// Where the memory begins.
    pub fn address(&self) -> u64 {
        // SAFETY: the registration is alive.
        unsafe { (*self.0.as_ptr()).addr.addr() as u64 }
    }

    /// Bytes.
    pub fn length(&self) -> usize {
        // SAFETY: the registration is alive.
        unsafe { (*self.0.as_ptr()).length }
    }

    /// A piece of it, for a post.
    pub fn piece(&self, pages: &Pages, offset: usize, length: u32) -> ibv_sge {
        ibv_sge { addr: pages.address(offset), length, lkey: self.local_key() }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        // SAFETY: the registration is alive and ended once. An error would leave nothing to do.
        unsafe { ffi::ibv_dereg_mr(self.0.as_ptr()) };
    }
}
