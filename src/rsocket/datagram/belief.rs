// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What is believed of a destination: the number of its queue pair. Anybody can send a notice in another's name. The first
//! one is believed, as there is nothing better; another number only when the destination answers what was sent to it, or a
//! message comes from just that queue pair.

use std::time::{Duration, Instant};

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// See the module.
#[derive(Default)]
pub struct Belief {
    /// None before anything was told.
    number: Option<u32>,
    /// How much was sent by notice and is not answered yet, and when the last was.
    asked: (u32, Option<Instant>),
    /// Another number, which somebody has told, and when.
    claim: Option<(u32, Instant)>,
}

impl Belief {
    /// The number that messages go to; None while it is not known or in doubt: then they go by notice.
    pub fn number(&mut self, now: Instant) -> Option<u32> {
        if self.claim.is_some_and(|(_, since)| now.duration_since(since) >= PATIENCE) {
            self.claim = None;
        }
        self.number.filter(|_| self.claim.is_none())
    }

    /// Something goes by notice, which will be answered.
    pub fn ask(&mut self, now: Instant) {
        let count = if self.is_recent(now) { self.asked.0.saturating_add(1) } else { 1 };
        self.asked = (count, Some(now));
    }

    fn is_recent(&self, now: Instant) -> bool {
        self.asked.1.is_some_and(|last| now.duration_since(last) < PATIENCE)
    }

    /// A notice tells a number.
    pub fn hear(&mut self, number: u32, is_answer: bool, now: Instant) {
        let is_wanted = is_answer && self.asked.0 > 0 && self.is_recent(now);
        if is_answer {
            self.asked.0 = self.asked.0.saturating_sub(1);
        }
        if self.number.is_none_or(|known| known == number) || is_wanted {
            self.number = Some(number);
            self.claim = None;
        } else if self.claim.is_none() {
            self.claim = Some((number, now));
        }
    }

    /// A message has come from a queue pair: if somebody has told of just that one, it is true.
    pub fn confirm(&mut self, number: u32) {
        if self.claim.is_some_and(|(claimed, _)| claimed == number) {
            self.number = Some(number);
            self.claim = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn believing(number: u32) -> (Belief, Instant) {
        let now = Instant::now();
        let mut belief = Belief::default();
        assert_eq!(belief.number(now), None);
        belief.hear(number, false, now);
        assert_eq!(belief.number(now), Some(number));
        (belief, now)
    }

    #[test]
    fn another_number_is_only_doubt_for_a_while() {
        for is_answer in [false, true] {
            let (mut belief, now) = believing(5);
            belief.hear(6, is_answer, now);
            assert_eq!(belief.number(now), None);
            assert_eq!(belief.number(now + PATIENCE), Some(5));
        }
    }

    #[test]
    fn an_answer_decides_once() {
        let (mut belief, now) = believing(5);
        belief.hear(6, false, now);
        belief.ask(now);
        belief.hear(6, true, now);
        assert_eq!(belief.number(now), Some(6));
        belief.hear(7, true, now);
        assert_eq!(belief.number(now), None);
        belief.ask(now);
        belief.hear(6, true, now);
        assert_eq!(belief.number(now), Some(6));
    }

    #[test]
    fn a_late_answer_is_none() {
        let (mut belief, now) = believing(5);
        belief.ask(now);
        belief.hear(6, true, now + PATIENCE);
        assert_eq!(belief.number(now + PATIENCE), None);
        assert_eq!(belief.number(now + PATIENCE * 2), Some(5));
    }

    #[test]
    fn a_message_confirms_only_what_was_claimed() {
        let (mut belief, now) = believing(5);
        belief.confirm(6);
        assert_eq!(belief.number(now), Some(5));
        belief.hear(7, false, now);
        belief.confirm(6);
        assert_eq!(belief.number(now), None);
        belief.confirm(7);
        assert_eq!(belief.number(now), Some(7));
    }
}
