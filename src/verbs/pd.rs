// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Protection domains.

use super::context::Context;
use super::ffi;
use crate::ctypes::ibv_pd;
use crate::errno::{Errno, Result};
use std::ptr::NonNull;

/// A protection domain. It is not freed when dropped, since that can fail: see [`ProtectionDomain::free`].
pub struct ProtectionDomain(NonNull<ibv_pd>);

// SAFETY: libibverbs' functions on a protection domain may be called from any thread at once.
unsafe impl Send for ProtectionDomain {}
// SAFETY: as above.
unsafe impl Sync for ProtectionDomain {}

impl ProtectionDomain {
    /// A new one on an open device.
    pub fn allocate(context: &Context) -> Result<ProtectionDomain> {
        // SAFETY: the context is open; NULL is checked for.
        NonNull::new(unsafe { ffi::ibv_alloc_pd(context.as_ptr()) })
            .map(ProtectionDomain)
            .ok_or_else(Errno::last)
    }

    /// For the application.
    pub fn as_ptr(&self) -> *mut ibv_pd {
        self.0.as_ptr()
    }

    /// Frees it; gives it back while the application still has memory regions or other objects in it.
    pub fn free(self) -> core::result::Result<(), ProtectionDomain> {
        // SAFETY: it is alive, and gone only if the call succeeds.
        match unsafe { ffi::ibv_dealloc_pd(self.as_ptr()) } {
            0 => Ok(()),
            _ => Err(self),
        }
    }
}
