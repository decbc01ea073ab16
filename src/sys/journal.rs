// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Where lines of diagnostics go: standard error, or a file.

use super::thread;
use crate::errno::Result;
use nix::fcntl::{OFlag, open as open_file};
use nix::sys::stat::{Mode, fstat};
use std::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, RawFd};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

static FILE: AtomicI32 = AtomicI32::new(libc::STDERR_FILENO);
/// What the file is: a program that closes all descriptors may get the number for a file of its own.
static DEVICE: AtomicU64 = AtomicU64::new(0);
static INODE: AtomicU64 = AtomicU64::new(0);

/// From now on lines go to the end of that file, which is made for this user alone unless it is there. ELOOP for a
/// symbolic link. Of several threads the first one decides.
pub fn open(path: &CStr) -> Result<()> {
    // A pipe that nobody reads is no reason to wait.
    let flags = OFlag::O_WRONLY
        | OFlag::O_APPEND
        | OFlag::O_CREAT
        | OFlag::O_NOFOLLOW
        | OFlag::O_CLOEXEC
        | OFlag::O_NOCTTY
        | OFlag::O_NONBLOCK;
    let file = open_file(path, flags, Mode::S_IRUSR | Mode::S_IWUSR)?;
    let status = fstat(&file)?;
    DEVICE.store(status.st_dev, Ordering::Relaxed);
    INODE.store(status.st_ino, Ordering::Relaxed);
    let first =
        FILE.compare_exchange(libc::STDERR_FILENO, file.as_raw_fd(), Ordering::Release, Ordering::Relaxed);
    if first.is_ok() {
        // It stays open: a process that is short of descriptors is to say so.
        let _ = file.into_raw_fd();
    }
    Ok(())
}

/// Writes a line. What cannot be written is lost. Neither ends the calling thread here, nor changes its errno.
pub fn write(line: &[u8]) {
    let file = FILE.load(Ordering::Acquire);
    thread::uncancellable(|| {
        // SAFETY: the address is that of the calling thread's errno, and the line is readable for its length.
        unsafe {
            let errno = *libc::__errno_location();
            if file == libc::STDERR_FILENO || is_ours(file) {
                libc::write(file, line.as_ptr().cast(), line.len());
            }
            *libc::__errno_location() = errno;
        }
    });
}

fn is_ours(file: RawFd) -> bool {
    // SAFETY: a number that is not open any more is an error, without effect.
    fstat(unsafe { BorrowedFd::borrow_raw(file) }).is_ok_and(|status| {
        status.st_dev == DEVICE.load(Ordering::Relaxed) && status.st_ino == INODE.load(Ordering::Relaxed)
    })
}
