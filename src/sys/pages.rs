// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Whole pages of memory that a device may write to at any time: no reference into them ever exists, and every read is a
//! copy.

use super::iovec::Room;
use crate::errno::{Errno, Result};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

/// Pages of this process alone. Unmapped when dropped.
pub struct Pages {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: memory only; whoever uses it says what is in there.
unsafe impl Send for Pages {}
// SAFETY: as above: accesses are copies, which may see one another's bytes.
unsafe impl Sync for Pages {}

/// Bytes of a page.
pub fn page() -> usize {
    // SAFETY: no precondition.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

impl Pages {
    /// At least that many bytes, all 0. ENOMEM without memory.
    pub fn map(length: usize) -> Result<Pages> {
        let length = length.max(1).checked_next_multiple_of(page()).ok_or(Errno::ENOMEM)?;
        // SAFETY: a mapping at a place of the kernel's choice.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(Errno::ENOMEM);
        }
        NonNull::new(start.cast()).map(|start| Pages { start, length }).ok_or(Errno::ENOMEM)
    }

    /// Bytes.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Where a byte stands, for a device.
    pub fn address(&self, offset: usize) -> u64 {
        self.start.as_ptr().wrapping_add(offset).expose_provenance() as u64
    }

    /// The first byte, for a device.
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    fn place(&self, offset: usize, length: usize) -> *mut u8 {
        let end = offset.checked_add(length).filter(|end| *end <= self.length);
        // A length from a peer has been checked before it comes here.
        assert!(end.is_some(), "outside of the pages");
        self.start.as_ptr().wrapping_add(offset)
    }

    /// Copies from there into a place of the application's, all of it.
    pub fn copy_out(&self, offset: usize, room: &Room<'_>) {
        let from = self.place(offset, room.length());
        // SAFETY: within the pages, and within the room, which is the application's.
        unsafe { ptr::copy_nonoverlapping(from, room.as_mut_ptr(), room.length()) };
    }

    /// Copies from there into memory of this library, all of it.
    pub fn read(&self, offset: usize, room: &mut [u8]) {
        let from = self.place(offset, room.len());
        // SAFETY: within the pages.
        unsafe { ptr::copy_nonoverlapping(from, room.as_mut_ptr(), room.len()) };
    }

    /// Copies bytes to there.
    pub fn copy_in(&self, offset: usize, bytes: &[u8]) {
        let to = self.place(offset, bytes.len());
        // SAFETY: within the pages.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
    }

    /// Makes these bytes 0.
    pub fn clear(&self, offset: usize, length: usize) {
        let to = self.place(offset, length);
        // SAFETY: within the pages.
        unsafe { ptr::write_bytes(to, 0, length) };
    }

    /// A number that a device may change at any time; the offset is a multiple of its size.
    pub fn number(&self, offset: usize) -> &AtomicU64 {
        assert!(offset % size_of::<u64>() == 0, "not aligned");
        // SAFETY: within the pages, aligned, and any bytes are a number.
        unsafe { &*self.place(offset, size_of::<u64>()).cast::<AtomicU64>() }
    }

    /// Four bytes that a device has written; the offset is a multiple of four.
    pub fn half_number(&self, offset: usize) -> u32 {
        let whole = self.number(offset & !7).load(Ordering::Acquire).to_ne_bytes();
        let [a, b, c, d, e, f, g, h] = whole;
        u32::from_ne_bytes(if offset & 4 == 0 { [a, b, c, d] } else { [e, f, g, h] })
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's, and nobody uses it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_copied_in_is_found_there() {
        let pages = Pages::map(1).unwrap();
        assert_eq!(pages.length(), page());
        pages.copy_in(8, &[1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(pages.half_number(12), u32::from_ne_bytes([5, 6, 7, 8]));
        assert_eq!(pages.number(8).load(Ordering::Relaxed), u64::from_ne_bytes([1, 2, 3, 4, 5, 6, 7, 8]));
        pages.clear(8, 8);
        assert_eq!(pages.number(8).load(Ordering::Relaxed), 0);
    }
}
