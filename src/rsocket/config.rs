// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Defaults that the administrator sets, in files as the C library has them.

use super::wire;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

const FOLDER: &str = "/etc/rdma/rsocket";
/// Smallest buffer of either kind, in bytes.
pub const BUFFER_MIN: u32 = 4096;
/// Largest buffer of either kind, in bytes: what SO_RCVBUF sets, doubled.
pub const BUFFER_MAX: u32 = 1 << 30;
/// Most sends or receives.
pub const QUEUE_MAX: u16 = 0xfffe;

/// Sizes of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Sends that can be outstanding.
    pub send_queue: u16,
    /// Messages that can be on their way here.
    pub receive_queue: u16,
    /// Bytes that are sent without the buffer.
    pub inline: u16,
    /// Bytes that can be on their way to the peer.
    pub send_buffer: u32,
    /// Bytes that the peer can send ahead.
    pub receive_buffer: u32,
    /// Mappings that the peer can offer.
    pub mappings: u16,
}

/// What the files say.
pub struct Config {
    /// Of a new socket.
    pub sizes: Sizes,
    /// How long a thread looks for itself before it sleeps.
    pub polling: Duration,
}

/// Read once.
pub fn get() -> &'static Config {
    static CONFIG: OnceLock<Config> = OnceLock::new();
    CONFIG.get_or_init(|| read(Path::new(FOLDER)))
}

fn read(folder: &Path) -> Config {
    let number = |name: &str| -> Option<u32> {
        let text = std::fs::read_to_string(folder.join(name)).ok()?;
        text.split_whitespace().next()?.parse().ok()
    };
    let small = |name, default| number(name).map_or(default, |value| value.min(QUEUE_MAX.into()) as u16);
    let buffer = |name, default| buffer_size(number(name).unwrap_or(default));
    Config {
        sizes: Sizes {
            send_queue: small("sqsize_default", 384),
            receive_queue: small("rqsize_default", 384),
            inline: small("inline_default", 64),
            send_buffer: buffer("wmem_default", 1 << 17),
            receive_buffer: buffer("mem_default", 1 << 17),
            mappings: mapping_count(small("iomap_size", 0).into()),
        },
        polling: Duration::from_micros(number("polling_time").unwrap_or(10).into()),
    }
}

/// A size that a buffer can have: even, as it has two halves.
pub fn buffer_size(wanted: u32) -> u32 {
    wanted.clamp(BUFFER_MIN, BUFFER_MAX) & !1
}

/// A number of mappings that a greeting can tell.
pub fn mapping_count(wanted: u32) -> u16 {
    wire::from_scale(wire::to_scale(u16::try_from(wanted).unwrap_or(u16::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_change_the_defaults() {
        let folder = std::env::temp_dir().join(format!("rdmacm-rsocket-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let defaults = read(&folder);
        assert_eq!((defaults.sizes.send_queue, defaults.sizes.receive_buffer), (384, 131_072));
        assert_eq!(defaults.polling, Duration::from_micros(10));
        for (name, text) in [
            ("sqsize_default", "100\n"),
            ("rqsize_default", "99999999999"),
            ("inline_default", "many"),
            ("mem_default", "1"),
            ("wmem_default", "8193 bytes"),
            ("iomap_size", "300"),
            ("polling_time", "0"),
        ] {
            std::fs::write(folder.join(name), text).unwrap();
        }
        let config = read(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
        let expected = Sizes {
            send_queue: 100,
            receive_queue: 384,
            inline: 64,
            send_buffer: 8192,
            receive_buffer: BUFFER_MIN,
            mappings: 256,
        };
        assert_eq!(config.sizes, expected);
        assert_eq!(config.polling, Duration::ZERO);
    }
}
