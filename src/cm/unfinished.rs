// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Steps of an id that the kernel has taken while the library could not do its own part, for lack of memory or the like.
//! The kernel does not take a step twice, and none back: the next attempt only does the rest.

use crate::errno::{Errno, Result};
use std::sync::atomic::{AtomicU8, Ordering};

/// The step of an id that is to be finished, if there is one.
#[derive(Default)]
pub struct Unfinished(AtomicU8);

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// To a local address.
    Bind = 1,
    /// To a listener.
    Listen = 2,
    /// From a destination to its address.
    ResolveAddress = 3,
    /// From an address to the route there.
    ResolveRoute = 4,
}

impl Unfinished {
    /// Takes a step: `command` is the kernel's part, of which it says EINVAL if it was done before. What `rest` returns,
    /// unless it fails.
    pub fn take<R>(
        &self,
        step: Step,
        command: impl FnOnce() -> Result<()>,
        rest: impl FnOnce() -> Result<R>,
    ) -> Result<R> {
        match command() {
            Err(Errno::EINVAL) if self.0.load(Ordering::Relaxed) == step as u8 => {}
            result => result?,
        }
        self.0.store(step as u8, Ordering::Relaxed);
        let done = rest()?;
        self.0.store(0, Ordering::Relaxed);
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_was_begun_is_finished() {
        let unfinished = Unfinished::default();
        let refused = || Err(Errno::EINVAL);
        assert_eq!(
            unfinished.take(Step::Bind, || Ok(()), || Err::<(), _>(Errno::ENOMEM)),
            Err(Errno::ENOMEM)
        );
        assert_eq!(unfinished.take(Step::Listen, refused, || Ok(())), Err(Errno::EINVAL));
        assert_eq!(unfinished.take(Step::Bind, refused, || Err::<(), _>(Errno::EMFILE)), Err(Errno::EMFILE));
        assert_eq!(unfinished.take(Step::Bind, refused, || Ok(())), Ok(()));
        assert_eq!(unfinished.take(Step::Bind, refused, || Ok(())), Err(Errno::EINVAL));
    }
}
