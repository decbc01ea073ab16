// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Domains for extended reliable connections.

use super::{Context, extended};
use crate::ctypes::{IBV_XRCD_INIT_ATTR_FD, IBV_XRCD_INIT_ATTR_OFLAGS, ibv_xrcd, ibv_xrcd_init_attr};
use crate::errno::Result;
use std::ptr::NonNull;

/// A domain that no other process shares. It is not closed when dropped, since that can fail: see
/// [`XrcDomain::close`].
pub struct XrcDomain(NonNull<ibv_xrcd>);

// SAFETY: libibverbs' functions on such a domain may be called from any thread at once.
unsafe impl Send for XrcDomain {}
// SAFETY: as above.
unsafe impl Sync for XrcDomain {}

impl XrcDomain {
    /// A new one on an open device. EOPNOTSUPP if it has none.
    pub fn open(context: &Context) -> Result<XrcDomain> {
        let mut attributes = ibv_xrcd_init_attr {
            comp_mask: IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
            fd: -1,
            oflags: libc::O_CREAT,
        };
        // SAFETY: the context is open.
        unsafe { extended::open_xrcd(context.as_ptr(), &mut attributes) }.map(XrcDomain)
    }

    /// For the application.
    pub fn as_ptr(&self) -> *mut ibv_xrcd {
        self.0.as_ptr()
    }

    /// Closes it; gives it back while the application still has queues in it. The context is the one it was opened on.
    pub fn close(self, context: &Context) -> core::result::Result<(), XrcDomain> {
        // SAFETY: the context is open, and the domain is gone only if the call succeeds.
        unsafe { extended::close_xrcd(context.as_ptr(), self.0) }.map_err(|_| self)
    }
}
