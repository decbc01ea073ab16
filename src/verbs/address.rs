// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Address handles: where datagrams go.

use super::ffi;
use super::owned::{Destroy, Owned};
use crate::ctypes::{ibv_ah_attr, ibv_pd};
use crate::errno::{Errno, Result};
use std::ffi::c_void;
use std::ptr::NonNull;

/// An address handle that somebody keeps alive.
#[derive(Clone, Copy)]
pub struct AddressHandle(NonNull<c_void>);

// SAFETY: libibverbs' functions on address handles may be called from any thread at once.
unsafe impl Send for AddressHandle {}
// SAFETY: as above.
unsafe impl Sync for AddressHandle {}

impl AddressHandle {
    /// Makes one.
    ///
    /// # Safety
    ///
    /// The domain is alive, and stays so until the result is dropped.
    pub unsafe fn create(pd: *mut ibv_pd, attributes: &mut ibv_ah_attr) -> Result<Owned<AddressHandle>> {
        if pd.is_null() {
            return Err(Errno::EINVAL);
        }
        // SAFETY: the caller's promise; NULL is checked for. Nobody else knows what was made.
        unsafe {
            NonNull::new(ffi::ibv_create_ah(pd, attributes))
                .map(|made| Owned::new(AddressHandle(made)))
                .ok_or_else(Errno::last)
        }
    }

    /// For a post.
    pub(super) fn as_ptr(self) -> *mut c_void {
        self.0.as_ptr()
    }
}

impl Destroy for AddressHandle {
    unsafe fn destroy(self) {
        // SAFETY: the handle is alive; the caller promises the rest.
        unsafe { ffi::ibv_destroy_ah(self.as_ptr()) };
    }
}
