// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The threads that wait for something to happen on a socket.
//!
//! An event of the completion channel wakes everybody who polls the descriptor, but only one thread can take it, and a
//! thread that was about to sleep would miss it. So taking is a turn that one thread has at a time: the reader. It may
//! block in there. All others sleep on wakers of their own, which the reader wakes when it has taken an event or goes
//! away. A thread takes its place before it looks whether it has to wait at all: nothing is missed.

use super::waker::Waker;
use crate::errno::Result;
use crate::sync::{Lock, Shared};
use crate::sys::memory;
use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Default)]
struct Inside {
    has_reader: bool,
    /// A thread was told of an event while another had the turn.
    is_called: bool,
    sleepers: Vec<Shared<Waker>>,
}

/// See the module.
#[derive(Default)]
pub struct Waiters {
    inside: Lock<Inside>,
    /// Events taken so far: one that was seen is still there if this has not changed.
    taken: AtomicU32,
}

impl Waiters {
    /// The calling thread becomes the reader. False if there is one.
    pub fn become_reader(&self) -> bool {
        let mut inside = self.inside.lock();
        !std::mem::replace(&mut inside.has_reader, true)
    }

    /// The same, for a thread that was told of an event, and will not be told again: a reader that there is looks for it
    /// when it leaves.
    pub fn become_reader_or_call(&self) -> bool {
        let mut inside = self.inside.lock();
        inside.is_called |= inside.has_reader;
        !std::mem::replace(&mut inside.has_reader, true)
    }

    /// The calling thread becomes the reader, if there is none and no event was taken since `seen`.
    pub fn become_reader_since(&self, seen: u32) -> bool {
        let mut inside = self.inside.lock();
        if inside.has_reader || self.taken() != seen {
            return false;
        }
        inside.has_reader = true;
        true
    }

    /// The reader leaves, with an event or without. Returns whether it has to look once more, for an event that another
    /// thread was told of meanwhile.
    #[must_use]
    pub fn stop_reading(&self, with_event: bool) -> bool {
        let mut inside = self.inside.lock();
        inside.has_reader = false;
        if with_event {
            self.taken.fetch_add(1, Ordering::SeqCst);
        }
        for sleeper in &inside.sleepers {
            sleeper.wake();
        }
        std::mem::take(&mut inside.is_called)
    }

    /// Whether some thread has the turn.
    pub fn has_reader(&self) -> bool {
        self.inside.lock().has_reader
    }

    /// Events taken so far; wraps.
    pub fn taken(&self) -> u32 {
        self.taken.load(Ordering::SeqCst)
    }

    /// The thread of the waker is woken from now on. ENOMEM without memory.
    pub fn sleep(&self, waker: &Shared<Waker>) -> Result<()> {
        memory::push(&mut self.inside.lock().sleepers, Shared::clone(waker))
    }

    /// Ends [`Waiters::sleep`].
    pub fn wake_up(&self, waker: &Shared<Waker>) {
        let mut inside = self.inside.lock();
        if let Some(position) = inside.sleepers.iter().position(|sleeper| Shared::is_same(sleeper, waker)) {
            inside.sleepers.swap_remove(position);
        }
    }

    /// Wakes all that sleep; the reader wakes by an event only. Returns whether there is one.
    pub fn wake_all(&self) -> bool {
        let inside = self.inside.lock();
        for sleeper in &inside.sleepers {
            sleeper.wake();
        }
        inside.has_reader
    }
}
