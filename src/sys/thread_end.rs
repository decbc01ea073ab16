// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What is to be done when a thread ends, by itself or cancelled.

use crate::errno::{Errno, Result};
use std::ffi::c_void;
use std::ptr;
use std::sync::OnceLock;

/// A function that threads call when they end. Thread-local storage is still there then.
pub struct AtThreadEnd {
    call: unsafe extern "C" fn(*mut c_void),
    key: OnceLock<libc::pthread_key_t>,
}

impl AtThreadEnd {
    /// No thread calls it so far.
    pub const fn new(call: unsafe extern "C" fn(*mut c_void)) -> AtThreadEnd {
        AtThreadEnd { call, key: OnceLock::new() }
    }

    /// The calling thread will call it once. ENOMEM without the means to remember that.
    pub fn remember(&self) -> Result<()> {
        let key = match self.key.get() {
            Some(key) => *key,
            None => self.create()?,
        };
        // The value is not looked at, but a thread without one does not call.
        let value = ptr::from_ref(self).cast();
        // SAFETY: the key was created and is never deleted.
        if unsafe { libc::pthread_setspecific(key, value) } == 0 { Ok(()) } else { Err(Errno::ENOMEM) }
    }

    #[cold]
    fn create(&self) -> Result<libc::pthread_key_t> {
        let mut key = 0;
        // SAFETY: the key is a valid place; the function stays where it is, since the library is never unmapped.
        if unsafe { libc::pthread_key_create(&mut key, Some(self.call)) } != 0 {
            return Err(Errno::ENOMEM);
        }
        let first = *self.key.get_or_init(|| key);
        if first != key {
            // SAFETY: another thread was faster: nobody uses this one.
            unsafe { libc::pthread_key_delete(key) };
        }
        Ok(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    static CALLS: AtomicU32 = AtomicU32::new(0);
    static AT_END: AtThreadEnd = AtThreadEnd::new(call);

    unsafe extern "C" fn call(_: *mut c_void) {
        CALLS.fetch_add(1, Ordering::SeqCst);
    }

    #[test]
    fn it_is_called_once_by_each_thread_that_remembers() {
        for (remember, calls) in [(true, 1), (true, 2), (false, 2)] {
            std::thread::spawn(move || {
                if remember {
                    AT_END.remember().unwrap();
                    AT_END.remember().unwrap();
                }
            })
            .join()
            .unwrap();
            assert_eq!(CALLS.load(Ordering::SeqCst), calls);
        }
    }
}
