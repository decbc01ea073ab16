// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! From an address to a connection. A call begins it; the thread of all sockets drives it on as the kernel tells.

use super::link::Link;
use super::news::News;
use super::socket::{self, Socket};
use super::stage::Stage;
use super::wait::{self, Awaited};
use super::wire::{self, Greeting};
use super::{accept, datagram, names};
use crate::cm::connection::{Offer, active, end};
use crate::cm::{address, family, option};
use crate::ctypes::{
    RDMA_CM_EVENT_ADDR_ERROR, RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_CONNECT_ERROR,
    RDMA_CM_EVENT_DEVICE_REMOVAL, RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_ESTABLISHED,
    RDMA_CM_EVENT_REJECTED, RDMA_CM_EVENT_ROUTE_ERROR, RDMA_CM_EVENT_ROUTE_RESOLVED,
    RDMA_CM_EVENT_UNREACHABLE, rdma_conn_param,
};
use crate::errno::{Errno, Result};
use crate::sync::Shared;
use crate::sys::thread::uncancellable;
use crate::uapi::AF_IB;
use std::ffi::c_int;
use std::os::fd::RawFd;
use std::ptr;

/// Each try to find the way waits twice as long as the one before.
const FIRST_TRY_MS: u32 = 1000;
const TRIES: u32 = 7;
/// Repetitions of what the peer does not take: the most there are, or without end.
const RETRIES: u8 = 7;

/// What is known of the way to a connection.
#[derive(Default)]
pub struct Attempt {
    destination: Vec<u8>,
    /// Paths that the application has set, to use instead of those that are found.
    pub paths: Vec<u8>,
    tries: u32,
    /// Whether a call has returned the result.
    is_reported: bool,
}

impl Attempt {
    fn next_timeout(&mut self) -> Option<u32> {
        let timeout = (self.tries < TRIES).then(|| FIRST_TRY_MS << self.tries);
        self.tries += 1;
        timeout
    }
}

/// Parameters of a connection without those that the two sides agree on.
pub fn numbers() -> rdma_conn_param {
    rdma_conn_param {
        private_data: ptr::null(),
        private_data_len: 0,
        responder_resources: 0,
        initiator_depth: 0,
        flow_control: 1,
        retry_count: RETRIES,
        rnr_retry_count: RETRIES,
        srq: 0,
        qp_num: 0,
    }
}

/// Connects a socket to an address, or waits for what an earlier call began. A socket that does not wait: EINPROGRESS; the
/// result comes by SO_ERROR.
pub fn connect(number: RawFd, destination: &[u8]) -> Result<()> {
    let socket = socket::find(number)?;
    if let Some(datagram) = socket.datagram() {
        return uncancellable(|| datagram::connect(&socket, datagram, destination));
    }
    let Some(unfinished) = uncancellable(|| socket.begin_to_connect(destination))? else { return Ok(()) };
    if socket.is_nonblocking() {
        return Err(unfinished);
    }
    let deadline = wait::deadline(socket.options.lock().send_limit);
    let socket = wait::until(socket, Awaited::Opened, deadline).map_err(|error| match error {
        Errno::EAGAIN => unfinished,
        other => other,
    })?;
    match socket.stage() {
        Stage::Connected => {
            socket.attempt.lock().is_reported = true;
            Ok(())
        }
        Stage::Closed => Err(Errno::EBADF),
        _ => Err(result(socket.take_error())),
    }
}

fn result(error: c_int) -> Errno {
    if error == 0 { Errno::ENOTCONN } else { Errno::from_raw(error) }
}

impl Socket {
    /// None if the connection stands, and nobody was told so before; else what a caller is told who does not wait.
    fn begin_to_connect(&self, destination: &[u8]) -> Result<Option<Errno>> {
        let mut attempt = self.attempt.lock();
        match self.stage() {
            Stage::New | Stage::Bound => {}
            Stage::Listening => return Err(Errno::EISCONN),
            Stage::Connected => {
                let reported = std::mem::replace(&mut attempt.is_reported, true);
                return if reported { Err(Errno::EISCONN) } else { Ok(None) };
            }
            Stage::Failed => return Err(result(self.take_error())),
            Stage::Closed => return Err(Errno::EBADF),
            _ => return Ok(Some(Errno::EALREADY)),
        }
        attempt.destination = names::for_kernel(self.family(), destination, self.options.lock().v6_only)?;
        attempt.tries = 0;
        let before = self.stage();
        self.set_stage(Stage::Resolving);
        let timeout = attempt.next_timeout().unwrap_or(FIRST_TRY_MS);
        address::resolve(self.id(), None, &attempt.destination, timeout)
            .inspect_err(|_| self.set_stage(before))
            .map(|()| Some(Errno::EINPROGRESS))
    }

    /// What the kernel told of the socket's id.
    pub fn told(socket: &Shared<Socket>, news: &News) {
        let mut attempt = socket.attempt.lock();
        let stage = socket.stage();
        let result = match (stage, news.kind) {
            (Stage::Resolving, RDMA_CM_EVENT_ADDR_RESOLVED) => {
                attempt.tries = 0;
                socket.set_stage(Stage::Routing);
                socket.find_route(&mut attempt)
            }
            (Stage::Resolving, RDMA_CM_EVENT_ADDR_ERROR) => {
                socket.again(&mut attempt, news.status, |attempt, ms| {
                    address::resolve(socket.id(), None, &attempt.destination, ms)
                })
            }
            (Stage::Routing, RDMA_CM_EVENT_ROUTE_RESOLVED) => socket.ask(),
            (Stage::Routing, RDMA_CM_EVENT_ROUTE_ERROR) => {
                socket.again(&mut attempt, news.status, |_, ms| address::resolve_route(socket.id(), ms))
            }
            (Stage::Connecting, RDMA_CM_EVENT_ESTABLISHED) => socket.answered(news),
            (Stage::Connecting, RDMA_CM_EVENT_REJECTED) => Err(Errno::ECONNREFUSED),
            (Stage::Connecting, RDMA_CM_EVENT_UNREACHABLE) => Err(because(news.status, Errno::ETIMEDOUT)),
            (Stage::Connecting, RDMA_CM_EVENT_CONNECT_ERROR) => Err(because(news.status, Errno::EPROTO)),
            (Stage::Connecting, RDMA_CM_EVENT_DISCONNECTED) => Err(Errno::ECONNRESET),
            (Stage::Resolving | Stage::Routing | Stage::Connecting, RDMA_CM_EVENT_DEVICE_REMOVAL) => {
                Err(Errno::ENODEV)
            }
            (Stage::Listening, RDMA_CM_EVENT_DEVICE_REMOVAL) => accept::removed(socket),
            (Stage::Accepting, kind) => {
                drop(attempt);
                return accept::told(socket, kind);
            }
            (Stage::Connected | Stage::Closed, RDMA_CM_EVENT_DISCONNECTED | RDMA_CM_EVENT_DEVICE_REMOVAL) => {
                drop(attempt);
                if let Some(link) = socket.link() {
                    link.peer_left();
                }
                socket.stir();
                return;
            }
            _ => return,
        };
        if let Err(error) = result {
            socket.fail(error);
        }
    }

    fn again(
        &self,
        attempt: &mut Attempt,
        status: c_int,
        resolve: impl FnOnce(&Attempt, u32) -> Result<()>,
    ) -> Result<()> {
        let error = because(status, Errno::EHOSTUNREACH);
        match attempt.next_timeout() {
            Some(timeout) if error == Errno::ETIMEDOUT => resolve(attempt, timeout),
            _ => Err(error),
        }
    }

    fn find_route(&self, attempt: &mut Attempt) -> Result<()> {
        if !attempt.paths.is_empty() {
            return option::set_path(self.id(), &attempt.paths);
        }
        let timeout = attempt.next_timeout().unwrap_or(FIRST_TRY_MS);
        address::resolve_route(self.id(), timeout)
    }

    /// The way is known: everything that the connection needs is made, and the peer is asked.
    fn ask(&self) -> Result<()> {
        let sizes = self.options.lock().sizes;
        self.set_link(Link::create(self.id(), sizes)?)?;
        let Some(link) = self.link() else { return Err(Errno::EINVAL) };
        let mut data = [0; wire::IB_HEADER + wire::GREETING];
        let is_ib = family::family(&self.id().addresses().0.0) == AF_IB;
        let head = if is_ib { wire::IB_HEADER } else { 0 };
        for (place, byte) in data.iter_mut().skip(head).zip(link.greeting().to_bytes()) {
            *place = byte;
        }
        let private_data = data.get(..head + wire::GREETING).unwrap_or_default();
        // An iWARP device reads from the peer once to begin.
        let numbers = rdma_conn_param { initiator_depth: link.is_by_message().into(), ..numbers() };
        self.set_stage(Stage::Connecting);
        active::connect(self.id(), Some(Offer { numbers, private_data }))
    }

    fn answered(&self, news: &News) -> Result<()> {
        let greeting = Greeting::from_bytes(news.data()).inspect_err(|_| {
            let _ = end::disconnect(self.id());
        })?;
        if let Some(link) = self.link() {
            link.meet(greeting);
            self.bridge_channel(link.descriptor())?;
        }
        self.set_stage(Stage::Connected);
        Ok(())
    }
}

/// The error that an event tells of.
fn because(status: c_int, otherwise: Errno) -> Errno {
    if status < 0 { Errno::from_raw(status) } else { otherwise }
}
