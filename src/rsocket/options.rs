// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What the application sets of a socket.

use super::config::{self, Sizes};
use super::datagram::Datagram;
use super::link::Link;
use super::option_value::Value;
use super::paths;
use super::socket::{self, Socket};
use super::stage::Stage;
use crate::cm::option;
use crate::ctypes::{
    RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, RDMA_OPTION_ID_REUSEADDR, RDMA_OPTION_ID_TOS, ibv_sa_path_rec,
};
use crate::errno::{Errno, Result};
use crate::sync::Shared;
use crate::sys::thread::uncancellable;
use crate::sys::{files, memory};
use libc::{IPPROTO_IP, IPPROTO_IPV6, IPPROTO_TCP, SOL_SOCKET, c_int};
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

/// Level of the options below.
pub const SOL_RDMA: c_int = 0x10000;
const RDMA_SQSIZE: c_int = 0;
const RDMA_RQSIZE: c_int = 1;
const RDMA_INLINE: c_int = 2;
const RDMA_IOMAPSIZE: c_int = 3;
const RDMA_ROUTE: c_int = 4;

/// Where the system's own default for keep-alive stands, in seconds.
const KEEP_IDLE_FILE: &[u8] = b"/proc/sys/net/ipv4/tcp_keepalive_time";
const KEEP_IDLE: u32 = 7200;

/// See the module.
#[derive(Clone, Copy)]
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
    reuse_address: bool,
    type_of_service: u8,
    /// What [`NOTED`] lists, in that order.
    noted: [c_int; NOTED.len()],
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
            reuse_address: false,
            type_of_service: 0,
            noted: NOTED.map(|(_, _, default)| default),
        }
    }
}

impl Options {
    /// What a connection gets from its listener.
    pub fn inherited(&self) -> Options {
        Options { next_knock: None, ..*self }
    }

    /// What IP_TOS has set.
    pub fn type_of_service(&self) -> u8 {
        self.type_of_service
    }

    /// How long a peer may be silent.
    pub fn idle_time(&self) -> Duration {
        Duration::from_secs(u64::from(self.keep_idle.unwrap_or_else(system_idle_time)))
    }

    /// An option without an effect. ENOPROTOOPT if it is none.
    fn noted(&mut self, level: c_int, name: c_int) -> Result<&mut c_int> {
        let mut all = NOTED.iter().zip(&mut self.noted);
        let found = all.find(|((its_level, its_name, _), _)| (*its_level, *its_name) == (level, name));
        found.map(|(_, value)| value).ok_or(Errno::ENOPROTOOPT)
    }
}

fn system_idle_time() -> u32 {
    files::read_number(KEEP_IDLE_FILE).ok().flatten().unwrap_or(KEEP_IDLE)
}

/// Options that are accepted, change nothing, and are read back: level, name, and what they are before they are set.
const NOTED: [(c_int, c_int, c_int); 13] = [
    (SOL_SOCKET, libc::SO_OOBINLINE, 0),
    (SOL_SOCKET, libc::SO_REUSEPORT, 0),
    (SOL_SOCKET, libc::SO_BROADCAST, 0),
    (SOL_SOCKET, libc::SO_PRIORITY, 0),
    (SOL_SOCKET, libc::SO_RCVLOWAT, 1),
    (IPPROTO_TCP, libc::TCP_NODELAY, 0),
    (IPPROTO_TCP, libc::TCP_QUICKACK, 0),
    (IPPROTO_TCP, libc::TCP_CORK, 0),
    (IPPROTO_TCP, libc::TCP_DEFER_ACCEPT, 0),
    (IPPROTO_TCP, libc::TCP_FASTOPEN, 0),
    (IPPROTO_TCP, libc::TCP_USER_TIMEOUT, 0),
    (IPPROTO_TCP, libc::TCP_KEEPCNT, 1),
    (IPPROTO_TCP, libc::TCP_KEEPINTVL, 1),
];

/// Sets an option. EINVAL for a value that is too short or cannot be, ENOPROTOOPT for an unknown option.
pub fn set(number: RawFd, level: c_int, name: c_int, value: &[u8]) -> Result<()> {
    let socket = socket::find(number)?;
    uncancellable(|| Socket::set_option(&socket, level, name, value))
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
    fn set_option(socket: &Shared<Socket>, level: c_int, name: c_int, value: &[u8]) -> Result<()> {
        if let Some(datagram) = socket.datagram() {
            if level == IPPROTO_TCP {
                return Err(Errno::ENOPROTOOPT);
            }
            if let (
                (SOL_SOCKET, libc::SO_REUSEADDR | libc::SO_REUSEPORT | libc::SO_BROADCAST)
                | (IPPROTO_IPV6, libc::IPV6_V6ONLY),
                Ok(on),
            ) = ((level, name), integer(value))
            {
                datagram.udp().set(level, name, on)?;
            }
        }
        match (level, name) {
            (SOL_RDMA, _) => return socket.set_rdma_option(name, value),
            (SOL_SOCKET, libc::SO_REUSEADDR) => {
                let on = integer(value)?;
                socket.set_id_option(RDMA_OPTION_ID_REUSEADDR, &on.to_ne_bytes())?;
                socket.options.lock().reuse_address = on != 0;
            }
            (IPPROTO_IP, libc::IP_TOS) => {
                let tos = integer(value)? as u8;
                socket.set_id_option(RDMA_OPTION_ID_TOS, &[tos])?;
                socket.options.lock().type_of_service = tos;
            }
            (IPPROTO_IPV6, libc::IPV6_V6ONLY) => {
                let on = integer(value)?;
                socket.set_id_option(RDMA_OPTION_ID_AFONLY, &on.to_ne_bytes())?;
                socket.options.lock().v6_only = on != 0;
            }
            (SOL_SOCKET, libc::SO_RCVBUF | libc::SO_SNDBUF) => {
                let size = config::buffer_size((integer(value)?.max(0) as u32).saturating_mul(2));
                let mut options = socket.options.lock();
                // A buffer that is in use keeps its size.
                let is_used = socket.link().is_some() || socket.datagram().is_some_and(Datagram::has_queues);
                if !is_used && name == libc::SO_RCVBUF {
                    options.sizes.receive_buffer = size;
                } else if !is_used {
                    options.sizes.send_buffer = size;
                }
            }
            (SOL_SOCKET, libc::SO_LINGER) => {
                let on = integer(value)? != 0;
                let seconds = integer(value.get(size_of::<c_int>()..).unwrap_or_default())?;
                let limit = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
                socket.options.lock().linger = on.then_some(limit);
            }
            (SOL_SOCKET, libc::SO_RCVTIMEO) => socket.options.lock().receive_limit = time(value)?,
            (SOL_SOCKET, libc::SO_SNDTIMEO) => socket.options.lock().send_limit = time(value)?,
            (SOL_SOCKET, libc::SO_KEEPALIVE) => {
                let on = integer(value)? != 0;
                socket.options.lock().keep_alive = on;
                // A datagram socket has no peer to keep.
                if on && socket.datagram().is_none() {
                    socket.hub().keep_alive(socket);
                }
            }
            (IPPROTO_TCP, libc::TCP_KEEPIDLE) => {
                let seconds = u32::try_from(integer(value)?).ok().filter(|seconds| *seconds > 0);
                let mut options = socket.options.lock();
                options.keep_idle = Some(seconds.ok_or(Errno::EINVAL)?);
                options.next_knock = None;
                let on = options.keep_alive;
                drop(options);
                if on {
                    socket.hub().keep_alive(socket);
                }
            }
            (IPPROTO_TCP, libc::TCP_MAXSEG | libc::TCP_CONGESTION) => {}
            _ => *socket.options.lock().noted(level, name)? = integer(value)?,
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
        if name == RDMA_ROUTE {
            self.attempt.lock().paths = memory::concat(&[value])?;
            return Ok(());
        }
        let mut options = self.options.lock();
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
        if (level, name) == (SOL_RDMA, RDMA_ROUTE) {
            return self.route();
        }
        let mut options = self.options.lock();
        let sizes = self.link().map_or(options.sizes, |link| *link.sizes());
        let number = match (level, name) {
            (SOL_SOCKET, libc::SO_ERROR) => {
                drop(options);
                self.take_error()
            }
            (IPPROTO_TCP, _) if self.datagram().is_some() => return Err(Errno::ENOPROTOOPT),
            (SOL_SOCKET, libc::SO_TYPE) if self.datagram().is_some() => libc::SOCK_DGRAM,
            (SOL_SOCKET, libc::SO_PROTOCOL) if self.datagram().is_some() => libc::IPPROTO_UDP,
            (SOL_SOCKET, libc::SO_TYPE) => libc::SOCK_STREAM,
            (SOL_SOCKET, libc::SO_DOMAIN) => self.family().into(),
            (SOL_SOCKET, libc::SO_PROTOCOL) => IPPROTO_TCP,
            (SOL_SOCKET, libc::SO_ACCEPTCONN) => (self.stage() == Stage::Listening).into(),
            (SOL_SOCKET, libc::SO_RCVBUF) => sizes.receive_buffer as c_int,
            (SOL_SOCKET, libc::SO_SNDBUF) => sizes.send_buffer as c_int,
            (SOL_SOCKET, libc::SO_KEEPALIVE) => options.keep_alive.into(),
            (SOL_SOCKET, libc::SO_REUSEADDR) => options.reuse_address.into(),
            (IPPROTO_IP, libc::IP_TOS) => options.type_of_service.into(),
            (SOL_SOCKET, libc::SO_LINGER) => {
                let seconds = options.linger.unwrap_or_default().as_secs();
                return Value::integers(&[options.linger.is_some().into(), seconds as c_int]);
            }
            (SOL_SOCKET, libc::SO_RCVTIMEO) => return Value::time(options.receive_limit),
            (SOL_SOCKET, libc::SO_SNDTIMEO) => return Value::time(options.send_limit),
            (IPPROTO_IPV6, libc::IPV6_V6ONLY) => options.v6_only.into(),
            (IPPROTO_TCP, libc::TCP_KEEPIDLE) => options.keep_idle.unwrap_or_else(system_idle_time) as c_int,
            (IPPROTO_TCP, libc::TCP_MAXSEG) => self.segment()? as c_int,
            (IPPROTO_TCP, libc::TCP_CONGESTION) => return Value::text(b"rdma\0"),
            (IPPROTO_TCP, libc::TCP_INFO) => return Value::tcp_info(self.tcp_state(), sizes.send_queue),
            (SOL_RDMA, RDMA_SQSIZE) => sizes.send_queue.into(),
            (SOL_RDMA, RDMA_RQSIZE) => sizes.receive_queue.into(),
            (SOL_RDMA, RDMA_INLINE) => sizes.inline.into(),
            (SOL_RDMA, RDMA_IOMAPSIZE) => sizes.mappings.into(),
            _ => *options.noted(level, name)?,
        };
        Value::integers(&[number])
    }

    /// The paths that the application has set, or those that were found.
    fn route(&self) -> Result<Value> {
        let attempt = self.attempt.lock();
        if attempt.paths.is_empty() {
            drop(attempt);
            return Ok(Value::paths(paths::in_wire_form(&self.found_paths()?)?));
        }
        Ok(Value::whole(memory::concat(&[&attempt.paths])?))
    }

    /// None before the search has ended: only then nobody changes them.
    fn found_paths(&self) -> Result<Vec<ibv_sa_path_rec>> {
        match self.stage() {
            Stage::Connecting | Stage::Accepting | Stage::Connected => self.id().paths(),
            _ => Ok(Vec::new()),
        }
    }

    /// Bytes of a packet.
    fn segment(&self) -> Result<u32> {
        Ok(self.found_paths()?.first().map_or(2048, |path| 128 << path.mtu.min(5)))
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
