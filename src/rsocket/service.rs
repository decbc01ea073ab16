// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The thread that works for all sockets of the process: events of the connection manager, which all come through one
//! channel, sockets that are closed but have not yet said all, and keep-alive.
//!
//! It begins with the first socket and ends a moment after the last. A forked child has none, and begins one of its own.

use super::closing::Closing;
use super::socket::Socket;
use super::{accept, keepalive};
use crate::cm::channel::Channel;
use crate::cm::event::Handed;
use crate::cm::get;
use crate::cm::id::CmId;
use crate::ctypes::{rdma_cm_event_type, rdma_conn_param};
use crate::errno::Result;
use crate::sync::{Lock, Shared};
use crate::sys::bell::Bell;
use crate::sys::descriptor::{self, Watch};
use crate::sys::{process, thread};
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// How long the thread waits for a next socket.
const IDLE: Duration = Duration::from_secs(1);
const STACK_BYTES: usize = 512 << 10;
/// Most private data of a peer.
const DATA: usize = 256;

struct Running {
    hub: Arc<Hub>,
    generation: u32,
}

static RUNNING: Lock<Option<Running>> = Lock::new(None);

/// What the thread works on.
pub struct Hub {
    channel: Shared<Channel>,
    bell: Bell,
    users: AtomicUsize,
    sockets: Lock<HashMap<u64, Weak<Socket>>>,
    tasks: Lock<Tasks>,
}

/// What is to be done besides events.
#[derive(Default)]
struct Tasks {
    /// Listeners that have room for requests again.
    admitting: Vec<Weak<Socket>>,
    closing: Vec<Closing>,
    keeping_alive: Vec<Weak<Socket>>,
}

/// A socket's use of the thread.
pub struct Member(Arc<Hub>);

impl Member {
    /// What it works on.
    pub fn hub(&self) -> &Arc<Hub> {
        &self.0
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if self.0.users.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.bell.ring();
        }
    }
}

/// Begins to use the thread, which is started if there is none.
pub fn join() -> Result<Member> {
    let generation = process::generation();
    let mut running = RUNNING.lock();
    match &*running {
        Some(now) if now.generation == generation => return Ok(now.hub.join()),
        // The parent's: its descriptors are shared, and are left alone.
        Some(_) => std::mem::forget(running.take()),
        None => {}
    }
    let channel = Channel::open()?;
    descriptor::set_nonblocking(channel.fd().0)?;
    let hub = Arc::new(Hub {
        channel,
        bell: Bell::new()?,
        users: AtomicUsize::new(0),
        sockets: Lock::default(),
        tasks: Lock::default(),
    });
    let member = hub.join();
    *running = Some(Running { hub, generation });
    if let Err(error) = thread::start(c"rdmacm-rsocket", STACK_BYTES, run) {
        *running = None;
        Channel::destroy(&member.hub().channel);
        return Err(error);
    }
    Ok(member)
}

extern "C" fn run(_: *mut c_void) -> *mut c_void {
    let hub = RUNNING.lock().as_ref().map(|running| Arc::clone(&running.hub));
    if let Some(hub) = hub {
        while hub.work() {}
        Channel::destroy(&hub.channel);
    }
    ptr::null_mut()
}

/// What the kernel told of an id.
pub struct News {
    /// What happened.
    pub kind: rdma_cm_event_type,
    /// How: 0, a negative errno, or the reason of a refusal.
    pub status: c_int,
    /// Parameters of a connection.
    pub numbers: rdma_conn_param,
    data: [u8; DATA],
    length: usize,
}

impl News {
    fn of(event: Handed) -> News {
        let (kind, status) = event.kind_and_status();
        let mut data = [0; DATA];
        let (numbers, length) = event.connection(&mut data);
        News { kind, status, numbers, data, length }
    }

    /// Private data of the peer.
    pub fn data(&self) -> &[u8] {
        self.data.get(..self.length).unwrap_or_default()
    }
}

impl Hub {
    /// One more user.
    pub fn join(self: &Arc<Hub>) -> Member {
        self.users.fetch_add(1, Ordering::SeqCst);
        Member(Arc::clone(self))
    }

    /// Where the ids of sockets are.
    pub fn channel(&self) -> Shared<Channel> {
        Shared::clone(&self.channel)
    }

    /// Events of the socket's id go to it from now on.
    pub fn enter(&self, socket: &Arc<Socket>) {
        self.sockets.lock().insert(socket.id().uid(), Arc::downgrade(socket));
    }

    /// Ends [`Hub::enter`].
    pub fn leave(&self, id: &CmId) {
        self.sockets.lock().remove(&id.uid());
    }

    fn socket(&self, id: &CmId) -> Option<Arc<Socket>> {
        self.sockets.lock().get(&id.uid())?.upgrade()
    }

    fn add(&self, change: impl FnOnce(&mut Tasks)) {
        change(&mut self.tasks.lock());
        self.bell.ring();
    }

    /// The listener has room for requests again.
    pub fn admit(&self, listener: &Arc<Socket>) {
        self.add(|tasks| tasks.admitting.push(Arc::downgrade(listener)));
    }

    /// The socket says the rest by itself.
    pub fn close_later(&self, closing: Closing) {
        self.add(|tasks| tasks.closing.push(closing));
    }

    /// The socket is to be kept alive, or at other times than before.
    pub fn keep_alive(&self, socket: &Arc<Socket>) {
        let weak = Arc::downgrade(socket);
        self.add(|tasks| {
            if !tasks.keeping_alive.iter().any(|other| Weak::ptr_eq(other, &weak)) {
                tasks.keeping_alive.push(weak);
            }
        });
    }

    /// Waits for the next thing to do, and does it. False if there is nothing left to wait for.
    fn work(&self) -> bool {
        let now = Instant::now();
        let mut watches =
            vec![descriptor::readable(self.channel.fd().0), descriptor::readable(self.bell.fd())];
        let mut next = self.look_after(now, &mut watches);
        let alone = self.users.load(Ordering::SeqCst) == 0;
        if alone {
            next = Some(IDLE);
        }
        // The only error is a want of memory: then it is tried again.
        let ready = descriptor::poll(&mut watches, next).unwrap_or(0);
        if ready == 0 && alone && self.end() {
            return false;
        }
        if watches.get(1).is_some_and(|bell| bell.revents != 0) {
            self.bell.silence();
        }
        while let Ok(event) = get::next(&self.channel) {
            self.handle(event);
        }
        let admitting = std::mem::take(&mut self.tasks.lock().admitting);
        for listener in admitting.iter().filter_map(Weak::upgrade) {
            accept::admit(&listener);
        }
        true
    }

    /// Ends, unless there is a user after all.
    fn end(&self) -> bool {
        let mut running = RUNNING.lock();
        if self.users.load(Ordering::SeqCst) > 0 {
            return false;
        }
        *running = None;
        true
    }

    fn handle(&self, event: Handed) {
        let news = News::of(event);
        let (request, listener, id) = (event.request(), event.listener(), event.id());
        event.acknowledge();
        match request {
            Some(request) => {
                accept::requested(listener.and_then(|listener| self.socket(&listener)), request, &news);
            }
            None => {
                if let Some(socket) = self.socket(&id) {
                    socket.told(&news);
                }
            }
        }
    }

    /// Sockets that are being closed, and those that are kept alive. Returns how long until the next of them is due.
    fn look_after(&self, now: Instant, watches: &mut Vec<Watch>) -> Option<Duration> {
        let mut tasks = self.tasks.lock();
        let closing = std::mem::take(&mut tasks.closing);
        let keeping = std::mem::take(&mut tasks.keeping_alive);
        drop(tasks);
        let mut next: Option<Instant> = None;
        let mut sooner = |at: Instant| next = Some(next.map_or(at, |next| next.min(at)));
        let mut still_closing = Vec::new();
        for closing in closing {
            if closing.is_done(now) {
                continue;
            }
            sooner(closing.until());
            watches.push(descriptor::readable(closing.watched()));
            still_closing.push(closing);
        }
        let mut still_alive = Vec::new();
        for weak in keeping {
            let Some(socket) = weak.upgrade() else { continue };
            if let Some(at) = keepalive::look(&socket, now) {
                sooner(at);
                still_alive.push(weak);
            }
        }
        let mut tasks = self.tasks.lock();
        tasks.closing.append(&mut still_closing);
        tasks.keeping_alive.append(&mut still_alive);
        next.map(|next| next.saturating_duration_since(now))
    }
}
