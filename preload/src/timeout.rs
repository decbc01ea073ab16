// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Time that is left.

use libc::{c_int, timespec, timeval};

/// A time on the clock that is never set, in ns.
#[derive(Clone, Copy)]
pub struct Deadline(Option<i64>);

fn now() -> i64 {
    let mut time = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a valid place.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

impl Deadline {
    /// In so many ns.
    fn after(ns: i64) -> Deadline {
        Deadline(Some(now().saturating_add(ns)))
    }

    /// In so many ms; never, if that is negative.
    pub fn after_ms(ms: c_int) -> Deadline {
        if ms < 0 { Deadline(None) } else { Deadline::after(i64::from(ms) * 1_000_000) }
    }

    /// NULL stands for never.
    ///
    /// # Safety
    ///
    /// NULL or valid.
    pub unsafe fn after_timespec(time: *const timespec) -> Deadline {
        // SAFETY: the caller's promise.
        unsafe { time.as_ref() }.map_or(Deadline(None), |time| {
            Deadline::after(time.tv_sec.saturating_mul(1_000_000_000).saturating_add(time.tv_nsec))
        })
    }

    /// NULL stands for never.
    ///
    /// # Safety
    ///
    /// NULL or valid.
    pub unsafe fn after_timeval(time: *const timeval) -> Deadline {
        // SAFETY: the caller's promise.
        unsafe { time.as_ref() }.map_or(Deadline(None), |time| {
            Deadline::after(
                time.tv_sec.saturating_mul(1_000_000_000).saturating_add(time.tv_usec.saturating_mul(1000)),
            )
        })
    }

    /// Whether it is too late.
    pub fn is_over(&self) -> bool {
        self.left_ns() == Some(0)
    }

    fn left_ns(&self) -> Option<i64> {
        self.0.map(|end| end.saturating_sub(now()).max(0))
    }

    /// How many ms are left, no part of one left out; -1 for no end.
    pub fn left_ms(&self) -> c_int {
        self.left_ns().map_or(-1, |ns| c_int::try_from((ns + 999_999) / 1_000_000).unwrap_or(c_int::MAX))
    }

    /// What is left of `time`, after it. Nothing for no end.
    pub fn left_timeval(&self) -> Option<timeval> {
        self.left_ns().map(|ns| timeval { tv_sec: ns / 1_000_000_000, tv_usec: ns % 1_000_000_000 / 1000 })
    }

    /// The same as `struct timespec`.
    pub fn left_timespec(&self) -> Option<timespec> {
        self.left_ns().map(|ns| timespec { tv_sec: ns / 1_000_000_000, tv_nsec: ns % 1_000_000_000 })
    }
}
