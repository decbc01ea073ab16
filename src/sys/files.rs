// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Small files and folders, read without memory.

use crate::errno::{Errno, Result};
use nix::NixPath;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;
use nix::unistd;

/// Reads the beginning of a file, as much as there is room for; what was read.
pub fn read<'a>(path: &[u8], room: &'a mut [u8]) -> Result<&'a [u8]> {
    let file = open(path, OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty())?;
    let length = unistd::read(&file, room)?;
    room.get(..length).ok_or(Errno::EIO)
}

/// The number that a file begins with, if it does; ENOENT and so on without the file.
pub fn read_number(path: &[u8]) -> Result<Option<u32>> {
    let mut room = [0; 32];
    let text = std::str::from_utf8(read(path, &mut room)?).unwrap_or_default();
    Ok(text.split_whitespace().next().and_then(|word| word.parse().ok()))
}

/// Whether there is anything in a folder.
pub fn has_entries(path: &[u8]) -> Result<bool> {
    // SAFETY: the path ends with NUL. The folder is closed once; an entry is valid until then.
    path.with_nix_path(|path| unsafe {
        let folder = libc::opendir(path.as_ptr());
        if folder.is_null() {
            return Err(Errno::last());
        }
        let mut found = false;
        while let Some(entry) = libc::readdir(folder).as_ref() {
            // All but the folder itself and the one above it.
            found |= entry.d_name.first() != Some(&(b'.' as _));
        }
        libc::closedir(folder);
        Ok(found)
    })?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_found() {
        let mut room = [0; 4];
        assert_eq!(read(b"/proc/sys/kernel/ostype", &mut room), Ok(&b"Linu"[..]));
        assert_eq!(read(b"/no such file", &mut room), Err(Errno::ENOENT));
        assert!(read_number(b"/proc/sys/kernel/pid_max").unwrap().is_some());
        assert_eq!(read_number(b"/proc/sys/kernel/ostype"), Ok(None));
        assert_eq!(has_entries(b"/proc/self"), Ok(true));
        assert_eq!(has_entries(b"/no such folder"), Err(Errno::ENOENT));
    }
}
