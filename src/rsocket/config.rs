// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Defaults that the administrator sets, in files as the C library has them.

use super::wire;
use crate::errno::{Errno, Result};
use crate::sys::{files, memory, thread};
use std::sync::OnceLock;
use std::time::Duration;

const FOLDER: &[u8] = b"/etc/rdma/rsocket/";
/// Smallest buffer of either kind, in bytes.
pub const BUFFER_MIN: u32 = 4096;
/// Largest buffer of either kind, in bytes: what SO_RCVBUF sets, doubled.
pub const BUFFER_MAX: u32 = 1 << 30;
/// Fewest sends or receives.
pub const QUEUE_MIN: u16 = 16;
/// Most sends or receives.
pub const QUEUE_MAX: u16 = 0xfffe;

/// Most sends or receives on a device with that limit. ENODEV if it has too few.
pub fn queue_max(limit: u32) -> Result<u16> {
    let most = u16::try_from(limit).unwrap_or(QUEUE_MAX).min(QUEUE_MAX);
    if most < QUEUE_MIN { Err(Errno::ENODEV) } else { Ok(most) }
}

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
    /// How long a thread looks for itself before it sleeps. On the only processor there is nothing to be found: what the
    /// thread waits for does not run meanwhile.
    pub polling: Duration,
}

static CONFIG: OnceLock<Config> = OnceLock::new();

/// For as long as the files were not read.
static DEFAULTS: Config = Config {
    sizes: Sizes {
        send_queue: 384,
        receive_queue: 384,
        inline: 64,
        send_buffer: 1 << 17,
        receive_buffer: 1 << 17,
        mappings: 0,
    },
    polling: Duration::from_micros(10),
};

/// What the files say, or would say: who makes a socket has read them.
pub fn get() -> &'static Config {
    CONFIG.get().unwrap_or(&DEFAULTS)
}

/// Reads the files, once. ENOMEM, EMFILE or ENFILE if that cannot be done now.
pub fn prepare() -> Result<()> {
    if CONFIG.get().is_none() {
        let mut config = read(FOLDER)?;
        if !thread::has_company() {
            config.polling = Duration::ZERO;
        }
        let _ = CONFIG.set(config);
    }
    Ok(())
}

fn read(folder: &[u8]) -> Result<Config> {
    let number = |name: &[u8]| match files::read_number(&memory::concat(&[folder, name])?) {
        Err(error) if error.is_passing() => Err(error),
        result => Ok(result.ok().flatten()),
    };
    let small = |name, default: u16| -> Result<u16> {
        Ok(number(name)?.map_or(default, |value| value.min(QUEUE_MAX.into()) as u16))
    };
    let buffer = |name, default| -> Result<u32> { Ok(buffer_size(number(name)?.unwrap_or(default))) };
    let Sizes { send_queue, receive_queue, inline, send_buffer, receive_buffer, mappings } = DEFAULTS.sizes;
    let polling = number(b"polling_time")?.map(|micros| Duration::from_micros(micros.into()));
    Ok(Config {
        sizes: Sizes {
            send_queue: small(b"sqsize_default", send_queue)?,
            receive_queue: small(b"rqsize_default", receive_queue)?,
            inline: small(b"inline_default", inline)?,
            send_buffer: buffer(b"wmem_default", send_buffer)?,
            receive_buffer: buffer(b"mem_default", receive_buffer)?,
            mappings: mapping_count(small(b"iomap_size", mappings)?.into()),
        },
        polling: polling.unwrap_or(DEFAULTS.polling),
    })
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
        let path = format!("{}/", folder.display());
        let defaults = read(path.as_bytes()).unwrap();
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
        let config = read(path.as_bytes()).unwrap();
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
