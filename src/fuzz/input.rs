// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Values out of bytes that the fuzzer makes up.

/// Bytes that are used up from the front; then zeros follow.
#[derive(Default)]
pub struct Input(std::vec::IntoIter<u8>);

impl Input {
    /// All of these bytes.
    pub fn new(bytes: &[u8]) -> Input {
        Input(Vec::from(bytes).into_iter())
    }

    /// Whether only zeros are left.
    pub fn is_empty(&self) -> bool {
        self.0.as_slice().is_empty()
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        self.0.next().unwrap_or(0)
    }

    /// The next bytes.
    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.byte())
    }

    /// The next bytes, as many as there are.
    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        self.0.by_ref().take(length).collect()
    }

    /// The next bytes, as many as the first of them says.
    pub fn counted(&mut self) -> Vec<u8> {
        let length = self.byte().into();
        self.bytes(length)
    }

    /// One of them; None if there is none.
    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> Option<T> {
        let choice = usize::from(self.byte());
        choices.get(choice.checked_rem(choices.len())?).copied()
    }
}
