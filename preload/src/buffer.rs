// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Memory for the time of a call. It belongs to the thread, so that it is freed also if that is cancelled in the middle.

use crate::thread;
use core::slice;
use libc::c_void;

/// In front of it.
#[repr(C, align(16))]
pub struct Header {
    /// What the thread has besides.
    pub next: *mut Header,
}

/// Freed when it is dropped.
pub struct Buffer {
    header: *mut Header,
    size: usize,
}

impl Buffer {
    /// All bits 0. None without memory.
    pub fn new(size: usize) -> Option<Buffer> {
        // SAFETY: nothing but a size.
        let header = unsafe { libc::calloc(1, size.checked_add(size_of::<Header>())?) }.cast::<Header>();
        if header.is_null() {
            return None;
        }
        thread::owns(header);
        Some(Buffer { header, size })
    }

    /// What is in it.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: that much memory behind the header, which is initialised, and has no other user.
        unsafe { slice::from_raw_parts_mut(self.header.add(1).cast(), self.size) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        thread::disowns(self.header);
        // SAFETY: it came from calloc.
        unsafe { libc::free(self.header.cast::<c_void>()) };
    }
}
