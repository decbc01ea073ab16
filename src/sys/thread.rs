// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The calling thread: its name, keeping it from being cancelled, and starting another.

use crate::errno::{Errno, Result};
use std::ffi::{CStr, c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;

pub use super::holder::{AtomicHolder, Token};

/// The token of the calling thread.
#[inline]
pub fn current() -> Token {
    // SAFETY: pthread_self has no precondition.
    Token(unsafe { libc::pthread_self() })
}

/// The kernel's number of the calling thread.
pub fn number() -> i32 {
    // SAFETY: gettid has no precondition.
    unsafe { libc::gettid() }
}

/// Whether there is a processor for another thread while the calling thread runs.
pub fn has_company() -> bool {
    let mut processors = MaybeUninit::<libc::cpu_set_t>::zeroed();
    // SAFETY: any bytes are a set, and it is as long as told.
    unsafe {
        let error = libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), processors.as_mut_ptr());
        // More processors than a set has room for.
        error != 0 || libc::CPU_COUNT(processors.assume_init_ref()) > 1
    }
}

unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
}
const PTHREAD_CANCEL_DISABLE: c_int = 1;

/// Does work that must not end in the middle: the calling thread cannot be cancelled meanwhile.
pub fn uncancellable<R>(work: impl FnOnce() -> R) -> R {
    let mut old = 0;
    // SAFETY: `old` is a valid place; the state given back is the one that was there.
    unsafe { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &mut old) };
    let result = work();
    // SAFETY: as above; the old value is not wanted.
    unsafe { pthread_setcancelstate(old, ptr::null_mut()) };
    result
}

/// Starts a thread of the library that nobody joins. Signals are the application's matter: it gets none. EAGAIN or
/// ENOMEM without the means for one.
pub fn start(name: &CStr, stack_bytes: usize, work: extern "C" fn(*mut c_void) -> *mut c_void) -> Result<()> {
    let mut attributes = MaybeUninit::uninit();
    let mut all = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    let mut thread = MaybeUninit::uninit();
    // SAFETY: all are valid places, initialised by the first call that gets them before another reads them. A new thread
    // has the mask of the one that starts it. The thread is named only while nobody can have reused its name: it was
    // not detached yet.
    let error = unsafe {
        let error = libc::pthread_attr_init(attributes.as_mut_ptr());
        if error != 0 {
            return Err(Errno::from_raw(error));
        }
        libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), stack_bytes);
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        let error = libc::pthread_create(thread.as_mut_ptr(), attributes.as_ptr(), work, ptr::null_mut());
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut());
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        if error == 0 {
            let thread = thread.assume_init();
            libc::pthread_setname_np(thread, name.as_ptr());
            libc::pthread_detach(thread);
        }
        error
    };
    if error == 0 { Ok(()) } else { Err(Errno::from_raw(error)) }
}
