// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Waiting for a descriptor.

use std::os::fd::RawFd;
use std::time::Duration;

/// Whether the descriptor becomes readable within a time. A signal ends the wait early.
pub fn readable(fd: RawFd, limit: Duration) -> bool {
    let mut entry = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let limit = libc::timespec {
        tv_sec: limit.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_nsec: limit.subsec_nanos().into(),
    };
    // SAFETY: one entry is given, and the other pointers are valid or NULL.
    unsafe { libc::ppoll(&mut entry, 1, &limit, std::ptr::null()) > 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn readable_when_there_is_something() {
        let (reader, mut writer) = UnixStream::pair().unwrap();
        assert!(!readable(reader.as_raw_fd(), Duration::from_millis(1)));
        writer.write_all(b"x").unwrap();
        assert!(readable(reader.as_raw_fd(), Duration::ZERO));
    }
}
