// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What an option is, as bytes for the application.

use crate::ctypes::ibv_path_data;
use crate::errno::{Errno, Result};
use crate::sys::memory;
use std::ffi::c_int;
use std::time::Duration;

/// Where the state and the window stand in `struct tcp_info`, whose size is that of its first version.
const TCP_INFO: usize = 104;
const TCP_INFO_WINDOW: usize = 80;

/// See the module. Making one is ENOMEM without memory.
#[derive(Debug)]
pub struct Value {
    bytes: Vec<u8>,
    rule: Rule,
}

/// What happens where there is too little room.
#[derive(Debug, PartialEq, Eq)]
enum Rule {
    /// The application gets a part.
    Cut,
    /// It gets as many whole units as there is room for, but one at least.
    Units(usize),
    /// It gets nothing.
    Whole,
}

impl Value {
    /// Integers, one behind the other.
    pub fn integers(numbers: &[c_int]) -> Result<Value> {
        let bytes = memory::collect(numbers.iter().flat_map(|number| number.to_ne_bytes()))?;
        Ok(Value { bytes, rule: Rule::Cut })
    }

    /// `struct timeval`.
    pub fn time(limit: Option<Duration>) -> Result<Value> {
        let limit = limit.unwrap_or_default();
        let parts = [limit.as_secs() as i64, limit.subsec_micros().into()];
        let bytes = memory::collect(parts.iter().flat_map(|part| part.to_ne_bytes()))?;
        Ok(Value { bytes, rule: Rule::Cut })
    }

    /// A text with its end.
    pub fn text(text: &[u8]) -> Result<Value> {
        Ok(Value { bytes: memory::concat(&[text])?, rule: Rule::Cut })
    }

    /// `struct tcp_info`, of which only these are known.
    pub fn tcp_info(state: u8, window: u16) -> Result<Value> {
        let mut bytes = memory::zeros(TCP_INFO)?;
        for (place, byte) in bytes.iter_mut().zip([state]) {
            *place = byte;
        }
        for (place, byte) in bytes.iter_mut().skip(TCP_INFO_WINDOW).zip(u32::from(window).to_ne_bytes()) {
            *place = byte;
        }
        Ok(Value { bytes, rule: Rule::Cut })
    }

    /// Paths, as many as fit.
    pub fn paths(bytes: Vec<u8>) -> Value {
        Value { bytes, rule: Rule::Units(size_of::<ibv_path_data>()) }
    }

    /// Bytes that are of no use in parts.
    pub fn whole(bytes: Vec<u8>) -> Value {
        Value { bytes, rule: Rule::Whole }
    }

    /// As much as there is room for. EINVAL if that is too little.
    pub fn for_room(&self, room: usize) -> Result<&[u8]> {
        let most = match self.rule {
            Rule::Cut => room,
            Rule::Units(unit) if room < unit => return Err(Errno::EINVAL),
            Rule::Units(unit) => room - room % unit,
            Rule::Whole if room < self.bytes.len() => return Err(Errno::EINVAL),
            Rule::Whole => room,
        };
        Ok(self.bytes.get(..most).unwrap_or(&self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fit_their_room() {
        let integer = Value::integers(&[1]).unwrap();
        assert_eq!(integer.for_room(100), Ok(&1i32.to_ne_bytes()[..]));
        assert_eq!(integer.for_room(1).map(<[u8]>::len), Ok(1));
        assert_eq!(Value::whole(vec![1, 2, 3]).for_room(2), Err(Errno::EINVAL));
        let unit = size_of::<ibv_path_data>();
        let paths = Value::paths(vec![0; 3 * unit]);
        assert_eq!(paths.for_room(unit - 1), Err(Errno::EINVAL));
        assert_eq!(paths.for_room(2 * unit + 1).map(<[u8]>::len), Ok(2 * unit));
        assert_eq!(std::mem::offset_of!(libc::tcp_info, tcpi_snd_cwnd), TCP_INFO_WINDOW);
    }
}
