// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Diagnostics on standard error, off unless the environment variable `RDMACM_DEBUG` is set to something but 0.

use std::fmt;
use std::io::Write;
use std::sync::OnceLock;

/// Whether the user asked for diagnostics when the process started.
pub fn enabled() -> bool {
    static ENABLED: OnceLock<bool> = OnceLock::new();
    *ENABLED.get_or_init(|| std::env::var_os("RDMACM_DEBUG").is_some_and(|value| value != "0"))
}

/// Prints one line if diagnostics are on.
pub fn line(text: fmt::Arguments<'_>) {
    if enabled() {
        // A closed standard error is no reason to fail.
        let _ = writeln!(std::io::stderr(), "librdmacm: {text}");
    }
}
