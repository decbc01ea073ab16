// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Calls that a signal does not end.

use crate::errno::{Errno, Result};

/// Makes the call again as long as it fails with EINTR.
pub fn restarted<T>(mut call: impl FnMut() -> Result<T>) -> Result<T> {
    loop {
        match call() {
            Err(Errno::EINTR) => {}
            result => return result,
        }
    }
}
