// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Diagnostics, off unless the environment variable `RDMACM_LOG` asks for them: `LEVEL[,FILE]`.
//!
//! A line is made on the stack and written at once, by a single call, with no lock held: it takes no memory, and a process
//! may fork at any time.

use crate::sys::{clock, environment, journal, process, thread};
use std::ffi::CStr;
use std::fmt::{self, Write};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// What is said; each includes those above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Level {
    /// Nothing.
    Off,
    /// Calls that failed, why, and what is waited for.
    Error,
    /// Events as well.
    Event,
    /// Commands to the kernel as well.
    Command,
}

/// Nobody has looked into the environment yet.
const UNREAD: u8 = u8::MAX;

static LEVEL: AtomicU8 = AtomicU8::new(UNREAD);

/// Most bytes of a line.
const LINE_MAX: usize = 512;

/// Whether the user asked for what has that level. While diagnostics are off this is a load and a branch.
#[inline]
pub fn wants(level: Level) -> bool {
    LEVEL.load(Ordering::Relaxed) >= level as u8 && really_wants(level)
}

#[cold]
#[inline(never)]
fn really_wants(level: Level) -> bool {
    let mut wanted = LEVEL.load(Ordering::Relaxed);
    if wanted == UNREAD {
        wanted = begin() as u8;
        // Several threads may come here at once; all of them read the same.
        LEVEL.store(wanted, Ordering::Relaxed);
    }
    wanted >= level as u8
}

/// Whether the user asked for diagnostics at all.
#[inline]
pub fn enabled() -> bool {
    wants(Level::Error)
}

/// Prints one line if diagnostics are on.
pub fn line(text: fmt::Arguments<'_>) {
    if enabled() {
        print(text);
    }
}

/// What a function or a type is called, without the modules that it is in.
pub fn last_name(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

fn begin() -> Level {
    environment::read_secure(c"RDMACM_LOG", |value| {
        let Some(Wish { level, known, file }) = Wish::of(value) else { return Level::Off };
        let opened = file.map_or(Ok(()), journal::open);
        if !known {
            print(format_args!("RDMACM_LOG: the levels are error, event and command"));
        }
        if let (Err(error), Some(file)) = (opened, file) {
            print(format_args!("RDMACM_LOG: {}: {error:?}", file.to_bytes().escape_ascii()));
        }
        level
    })
    .unwrap_or(Level::Off)
}

/// What the variable says.
#[derive(Debug, PartialEq, Eq)]
struct Wish<'a> {
    level: Level,
    /// Whether there is such a level.
    known: bool,
    file: Option<&'a CStr>,
}

impl Wish<'_> {
    /// None for an empty value and 0.
    fn of(value: &CStr) -> Option<Wish<'_>> {
        let bytes = value.to_bytes_with_nul();
        let mut parts = value.to_bytes().splitn(2, |byte| *byte == b',');
        let word = parts.next().unwrap_or_default();
        let file = parts.next().filter(|file| !file.is_empty()).and_then(|_| {
            // With its NUL.
            bytes.get(word.len() + 1..).and_then(|file| CStr::from_bytes_with_nul(file).ok())
        });
        let (level, known) = match word {
            b"" | b"0" => return None,
            b"error" | b"1" => (Level::Error, true),
            b"event" | b"2" => (Level::Event, true),
            b"command" | b"3" => (Level::Command, true),
            _ => (Level::Error, false),
        };
        Some(Wish { level, known, file })
    }
}

fn print(text: fmt::Arguments<'_>) {
    let mut line = Line { bytes: [0; LINE_MAX], length: 0 };
    let now = clock::now();
    // What has no room is left out.
    let _ = write!(
        line,
        "librdmacm[{}:{}] {}.{:03} {text}",
        process::id(),
        thread::number(),
        now.as_secs(),
        now.subsec_millis()
    );
    journal::write(line.end());
}

/// A line that grows, without memory.
struct Line {
    bytes: [u8; LINE_MAX],
    length: usize,
}

impl Line {
    /// With its end, for which there always is room.
    fn end(&mut self) -> &[u8] {
        if let Some(byte) = self.bytes.get_mut(self.length) {
            *byte = b'\n';
        }
        self.bytes.get(..=self.length).unwrap_or_default()
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            match self.bytes.get_mut(self.length) {
                Some(place) if self.length < LINE_MAX - 1 => *place = byte,
                _ => return Err(fmt::Error),
            }
            self.length += 1;
        }
        Ok(())
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
        if enabled() && self.may_speak(clock::now().as_secs()) {
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

    #[test]
    fn a_wish_is_a_level_and_perhaps_a_file() {
        let wish = |level, known, file| Some(Wish { level, known, file });
        assert_eq!(Wish::of(c""), None);
        assert_eq!(Wish::of(c"0"), None);
        assert_eq!(Wish::of(c",file"), None);
        assert_eq!(Wish::of(c"error"), wish(Level::Error, true, None));
        assert_eq!(Wish::of(c"2"), wish(Level::Event, true, None));
        assert_eq!(Wish::of(c"command,"), wish(Level::Command, true, None));
        assert_eq!(Wish::of(c"event,/a,b"), wish(Level::Event, true, Some(c"/a,b")));
        assert_eq!(Wish::of(c"all,x"), wish(Level::Error, false, Some(c"x")));
    }

    #[test]
    fn what_has_no_room_is_left_out() {
        let mut line = Line { bytes: [0; LINE_MAX], length: 0 };
        assert!(write!(line, "{}", "x".repeat(LINE_MAX + 1)).is_err());
        assert!(line.write_str("y").is_err());
        assert_eq!(line.end(), format!("{}\n", "x".repeat(LINE_MAX - 1)).as_bytes());
        let mut line = Line { bytes: [0; LINE_MAX], length: 0 };
        line.write_str("short").unwrap();
        assert_eq!(line.end(), b"short\n");
    }

    #[test]
    fn names_are_told_without_their_modules() {
        assert_eq!(last_name("rdmacm::capi::id::rdma_create_id"), "rdma_create_id");
        assert_eq!(last_name("alone"), "alone");
    }
}
