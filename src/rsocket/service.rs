// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The thread that works for all sockets of the process: events of the connection manager, which all come through one
//! channel, sockets that are closed but have not yet said all, and keep-alive.
//!
//! It begins with the first socket and ends a moment after the last. A forked child has none, and begins one of its own.

use super::closing::Closing;
use super::datagram::{self, Inlets};
use super::link::Link;
use super::news::News;
use super::quiet::Quiet;
use super::socket::Socket;
use super::{accept, keepalive};
use crate::cm::channel::Channel;
use crate::cm::event::Handed;
use crate::cm::get;
use crate::cm::id::CmId;
use crate::errno::Result;
use crate::sync::{Condition, Guard, Lock, Shared, Weak};
use crate::sys::bell::Bell;
use crate::sys::descriptor::{self, Watch};
use crate::sys::{memory, process, thread};
use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long the thread waits for a next socket.
const IDLE: Duration = Duration::from_secs(1);
/// How long until it looks again at what it has no memory to wait for.
const SOON: Duration = Duration::from_millis(10);
/// When it is tried again to answer requests that there were no means for.
const SHORTAGE: Duration = Duration::from_millis(100);
const STACK_BYTES: usize = 512 << 10;

/// The thread of the process that started it.
pub struct Running {
    hub: Shared<Hub>,
    generation: u32,
}

static RUNNING: Lock<Option<Running>> = Lock::new(None);

/// What the thread works on.
pub struct Hub {
    channel: Shared<Channel>,
    /// Where notices to datagram sockets come in.
    pub inlets: Inlets,
    bell: Bell,
    /// Sockets on which nothing happens.
    pub quiet: Quiet,
    users: AtomicUsize,
    sockets: Lock<HashMap<u64, Weak<Socket>>>,
    tasks: Lock<Tasks>,
    /// How many sockets say the rest by themselves, and who waits for that.
    lingering: Lock<usize>,
    settled: Condition,
    /// What the thread waits for; nobody else takes this.
    watches: Lock<Vec<Watch>>,
}

/// What is to be done besides events. Each list has room for all sockets: nothing fails when it is put there.
#[derive(Default)]
struct Tasks {
    /// Listeners that have room for requests again.
    admitting: VecDeque<Weak<Socket>>,
    /// Listeners with requests that there were no means to answer.
    short: VecDeque<Weak<Socket>>,
    closing: VecDeque<Closing>,
    /// Sockets that owe their peers something, and of which nobody may be looking.
    tended: VecDeque<Weak<Socket>>,
    keeping_alive: VecDeque<Weak<Socket>>,
}

/// A socket's use of the thread.
pub struct Member(Shared<Hub>);

impl Member {
    /// What it works on.
    pub fn hub(&self) -> &Shared<Hub> {
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

/// For a process that forks.
pub fn hold() -> Guard<'static, Option<Running>> {
    RUNNING.lock()
}

/// Begins to use the thread, which is started if there is none.
pub fn join() -> Result<Member> {
    let generation = process::generation();
    let mut running = RUNNING.lock();
    match &*running {
        Some(now) if now.generation == generation => return Ok(Hub::join(&now.hub)),
        // The parent's: its descriptors are shared, and are left alone.
        Some(_) => std::mem::forget(running.take()),
        None => {}
    }
    let member = Hub::join(&Hub::open()?);
    *running = Some(Running { hub: Shared::clone(member.hub()), generation });
    if let Err(error) = thread::start(c"rdmacm-rsocket", STACK_BYTES, run) {
        *running = None;
        Channel::destroy(&member.hub().channel);
        return Err(error);
    }
    Ok(member)
}

extern "C" fn run(_: *mut c_void) -> *mut c_void {
    let hub = RUNNING.lock().as_ref().map(|running| Shared::clone(&running.hub));
    if let Some(hub) = hub {
        while hub.work() {}
        Channel::destroy(&hub.channel);
    }
    ptr::null_mut()
}

impl Hub {
    fn open() -> Result<Shared<Hub>> {
        let mut watches = Vec::new();
        watches.try_reserve(3)?;
        let inlets = Inlets::open()?;
        let bell = Bell::new()?;
        let channel = Channel::open()?;
        descriptor::set_nonblocking(channel.fd().0)
            .and_then(|()| {
                Shared::try_new(Hub {
                    channel: Shared::clone(&channel),
                    inlets,
                    bell,
                    quiet: Quiet::default(),
                    users: AtomicUsize::new(0),
                    sockets: Lock::default(),
                    tasks: Lock::default(),
                    lingering: Lock::new(0),
                    settled: Condition::new(),
                    watches: Lock::new(watches),
                })
            })
            .inspect_err(|_| Channel::destroy(&channel))
    }

    /// One more user.
    pub fn join(hub: &Shared<Hub>) -> Member {
        hub.users.fetch_add(1, Ordering::SeqCst);
        Member(Shared::clone(hub))
    }

    /// Where the ids of sockets are.
    pub fn channel(&self) -> Shared<Channel> {
        Shared::clone(&self.channel)
    }

    /// Events of the socket's id go to it from now on.
    pub fn enter(&self, socket: &Shared<Socket>) -> Result<()> {
        let mut sockets = self.sockets.lock();
        sockets.try_reserve(1)?;
        let mut tasks = self.tasks.lock();
        let count = sockets.len() + 1;
        tasks.admitting.try_reserve(count)?;
        tasks.short.try_reserve(count)?;
        tasks.closing.try_reserve(count)?;
        tasks.tended.try_reserve(count)?;
        tasks.keeping_alive.try_reserve(count)?;
        drop(tasks);
        sockets.insert(socket.id().uid(), Weak::to(socket));
        Ok(())
    }

    /// Events of another id go to the socket from now on, until [`Hub::leave`].
    pub fn enter_id(&self, id: &CmId, socket: &Shared<Socket>) -> Result<()> {
        let mut sockets = self.sockets.lock();
        sockets.try_reserve(1)?;
        sockets.insert(id.uid(), Weak::to(socket));
        Ok(())
    }

    /// Ends [`Hub::enter`].
    pub fn leave(&self, id: &CmId) {
        self.sockets.lock().remove(&id.uid());
    }

    /// The socket with this number of its id.
    pub fn socket(&self, uid: u64) -> Option<Shared<Socket>> {
        self.sockets.lock().get(&uid)?.upgrade()
    }

    /// The thread looks after what it waits for.
    pub fn ring(&self) {
        self.bell.ring();
    }

    fn add(&self, change: impl FnOnce(&mut Tasks)) {
        change(&mut self.tasks.lock());
        self.ring();
    }

    /// The listener has room for requests again.
    pub fn admit(&self, listener: &Shared<Socket>) {
        self.add(|tasks| put(&mut tasks.admitting, listener));
    }

    /// There were no means to answer a request: it is tried again soon.
    pub fn admit_soon(&self, listener: &Shared<Socket>) {
        put(&mut self.tasks.lock().short, listener);
    }

    /// The socket says the rest by itself.
    pub fn close_later(&self, closing: Closing) {
        *self.lingering.lock() += 1;
        self.add(|tasks| tasks.closing.push_back(closing));
    }

    /// The socket is to be kept alive, or at other times than before.
    pub fn keep_alive(&self, socket: &Shared<Socket>) {
        self.add(|tasks| put(&mut tasks.keeping_alive, socket));
    }

    /// Waits for the next thing to do, and does it. False if there is nothing left to wait for.
    fn work(&self) -> bool {
        let now = Instant::now();
        let mut watches = self.watches.lock();
        watches.clear();
        // There is room for three.
        let fds = [self.channel.fd().0, self.bell.fd(), self.inlets.fd()];
        watches.extend(fds.map(descriptor::readable));
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
        if watches.get(2).is_some_and(|inlets| inlets.revents != 0) {
            self.inlets.take(|uid| self.socket(uid));
        }
        while let Ok(event) = get::next(&self.channel) {
            self.handle(event);
        }
        let admit = |listener: Weak<Socket>| {
            if let Some(listener) = listener.upgrade() {
                accept::admit(&listener);
            }
            None
        };
        self.each(|tasks| &mut tasks.admitting, admit);
        self.each(|tasks| &mut tasks.short, admit);
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
                accept::requested(listener.and_then(|listener| self.socket(listener.uid())), request, &news);
            }
            None => {
                if let Some(socket) = self.socket(id.uid()) {
                    match socket.datagram() {
                        Some(datagram) => datagram::told(&socket, datagram, &id, &news),
                        None => Socket::told(&socket, &news),
                    }
                }
            }
        }
    }

    /// Does `work` with all that is in a list, which holds it no longer unless it comes back. The list is not locked
    /// meanwhile.
    fn each<T>(&self, list: fn(&mut Tasks) -> &mut VecDeque<T>, mut work: impl FnMut(T) -> Option<T>) {
        let mut left = list(&mut self.tasks.lock()).len();
        while left > 0 {
            let Some(first) = list(&mut self.tasks.lock()).pop_front() else { return };
            if let Some(again) = work(first) {
                list(&mut self.tasks.lock()).push_back(again);
            }
            left -= 1;
        }
    }

    /// Sockets that are being closed, and those that are kept alive. Returns how long until the next of them is due.
    fn look_after(&self, now: Instant, watches: &mut Vec<Watch>) -> Option<Duration> {
        let mut next: Option<Instant> = None;
        let mut sooner = |at: Instant| next = Some(next.map_or(at, |next| next.min(at)));
        if !self.tasks.lock().short.is_empty() {
            sooner(now + SHORTAGE);
        }
        self.each(
            |tasks| &mut tasks.closing,
            |closing| {
                if closing.is_done(now) {
                    drop(closing);
                    *self.lingering.lock() -= 1;
                    self.settled.wake_all();
                    return None;
                }
                sooner(closing.until());
                let watched = closing.watched();
                if watched < 0 || memory::push(watches, descriptor::readable(watched)).is_err() {
                    sooner(now + SOON);
                }
                Some(closing)
            },
        );
        self.each(
            |tasks| &mut tasks.tended,
            |weak| {
                let socket = weak.upgrade()?;
                let link = socket.link()?;
                socket.take_event_if_any();
                link.look_and_arm();
                if !link.is_behind() {
                    socket.is_tended.swap(false, Ordering::SeqCst);
                    // Whoever saw it tended since it fell behind again has not asked for that.
                    if !link.is_behind() || socket.is_tended.swap(true, Ordering::SeqCst) {
                        return None;
                    }
                    link.look_and_arm();
                }
                // Whoever else waits there takes the event, and tells.
                if memory::push(watches, descriptor::readable(link.descriptor())).is_err() {
                    sooner(now + SOON);
                }
                Some(weak)
            },
        );
        self.each(
            |tasks| &mut tasks.keeping_alive,
            |weak| {
                sooner(keepalive::look(&*weak.upgrade()?, now)?);
                Some(weak)
            },
        );
        next.map(|next| next.saturating_duration_since(now))
    }
}

/// If the socket owes its peer something that there is no room for now, the thread tells it: the application may make no
/// further call.
pub fn tend(socket: &Shared<Socket>) {
    if socket.link().is_some_and(Link::is_behind) && !socket.is_tended.swap(true, Ordering::SeqCst) {
        socket.hub().add(|tasks| put(&mut tasks.tended, socket));
    }
}

/// The process ends normally only after its sockets have said the rest. ENOMEM without memory to remember that.
pub fn settle_at_exit() -> Result<()> {
    static REMEMBERED: AtomicBool = AtomicBool::new(false);
    if REMEMBERED.load(Ordering::Relaxed) {
        return Ok(());
    }
    process::at_exit(settle).inspect(|()| REMEMBERED.store(true, Ordering::Relaxed))
}

extern "C" fn settle() {
    let hub = match &*RUNNING.lock() {
        Some(now) if now.generation == process::generation() => Shared::clone(&now.hub),
        _ => return,
    };
    drop(hub.settled.wait_while(hub.lingering.lock(), |lingering| *lingering > 0));
}

/// Once, and without those that are gone: so there is always room.
fn put(list: &mut VecDeque<Weak<Socket>>, socket: &Shared<Socket>) {
    let weak = Weak::to(socket);
    list.retain(|other| !other.is_gone() && !Weak::is_same(other, &weak));
    list.push_back(weak);
}
