// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Listeners. The thread of all sockets answers requests as they come; clients that go silent hold up nobody. What the
//! application does not fetch is bounded: then requests wait unanswered, and are refused when there are too many. They also
//! wait while there are no descriptors or memory to answer with.

use super::connect::numbers;
use super::link::Link;
use super::names;
use super::news::News;
use super::socket::{self, Socket};
use super::stage::Stage;
use super::wait::{self, Awaited};
use super::wire::{self, Greeting};
use crate::cm::connection::Offer;
use crate::cm::connection::passive::{self, Reason};
use crate::cm::id::{self, CmId};
use crate::cm::{address, family};
use crate::ctypes::{RDMA_CM_EVENT_ESTABLISHED, rdma_cm_event_type, rdma_conn_param};
use crate::errno::{Errno, Result};
use crate::sync::{Lock, Shared};
use crate::sys::thread::uncancellable;
use crate::uapi::AF_IB;
use std::collections::VecDeque;
use std::ffi::c_int;
use std::os::fd::RawFd;

/// Most connections that wait for raccept(), and most requests besides.
const MOST: usize = 4096;
/// Most clients that have not said that they know of the answer. The kernel gives each up after about a minute.
const OPENING: usize = 512;

/// What came to a listener.
pub struct Listening {
    backlog: usize,
    queue: Lock<Queue>,
}

#[derive(Default)]
struct Queue {
    /// Connections that ever came.
    arrived: u64,
    /// Connections for the application.
    ready: VecDeque<Shared<Socket>>,
    /// Answered, but the peer has not said that it knows.
    opening: Vec<Shared<Socket>>,
    /// Not answered.
    requests: VecDeque<Request>,
}

struct Request {
    /// None when it is answered.
    id: Option<Shared<CmId>>,
    greeting: Greeting,
    /// Reads that either side may have outstanding at the other.
    responder_resources: u8,
    initiator_depth: u8,
}

impl Drop for Request {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            refuse(&id);
        }
    }
}

impl Listening {
    /// Whether a connection waits for the application.
    pub fn has_ready(&self) -> bool {
        !self.queue.lock().ready.is_empty()
    }

    /// Connections that ever came.
    pub fn arrived(&self) -> u64 {
        self.queue.lock().arrived
    }
}

/// Waits for connections from now on.
pub fn listen(number: RawFd, backlog: c_int) -> Result<()> {
    let socket = socket::find(number)?;
    if socket.datagram().is_some() {
        return Err(Errno::EOPNOTSUPP);
    }
    uncancellable(|| {
        let _attempt = socket.attempt.lock();
        match socket.stage() {
            Stage::New => {
                address::bind(socket.id(), &names::any(socket.family())?)?;
                socket.set_stage(Stage::Bound);
            }
            Stage::Bound => {}
            Stage::Listening => return Ok(()),
            Stage::Closed => return Err(Errno::EBADF),
            _ => return Err(Errno::EINVAL),
        }
        let most = usize::try_from(backlog).unwrap_or(MOST).clamp(1, MOST);
        socket.set_listening(Listening { backlog: most, queue: Lock::default() });
        // The kernel's own queue is emptied at once, so its length does not matter.
        passive::listen(socket.id(), MOST as i32)?;
        socket.set_stage(Stage::Listening);
        // A request may have come already.
        socket.hub().admit(&socket);
        Ok(())
    })
}

/// The next connection: its number, and the address of the peer.
pub fn accept(number: RawFd) -> Result<(RawFd, Shared<Socket>)> {
    let mut socket = socket::find(number)?;
    if socket.datagram().is_some() {
        return Err(Errno::EOPNOTSUPP);
    }
    let mut deadline = None;
    loop {
        match socket.stage() {
            Stage::Listening => {}
            Stage::Closed => return Err(Errno::EBADF),
            _ => {
                return Err(match socket.take_error() {
                    0 => Errno::EINVAL,
                    error => Errno::from_raw(error),
                });
            }
        }
        if let Some(accepted) = uncancellable(|| take_ready(&socket)) {
            let number = Socket::publish(&accepted)?;
            return Ok((number, accepted));
        }
        if socket.is_nonblocking() {
            return Err(Errno::EAGAIN);
        }
        // Another thread may take the connection: the limit is for the whole call.
        let deadline = *deadline.get_or_insert_with(|| wait::deadline(socket.options.lock().receive_limit));
        socket = wait::until(socket, Awaited::Accepted, deadline)?;
    }
}

fn take_ready(listener: &Shared<Socket>) -> Option<Shared<Socket>> {
    let listening = listener.listening()?;
    let mut queue = listening.queue.lock();
    let accepted = queue.ready.pop_front();
    if queue.ready.is_empty() {
        listener.silence();
    }
    if accepted.is_some() && !queue.requests.is_empty() {
        listener.hub().admit(listener);
    }
    drop(queue);
    listener.attend();
    accepted
}

/// A request has come.
pub fn requested(listener: Option<Shared<Socket>>, id: Shared<CmId>, news: &News) {
    let is_ib = family::family(&id.addresses().0.0) == AF_IB;
    let data = news.data().get(if is_ib { wire::IB_HEADER } else { 0 }..).unwrap_or_default();
    let greeting = Greeting::from_bytes(data);
    let (Some(listener), Ok(greeting)) = (listener, greeting) else {
        return refuse(&id);
    };
    let Some(listening) = listener.listening() else { return refuse(&id) };
    let rdma_conn_param { responder_resources, initiator_depth, .. } = news.numbers;
    let request = Request { id: Some(id), greeting, responder_resources, initiator_depth };
    let mut queue = listening.queue.lock();
    if queue.requests.len() >= MOST || queue.requests.try_reserve(1).is_err() {
        drop(queue);
        return drop(request);
    }
    queue.requests.push_back(request);
    drop(queue);
    admit(&listener);
}

fn refuse(id: &Shared<CmId>) {
    let _ = passive::reject(id, &[], Reason::Consumer);
    id::abandon(id);
}

/// Answers as many requests as there is room for.
pub fn admit(listener: &Shared<Socket>) {
    let Some(listening) = listener.listening() else { return };
    let sizes = listener.options.lock().sizes;
    while let Some(mut request) = listening.next_request(listener) {
        let Some(id) = request.id.take() else { continue };
        match Link::create(&id, sizes) {
            Ok(link) => {
                if let Ok(socket) = answer(listener, &request, id, link) {
                    listening.queue.lock().opening.push(socket);
                }
            }
            Err(error) => {
                request.id = Some(id);
                if matches!(error, Errno::EMFILE | Errno::ENFILE | Errno::ENOMEM) {
                    listening.queue.lock().requests.push_front(request);
                    return listener.hub().admit_soon(listener);
                }
            }
        }
    }
}

impl Listening {
    /// The next request that there is room for.
    fn next_request(&self, listener: &Shared<Socket>) -> Option<Request> {
        let mut queue = self.queue.lock();
        if queue.ready.len() >= self.backlog
            || queue.opening.len() >= OPENING
            || listener.stage() != Stage::Listening
        {
            return None;
        }
        // Where it will stand once it is answered.
        let opening = queue.opening.len() + 1;
        if queue.opening.try_reserve(1).is_err() || queue.ready.try_reserve(opening).is_err() {
            drop(queue);
            listener.hub().admit_soon(listener);
            return None;
        }
        queue.requests.pop_front()
    }
}

/// Makes the socket of a request, and tells the peer.
fn answer(
    listener: &Shared<Socket>,
    request: &Request,
    id: Shared<CmId>,
    link: Link,
) -> Result<Shared<Socket>> {
    link.meet(request.greeting);
    let offer = rdma_conn_param {
        responder_resources: request.responder_resources,
        initiator_depth: request.initiator_depth,
        ..numbers()
    };
    let greeting = link.greeting().to_bytes();
    let socket = Socket::of_request(listener, id, link)?;
    passive::accept(socket.id(), Some(Offer { numbers: offer, private_data: &greeting }))?;
    Ok(socket)
}

/// The listener's device is gone, and all that came over it.
pub fn removed(listener: &Socket) -> Result<()> {
    if let Some(listening) = listener.listening() {
        let mut queue = listening.queue.lock();
        let gone = (
            std::mem::take(&mut queue.ready),
            std::mem::take(&mut queue.opening),
            std::mem::take(&mut queue.requests),
        );
        drop(queue);
        drop(gone);
    }
    Err(Errno::ENODEV)
}

/// What the kernel told of a connection that was answered.
pub fn told(socket: &Shared<Socket>, kind: rdma_cm_event_type) {
    let Some(listener) = socket.listener() else { return };
    let Some(listening) = listener.listening() else { return };
    let mut queue = listening.queue.lock();
    let Some(position) = queue.opening.iter().position(|opening| Shared::is_same(opening, socket)) else {
        return;
    };
    let opened = queue.opening.swap_remove(position);
    if kind == RDMA_CM_EVENT_ESTABLISHED {
        opened.set_stage(Stage::Connected);
        if opened.options.lock().keep_alive {
            listener.hub().keep_alive(&opened);
        }
        queue.ready.push_back(opened);
        queue.arrived += 1;
        listener.ring();
        drop(queue);
        listener.stir();
    } else {
        drop(queue);
        drop(opened);
    }
    admit(&listener);
}
