// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Diagnostics on standard error, off unless the environment variable `RDMACM_DEBUG` is set to something but 0.

use crate::sys::environment;
use std::fmt;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, OnceLock};
use std::time::Instant;

/// Whether the user asked for diagnostics when the process started.
pub fn enabled() -> bool {
    static ENABLED: OnceLock<bool> = OnceLock::new();
    *ENABLED.get_or_init(|| environment::read(c"RDMACM_DEBUG", |value| value != c"0").unwrap_or(false))
}

/// Prints one line if diagnostics are on.
pub fn line(text: fmt::Arguments<'_>) {
    if enabled() {
        // A closed standard error is no reason to fail.
        let _ = writeln!(std::io::stderr(), "librdmacm: {text}");
    }
}

/// For what may fail again and again: it says so once a second.
#[derive(Default)]
pub struct Seldom {
    /// The second after the last line.
    next: AtomicU64,
}

impl Seldom {
    /// Nothing was said so far.
    pub const fn new() -> Seldom {
        Seldom { next: AtomicU64::new(0) }
    }

    /// Prints one line if diagnostics are on, unless there was one in this second.
    pub fn line(&self, text: fmt::Arguments<'_>) {
        static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
        if enabled() && self.may_speak(BEGIN.elapsed().as_secs()) {
            line(text);
        }
    }

    fn may_speak(&self, second: u64) -> bool {
        self.next.fetch_max(second + 1, Ordering::Relaxed) <= second
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_second() {
        let seldom = Seldom::new();
        let spoken: Vec<u64> =
            [0, 0, 1, 1, 1, 5, 5, 6].into_iter().filter(|second| seldom.may_speak(*second)).collect();
        assert_eq!(spoken, [0, 1, 5, 6]);
    }
}
