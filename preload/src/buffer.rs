// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Memory for the time of a call.

use core::slice;
use libc::c_void;

/// Freed when it is dropped.
pub struct Buffer {
    start: *mut u8,
    size: usize,
}

impl Buffer {
    /// All bits 0. None without memory.
    pub fn new(size: usize) -> Option<Buffer> {
        // SAFETY: nothing but a size.
        let start = unsafe { libc::calloc(size.max(1), 1) }.cast::<u8>();
        (!start.is_null()).then_some(Buffer { start, size })
    }

    /// What is in it.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: that much memory, which is initialised, and has no other user.
        unsafe { slice::from_raw_parts_mut(self.start, self.size) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: it came from calloc.
        unsafe { libc::free(self.start.cast::<c_void>()) };
    }
}
