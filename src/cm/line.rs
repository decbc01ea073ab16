// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Open events in a line. Each knows the next one, so that a line takes no memory and nobody can be turned away.

use super::event::Handed;

/// Events in the order in which they came.
#[derive(Default)]
pub struct Line {
    first: Option<Handed>,
    last: Option<Handed>,
}

impl Line {
    /// Whether nobody is in it.
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// The event goes to the end. It is in no line.
    pub fn push(&mut self, event: Handed) {
        event.put_behind(None);
        match self.last.replace(event) {
            Some(last) => drop(last.put_behind(Some(event))),
            None => self.first = Some(event),
        }
    }

    /// Takes out the first event that is wanted.
    pub fn take(&mut self, is_wanted: impl Fn(&Handed) -> bool) -> Option<Handed> {
        let (mut before, mut here) = (None, self.first?);
        while !is_wanted(&here) {
            before = Some(here);
            here = here.behind()?;
        }
        let behind = here.put_behind(None);
        match before {
            Some(before) => drop(Handed::put_behind(before, behind)),
            None => self.first = behind,
        }
        if behind.is_none() {
            self.last = before;
        }
        Some(here)
    }
}
