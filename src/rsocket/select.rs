// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! `select(2)` for sockets and other descriptors, in terms of `poll(2)`.

use super::poll;
use crate::errno::{Errno, Result};
use crate::sys::descriptor::Watch;
use crate::sys::memory;
use libc::{POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, POLLPRI, POLLRDNORM, POLLWRNORM, c_short};
use std::os::fd::RawFd;
use std::time::Duration;

/// The sets of a call, as bits of words.
pub struct Sets<'a> {
    /// To be read from.
    pub read: Option<&'a mut [u64]>,
    /// To be written to.
    pub write: Option<&'a mut [u64]>,
    /// With something out of the ordinary.
    pub except: Option<&'a mut [u64]>,
}

/// What each set asks for, and what puts a descriptor into it, as Linux has it.
const READ: (c_short, c_short) = (POLLIN, POLLIN | POLLRDNORM | POLLHUP | POLLERR);
const WRITE: (c_short, c_short) = (POLLOUT, POLLOUT | POLLWRNORM | POLLERR);
const EXCEPT: (c_short, c_short) = (POLLPRI, POLLPRI);

fn has(set: Option<&[u64]>, fd: usize) -> bool {
    set.and_then(|words| words.get(fd / 64)).is_some_and(|word| word >> (fd % 64) & 1 != 0)
}

/// Waits until a descriptor of the first `count` is ready; afterwards the sets hold those that are. Says how many bits
/// are set. EBADF if one is no descriptor.
pub fn select(count: usize, mut sets: Sets<'_>, limit: Option<Duration>) -> Result<usize> {
    let mut watches = Vec::new();
    for fd in 0..count {
        let mut events = 0;
        let mut is_in = false;
        for (set, (asked, _)) in [(&sets.read, READ), (&sets.write, WRITE), (&sets.except, EXCEPT)] {
            if has(set.as_deref(), fd) {
                events |= asked;
                is_in = true;
            }
        }
        if is_in {
            memory::push(&mut watches, Watch { fd: fd as RawFd, events, revents: 0 })?;
        }
    }
    poll::poll(&mut watches, limit)?;
    if watches.iter().any(|watch| watch.revents & POLLNVAL != 0) {
        return Err(Errno::EBADF);
    }
    let mut ready = 0;
    for (set, (asked, told)) in [(&mut sets.read, READ), (&mut sets.write, WRITE), (&mut sets.except, EXCEPT)]
    {
        let Some(words) = set else { continue };
        words.fill(0);
        for watch in watches.iter().filter(|watch| watch.events & asked != 0 && watch.revents & told != 0) {
            if let Some(word) = words.get_mut(watch.fd as usize / 64) {
                *word |= 1 << (watch.fd % 64);
                ready += 1;
            }
        }
    }
    Ok(ready)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::bell::Bell;

    #[test]
    fn the_sets_hold_what_is_ready_afterwards() {
        let bell = Bell::new().unwrap();
        let fd = bell.fd() as usize;
        let set = || {
            let mut words = [0u64; 16];
            words[fd / 64] = 1 << (fd % 64);
            words
        };
        let (mut read, mut write) = (set(), set());
        let sets = Sets { read: Some(&mut read), write: Some(&mut write), except: None };
        assert_eq!(select(fd + 1, sets, None), Ok(1));
        assert_eq!((read, write), ([0; 16], set()));
        bell.ring();
        let mut read = set();
        let sets = Sets { read: Some(&mut read), write: None, except: None };
        assert_eq!(select(fd + 1, sets, Some(Duration::ZERO)), Ok(1));
        assert_eq!(read, set());
    }
}
