// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Memory of the application in pieces, which a call reads or fills from front to back.

use crate::errno::{Errno, Result};
use std::ffi::c_void;
use std::marker::PhantomData;
use std::slice;

/// Pieces, and how much of them is done.
pub struct Pieces<'a> {
    pieces: &'a [libc::iovec],
    /// Bytes of the first piece that are done.
    offset: usize,
    left: usize,
    lent: PhantomData<&'a mut [u8]>,
}

/// The only piece of a call that gets one.
pub fn single(place: *const c_void, length: usize) -> libc::iovec {
    libc::iovec { iov_base: place.cast_mut(), iov_len: length }
}

impl<'a> Pieces<'a> {
    /// EINVAL for more bytes than there can be, EFAULT for NULL.
    ///
    /// # Safety
    ///
    /// Each piece is NULL or that long, as long as the result is used; and writable, if it is to be filled.
    pub unsafe fn new(pieces: &'a [libc::iovec]) -> Result<Pieces<'a>> {
        let mut left = 0usize;
        for piece in pieces {
            left = left
                .checked_add(piece.iov_len)
                .filter(|sum| *sum <= isize::MAX as usize)
                .ok_or(Errno::EINVAL)?;
            if piece.iov_base.is_null() && piece.iov_len > 0 {
                return Err(Errno::EFAULT);
            }
        }
        Ok(Pieces { pieces, offset: 0, left, lent: PhantomData })
    }

    /// Bytes of this library, to be read; `list` is the place for their description.
    pub fn of_bytes(bytes: &'a [u8], list: &'a mut [libc::iovec; 1]) -> Pieces<'a> {
        *list = [single(bytes.as_ptr().cast(), bytes.len())];
        Pieces { pieces: list, offset: 0, left: bytes.len(), lent: PhantomData }
    }

    /// Bytes that are not done.
    pub fn left(&self) -> usize {
        self.left
    }

    /// The next run of at most `most` bytes, which is done then. Empty at the end.
    fn next(&mut self, most: usize) -> (*mut u8, usize) {
        while let Some((first, rest)) = self.pieces.split_first() {
            let length = (first.iov_len - self.offset).min(most);
            if first.iov_len == self.offset {
                (self.pieces, self.offset) = (rest, 0);
                continue;
            }
            let place = first.iov_base.cast::<u8>().wrapping_add(self.offset);
            self.offset += length;
            self.left -= length;
            return (place, length);
        }
        (std::ptr::null_mut(), 0)
    }

    /// Hands the next `length` bytes to `take`, in runs.
    pub fn read(&mut self, mut length: usize, mut take: impl FnMut(&[u8])) {
        while length > 0 {
            let (place, run) = self.next(length);
            if run == 0 {
                return;
            }
            // SAFETY: new()'s promise; next() stays within the piece.
            take(unsafe { slice::from_raw_parts(place, run) });
            length -= run;
        }
    }

    /// Has `fill` write the next `length` bytes, in runs: a place, which may be uninitialised, and its length.
    pub fn write(&mut self, mut length: usize, mut fill: impl FnMut(Room<'_>)) {
        while length > 0 {
            let (place, run) = self.next(length);
            if run == 0 {
                return;
            }
            fill(Room { place, length: run, lent: PhantomData });
            length -= run;
        }
    }
}

/// A place of the application's that is to be filled.
pub struct Room<'a> {
    place: *mut u8,
    length: usize,
    lent: PhantomData<&'a mut [u8]>,
}

impl Room<'_> {
    /// Bytes.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Fills the beginning with bytes.
    pub fn fill(&self, bytes: &[u8]) {
        let length = self.length.min(bytes.len());
        // SAFETY: within the room, which is the application's.
        unsafe { self.place.copy_from_nonoverlapping(bytes.as_ptr(), length) };
    }

    /// For the one who fills it.
    pub(super) fn as_mut_ptr(&self) -> *mut u8 {
        self.place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(bytes: &[u8]) -> libc::iovec {
        single(bytes.as_ptr().cast(), bytes.len())
    }

    #[test]
    fn pieces_are_read_in_order_across_empty_ones() {
        let list = [piece(b"abc"), piece(b""), piece(b"d"), piece(b"efgh")];
        // SAFETY: the pieces are constants.
        let mut pieces = unsafe { Pieces::new(&list) }.unwrap();
        let mut read = Vec::new();
        for step in [0, 2, 3, 1, 10] {
            pieces.read(step, |run| read.extend_from_slice(run));
        }
        assert_eq!(read, b"abcdefgh");
        assert_eq!(pieces.left(), 0);
    }

    #[test]
    fn too_much_and_nowhere_are_refused() {
        let nowhere = [single(std::ptr::null(), 1)];
        // SAFETY: nothing is read.
        assert_eq!(unsafe { Pieces::new(&nowhere) }.err(), Some(Errno::EFAULT));
        let huge = [single(b"x".as_ptr().cast(), usize::MAX), piece(b"yy")];
        // SAFETY: nothing is read.
        assert_eq!(unsafe { Pieces::new(&huge) }.err(), Some(Errno::EINVAL));
    }
}
