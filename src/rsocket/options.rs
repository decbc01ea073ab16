// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What the application sets of a socket.

use super::config::{self, Sizes};
use super::link::Link;
use super::option_value::Value;
use super::paths;
use super::socket::{self, Socket, Stage};
use crate::cm::option;
use crate::ctypes::{RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, RDMA_OPTION_ID_REUSEADDR, RDMA_OPTION_ID_TOS};
use crate::errno::{Errno, Result};
use crate::sys::thread::uncancellable;
use libc::{IPPROTO_IP, IPPROTO_IPV6, IPPROTO_TCP, SOL_SOCKET, c_int};
use std::collections::BTreeMap;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Level of the options below.
pub const SOL_RDMA: c_int = 0x10000;
const RDMA_SQSIZE: c_int = 0;
const RDMA_RQSIZE: c_int = 1;
const RDMA_INLINE: c_int = 2;
const RDMA_IOMAPSIZE: c_int = 3;
const RDMA_ROUTE: c_int = 4;

/// Where the system's own default for keep-alive stands, in seconds.
const KEEP_IDLE_FILE: &str = "/proc/sys/net/ipv4/tcp_keepalive_time";
const KEEP_IDLE: u32 = 7200;

/// See the module.
#[derive(Clone)]
pub struct Options {
    /// Of the queues and buffers.
    pub sizes: Sizes,
    /// How long closing waits, if the application says.
    pub linger: Option<Duration>,
    /// How long calls wait to receive, and to send.
    pub receive_limit: Option<Duration>,
    /// See above.
    pub send_limit: Option<Duration>,
    /// Whether the peer is asked whether it is there.
    pub keep_alive: bool,
    /// When that happens next.
    pub next_knock: Option<Instant>,
    keep_idle: Option<u32>,
    /// No addresses of IPv4 on a socket of IPv6.
    pub v6_only: bool,
    /// Paths to use instead of those that are found.
    pub paths: Vec<u8>,
    /// Options without an effect, which are read back: by level and name.
    noted: BTreeMap<(c_int, c_int), c_int>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            sizes: config::get().sizes,
            linger: None,
            receive_limit: None,
            send_limit: None,
            keep_alive: false,
            next_knock: None,
            keep_idle: None,
            v6_only: false,
            paths: Vec::new(),
            noted: BTreeMap::new(),
        }
    }
}

impl Options {
    /// What a connection gets from its listener.
    pub fn inherited(&self) -> Options {
        Options { paths: Vec::new(), next_knock: None, ..self.clone() }
    }

    /// How long a peer may be silent.
    pub fn idle_time(&self) -> Duration {
        Duration::from_secs(u64::from(self.keep_idle.unwrap_or_else(system_idle_time)))
    }

    fn noted(&self, level: c_int, name: c_int, default: c_int) -> c_int {
        self.noted.get(&(level, name)).copied().unwrap_or(default)
    }
}

fn system_idle_time() -> u32 {
    let text = std::fs::read_to_string(KEEP_IDLE_FILE).ok();
    text.and_then(|text| text.trim().parse().ok()).unwrap_or(KEEP_IDLE)
}

/// Options that are accepted, change nothing, and are read back; with what they are before they are set.
fn noted_default(level: c_int, name: c_int) -> Option<c_int> {
    match (level, name) {
        (SOL_SOCKET, libc::SO_OOBINLINE | libc::SO_REUSEPORT | libc::SO_BROADCAST | libc::SO_PRIORITY) => {
            Some(0)
        }
        (SOL_SOCKET, libc::SO_RCVLOWAT) => Some(1),
        (IPPROTO_TCP, libc::TCP_NODELAY | libc::TCP_QUICKACK | libc::TCP_CORK | libc::TCP_DEFER_ACCEPT) => {
            Some(0)
        }
        (IPPROTO_TCP, libc::TCP_FASTOPEN | libc::TCP_USER_TIMEOUT) => Some(0),
        (IPPROTO_TCP, libc::TCP_KEEPCNT | libc::TCP_KEEPINTVL) => Some(1),
        _ => None,
    }
}

/// Sets an option. EINVAL for a value that is too short or cannot be, ENOPROTOOPT for an unknown option.
pub fn set(number: RawFd, level: c_int, name: c_int, value: &[u8]) -> Result<()> {
    let socket = socket::find(number)?;
    uncancellable(|| socket.set_option(level, name, value))
}

/// What an option is. EINVAL for too little room where that matters, ENOPROTOOPT for an unknown option.
pub fn get(number: RawFd, level: c_int, name: c_int) -> Result<Value> {
    let socket = socket::find(number)?;
    uncancellable(|| socket.option(level, name))
}

fn integer(value: &[u8]) -> Result<c_int> {
    value.first_chunk().map(|bytes| c_int::from_ne_bytes(*bytes)).ok_or(Errno::EINVAL)
}

/// `struct timeval`; 0 stands for no limit.
fn time(value: &[u8]) -> Result<Option<Duration>> {
    let (seconds, rest) = value.split_first_chunk().ok_or(Errno::EINVAL)?;
    let micros = i64::from_ne_bytes(*rest.first_chunk().ok_or(Errno::EINVAL)?);
    let seconds = i64::from_ne_bytes(*seconds);
    let micros = u32::try_from(micros).ok().filter(|micros| *micros < 1_000_000).ok_or(Errno::EINVAL)?;
    let limit = Duration::new(u64::try_from(seconds).unwrap_or(0), micros * 1000);
    Ok((!limit.is_zero()).then_some(limit))
}

impl Socket {
    fn set_option(self: &Arc<Socket>, level: c_int, name: c_int, value: &[u8]) -> Result<()> {
        match (level, name) {
            (SOL_RDMA, _) => return self.set_rdma_option(name, value),
            (SOL_SOCKET, libc::SO_REUSEADDR) => {
                let on = integer(value)?;
                self.set_id_option(RDMA_OPTION_ID_REUSEADDR, &on.to_ne_bytes())?;
                self.options.lock().noted.insert((level, name), (on != 0).into());
            }
            (IPPROTO_IP, libc::IP_TOS) => {
                let tos = integer(value)? as u8;
                self.set_id_option(RDMA_OPTION_ID_TOS, &[tos])?;
                self.options.lock().noted.insert((level, name), tos.into());
            }
            (IPPROTO_IPV6, libc::IPV6_V6ONLY) => {
                let on = integer(value)?;
                self.set_id_option(RDMA_OPTION_ID_AFONLY, &on.to_ne_bytes())?;
                self.options.lock().v6_only = on != 0;
            }
            (SOL_SOCKET, libc::SO_RCVBUF | libc::SO_SNDBUF) => {
                let size = config::buffer_size((integer(value)?.max(0) as u32).saturating_mul(2));
                let mut options = self.options.lock();
                // A buffer that is in use keeps its size.
                if self.link().is_none() && name == libc::SO_RCVBUF {
                    options.sizes.receive_buffer = size;
                } else if self.link().is_none() {
                    options.sizes.send_buffer = size;
                }
            }
            (SOL_SOCKET, libc::SO_LINGER) => {
                let on = integer(value)? != 0;
                let seconds = integer(value.get(size_of::<c_int>()..).unwrap_or_default())?;
                let limit = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
                self.options.lock().linger = on.then_some(limit);
            }
            (SOL_SOCKET, libc::SO_RCVTIMEO) => self.options.lock().receive_limit = time(value)?,
            (SOL_SOCKET, libc::SO_SNDTIMEO) => self.options.lock().send_limit = time(value)?,
            (SOL_SOCKET, libc::SO_KEEPALIVE) => {
                let on = integer(value)? != 0;
                self.options.lock().keep_alive = on;
                if on {
                    self.hub().keep_alive(self);
                }
            }
            (IPPROTO_TCP, libc::TCP_KEEPIDLE) => {
                let seconds = u32::try_from(integer(value)?).ok().filter(|seconds| *seconds > 0);
                let mut options = self.options.lock();
                options.keep_idle = Some(seconds.ok_or(Errno::EINVAL)?);
                options.next_knock = None;
                let on = options.keep_alive;
                drop(options);
                if on {
                    self.hub().keep_alive(self);
                }
            }
            (IPPROTO_TCP, libc::TCP_MAXSEG | libc::TCP_CONGESTION) => {}
            _ if noted_default(level, name).is_some() => {
                let value = integer(value)?;
                self.options.lock().noted.insert((level, name), value);
            }
            _ => return Err(Errno::ENOPROTOOPT),
        }
        Ok(())
    }

    /// Tells the kernel. Where it is too late for that, or the kernel knows no such option, the socket goes on without.
    fn set_id_option(&self, name: c_int, value: &[u8]) -> Result<()> {
        match option::set(self.id(), RDMA_OPTION_ID, name, value) {
            Err(_) if self.stage() != Stage::New => Ok(()),
            Err(error) if error.raw() == libc::ENOSYS => Ok(()),
            result => result,
        }
    }

    fn set_rdma_option(&self, name: c_int, value: &[u8]) -> Result<()> {
        if !matches!(self.stage(), Stage::New | Stage::Bound | Stage::Listening) {
            return Err(Errno::EINVAL);
        }
        let mut options = self.options.lock();
        if name == RDMA_ROUTE {
            options.paths = value.to_vec();
            return Ok(());
        }
        let wanted = u32::try_from(integer(value)?).map_err(|_| Errno::EINVAL)?;
        let small = wanted.min(config::QUEUE_MAX.into()) as u16;
        match name {
            RDMA_SQSIZE => options.sizes.send_queue = small,
            RDMA_RQSIZE => options.sizes.receive_queue = small,
            RDMA_INLINE => options.sizes.inline = small,
            RDMA_IOMAPSIZE => options.sizes.mappings = config::mapping_count(wanted),
            _ => return Err(Errno::ENOPROTOOPT),
        }
        Ok(())
    }

    fn option(&self, level: c_int, name: c_int) -> Result<Value> {
        let options = self.options.lock();
        let sizes = self.link().map_or(options.sizes, |link| *link.sizes());
        let number = match (level, name) {
            (SOL_SOCKET, libc::SO_ERROR) => {
                drop(options);
                self.take_error()
            }
            (SOL_SOCKET, libc::SO_TYPE) => libc::SOCK_STREAM,
            (SOL_SOCKET, libc::SO_DOMAIN) => self.family().into(),
            (SOL_SOCKET, libc::SO_PROTOCOL) => IPPROTO_TCP,
            (SOL_SOCKET, libc::SO_ACCEPTCONN) => (self.stage() == Stage::Listening).into(),
            (SOL_SOCKET, libc::SO_RCVBUF) => sizes.receive_buffer as c_int,
            (SOL_SOCKET, libc::SO_SNDBUF) => sizes.send_buffer as c_int,
            (SOL_SOCKET, libc::SO_KEEPALIVE) => options.keep_alive.into(),
            (SOL_SOCKET, libc::SO_REUSEADDR) | (IPPROTO_IP, libc::IP_TOS) => options.noted(level, name, 0),
            (SOL_SOCKET, libc::SO_LINGER) => {
                let seconds = options.linger.unwrap_or_default().as_secs();
                return Ok(Value::integers(&[options.linger.is_some().into(), seconds as c_int]));
            }
            (SOL_SOCKET, libc::SO_RCVTIMEO) => return Ok(Value::time(options.receive_limit)),
            (SOL_SOCKET, libc::SO_SNDTIMEO) => return Ok(Value::time(options.send_limit)),
            (IPPROTO_IPV6, libc::IPV6_V6ONLY) => options.v6_only.into(),
            (IPPROTO_TCP, libc::TCP_KEEPIDLE) => options.keep_idle.unwrap_or_else(system_idle_time) as c_int,
            (IPPROTO_TCP, libc::TCP_MAXSEG) => self.segment() as c_int,
            (IPPROTO_TCP, libc::TCP_CONGESTION) => return Ok(Value::text(b"rdma\0")),
            (IPPROTO_TCP, libc::TCP_INFO) => return Ok(Value::tcp_info(self.tcp_state(), sizes.send_queue)),
            (SOL_RDMA, RDMA_SQSIZE) => sizes.send_queue.into(),
            (SOL_RDMA, RDMA_RQSIZE) => sizes.receive_queue.into(),
            (SOL_RDMA, RDMA_INLINE) => sizes.inline.into(),
            (SOL_RDMA, RDMA_IOMAPSIZE) => sizes.mappings.into(),
            (SOL_RDMA, RDMA_ROUTE) if options.paths.is_empty() => {
                return Ok(Value::paths(paths::in_wire_form(&self.id().paths())));
            }
            (SOL_RDMA, RDMA_ROUTE) => return Ok(Value::whole(options.paths.clone())),
            _ => options.noted(level, name, noted_default(level, name).ok_or(Errno::ENOPROTOOPT)?),
        };
        Ok(Value::integers(&[number]))
    }

    /// Bytes of a packet.
    fn segment(&self) -> u32 {
        self.id().paths().first().map_or(2048, |path| 128 << path.mtu.min(5))
    }

    /// The state that TCP would be in.
    fn tcp_state(&self) -> u8 {
        const ESTABLISHED: u8 = 1;
        const SYN_SENT: u8 = 2;
        const CLOSE: u8 = 7;
        const CLOSE_WAIT: u8 = 8;
        const LISTEN: u8 = 10;
        match self.stage() {
            Stage::Listening => LISTEN,
            stage if stage.is_opening() => SYN_SENT,
            Stage::Connected if self.link().is_some_and(Link::is_half_closed) => CLOSE_WAIT,
            Stage::Connected if self.link().is_some_and(|link| !link.ends.is_over()) => ESTABLISHED,
            _ => CLOSE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let value = |seconds: i64, micros: i64| [seconds.to_ne_bytes(), micros.to_ne_bytes()].concat();
        assert_eq!(time(&value(0, 0)), Ok(None));
        assert_eq!(time(&value(1, 500_000)), Ok(Some(Duration::from_millis(1500))));
        assert_eq!(time(&value(1, 1_000_000)), Err(Errno::EINVAL));
        assert_eq!(time(&value(1, -1)), Err(Errno::EINVAL));
        assert_eq!(time(&[0; 15]), Err(Errno::EINVAL));
        assert_eq!(integer(&[1, 2, 3]), Err(Errno::EINVAL));
    }
}
