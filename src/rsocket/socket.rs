// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! A socket, and how far it is.

use super::accept::Listening;
use super::connect::Attempt;
use super::datagram::Datagram;
use super::link::Link;
use super::options::Options;
use super::quiet::Patience;
use super::repoll::Bridges;
use super::service::{self, Hub, Member};
use super::stage::Stage;
use super::waiters::Waiters;
use crate::cm::id::{self, CmId};
use crate::ctypes::{IBV_QPT_RC, IBV_QPT_UD, RDMA_PS_TCP, RDMA_PS_UDP};
use crate::errno::{Errno, Result};
use crate::sync::{Lock, Numbers, Shared, Weak};
use crate::sys::{bell, descriptor, device, process};
use std::os::fd::{IntoRawFd, RawFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, Ordering};

/// The sockets of this process by their numbers, which are descriptors.
pub static SOCKETS: Numbers<Shared<Socket>> = Numbers::new();

/// See the module.
pub struct Socket {
    id: Shared<CmId>,
    number: RawFd,
    /// The number is a counter of the socket's own. Else it is the completion channel of the link, which closes it.
    has_counter: AtomicBool,
    family: u16,
    /// The process that made it.
    generation: u32,
    stage: AtomicU8,
    nonblocking: AtomicBool,
    /// Why there was no connection, until somebody was told.
    error: AtomicI32,
    /// What the application wants.
    pub options: Lock<Options>,
    /// Threads that wait for something to happen.
    pub waiters: Waiters,
    /// What those see who wait in the kernel.
    pub bridges: Bridges,
    /// With looking at it in vain.
    pub patience: Patience,
    /// For a socket that sends datagrams: none of what makes a connection counts then.
    datagram: Option<Datagram>,
    link: OnceLock<Link>,
    listening: OnceLock<Listening>,
    /// The one whose request made it.
    listener: OnceLock<Weak<Socket>>,
    /// The thread looks after what it owes the peer.
    pub is_tended: AtomicBool,
    /// Held while the stage changes.
    pub attempt: Lock<Attempt>,
    // Ends last: the thread behind it may go with it.
    member: Member,
}

/// Makes a socket for a family of addresses.
pub fn create(family: u16, close_on_exec: bool, nonblocking: bool) -> Result<RawFd> {
    let member = service::join()?;
    let id = id::create(Some(member.hub().channel()), std::ptr::null_mut(), RDMA_PS_TCP, IBV_QPT_RC)?;
    let counter = bell::open(close_on_exec).inspect_err(|_| id::abandon(&id))?;
    let socket = Socket::enter(Socket::new(
        id,
        counter.into_raw_fd(),
        true,
        family,
        nonblocking,
        Options::default(),
        member,
        Stage::New,
    ))?;
    Socket::publish(&socket)
}

/// Makes a socket that sends datagrams.
pub fn create_datagram(family: u16, close_on_exec: bool, nonblocking: bool) -> Result<RawFd> {
    let datagram = Datagram::new(family, close_on_exec)?;
    let member = service::join()?;
    let number = datagram.descriptor();
    // Nothing but options come to it.
    let id = id::create(Some(member.hub().channel()), std::ptr::null_mut(), RDMA_PS_UDP, IBV_QPT_UD)?;
    let options = Options::default();
    let mut socket = Socket::new(id, number, false, family, nonblocking, options, member, Stage::New);
    socket.datagram = Some(datagram);
    Socket::publish(&socket.enter()?)
}

/// The socket of a number. EBADF if there is none, EPERM if it belongs to the parent of this process.
#[inline]
pub fn find(number: RawFd) -> Result<Shared<Socket>> {
    let socket = lookup(number).ok_or(Errno::EBADF)?;
    if socket.is_foreign() { Err(Errno::EPERM) } else { Ok(socket) }
}

/// The socket of a number, if there is one.
#[inline]
pub fn lookup(number: RawFd) -> Option<Shared<Socket>> {
    SOCKETS.get(u32::try_from(number).ok()?)
}

/// The number means nothing any more. EBADF if it is no socket.
pub fn withdraw(number: RawFd) -> Result<Shared<Socket>> {
    let number = u32::try_from(number).map_err(|_| Errno::EBADF)?;
    SOCKETS.remove(number, |_| true).ok_or(Errno::EBADF)
}

impl Socket {
    #[allow(clippy::too_many_arguments, reason = "all that a socket begins with")]
    fn new(
        id: Shared<CmId>,
        number: RawFd,
        has_counter: bool,
        family: u16,
        nonblocking: bool,
        options: Options,
        member: Member,
        stage: Stage,
    ) -> Socket {
        Socket {
            id,
            number,
            has_counter: AtomicBool::new(has_counter),
            family,
            generation: process::generation(),
            stage: AtomicU8::new(stage as u8),
            nonblocking: AtomicBool::new(nonblocking),
            error: AtomicI32::new(0),
            options: Lock::new(options),
            waiters: Waiters::default(),
            bridges: Bridges::default(),
            patience: Patience::default(),
            datagram: None,
            link: OnceLock::new(),
            listening: OnceLock::new(),
            listener: OnceLock::new(),
            is_tended: AtomicBool::new(false),
            attempt: Lock::default(),
            member,
        }
    }

    /// From now on others may have references, and it is told what happens to its id.
    fn enter(self) -> Result<Shared<Socket>> {
        let socket = Shared::try_new(self)?;
        socket.hub().enter(&socket)?;
        Ok(socket)
    }

    /// The socket of a request that came to a listener. Nobody knows its number yet.
    pub fn of_request(listener: &Shared<Socket>, id: Shared<CmId>, link: Link) -> Result<Shared<Socket>> {
        let member = Hub::join(listener.hub());
        let options = listener.options.lock().inherited();
        let number = link.descriptor();
        let on_exec = descriptor::is_close_on_exec(listener.number).unwrap_or(true);
        let _ = descriptor::set_close_on_exec(number, on_exec);
        let socket = Socket::new(
            id,
            number,
            false,
            listener.family,
            listener.is_nonblocking(),
            options,
            member,
            Stage::Accepting,
        );
        let _ = socket.link.set(link);
        let _ = socket.listener.set(Weak::to(listener));
        socket.enter()
    }

    /// From now on the application knows the number.
    pub fn publish(socket: &Shared<Socket>) -> Result<RawFd> {
        let number = u32::try_from(socket.number).map_err(|_| Errno::EBADF)?;
        // A socket that had the number before was closed by close(2), not by rclose().
        match SOCKETS.insert(number, Shared::clone(socket))? {
            // Whatever its end would do is done to the parent.
            Some(before) if before.is_foreign() => std::mem::forget(before),
            Some(before) => {
                before.disown_number();
                before.leave_sets();
            }
            None => {}
        }
        Ok(socket.number)
    }

    /// Its id.
    pub fn id(&self) -> &Shared<CmId> {
        &self.id
    }

    /// Its number.
    pub fn number(&self) -> RawFd {
        self.number
    }

    /// The family of its addresses.
    pub fn family(&self) -> u16 {
        self.family
    }

    /// The thread that works for it.
    pub fn hub(&self) -> &Shared<Hub> {
        self.member.hub()
    }

    /// Whether it belongs to the parent of this process: whatever is done to it is done there.
    pub fn is_foreign(&self) -> bool {
        self.is_of_other(process::generation())
    }

    /// The same, for a caller who asks often and knows the process.
    #[inline]
    pub fn is_of_other(&self, generation: u32) -> bool {
        self.generation != generation
    }

    /// How far it is.
    pub fn stage(&self) -> Stage {
        Stage::of(self.stage.load(Ordering::SeqCst))
    }

    /// Whether it is just that far.
    #[inline]
    pub fn is(&self, stage: Stage) -> bool {
        self.stage.load(Ordering::SeqCst) == stage as u8
    }

    /// It is that far now: threads that wait for it are woken.
    pub fn set_stage(&self, stage: Stage) {
        self.stage.store(stage as u8, Ordering::SeqCst);
        self.stir();
    }

    /// Something has moved: wakes all that wait for it, but the reader. Returns whether there is one.
    pub fn stir(&self) -> bool {
        let has_reader = self.waiters.wake_all();
        self.attend();
        has_reader
    }

    /// There is no connection to be had, because of `error`.
    pub fn fail(&self, error: Errno) {
        self.error.store(error.raw(), Ordering::SeqCst);
        self.set_stage(Stage::Failed);
        self.ring();
    }

    /// Makes the descriptor readable, for those who wait in the kernel, unless that is the link's matter.
    pub fn ring(&self) {
        if self.has_counter.load(Ordering::SeqCst) {
            bell::ring(self.number);
        }
    }

    /// Ends [`Socket::ring`].
    pub fn silence(&self) {
        if self.has_counter.load(Ordering::SeqCst) {
            bell::silence(self.number);
        }
    }

    /// Whether calls on it do not wait.
    pub fn is_nonblocking(&self) -> bool {
        self.nonblocking.load(Ordering::Relaxed)
    }

    /// Whether calls on it do not wait, from now on.
    pub fn set_nonblocking(&self, on: bool) {
        self.nonblocking.store(on, Ordering::Relaxed);
    }

    /// The connection, when there is one or almost one.
    #[inline]
    pub fn link(&self) -> Option<&Link> {
        self.link.get()
    }

    /// The connection, when it stands or has stood.
    #[inline]
    pub fn live_link(&self) -> Option<&Link> {
        self.link().filter(|_| self.is(Stage::Connected) || self.is(Stage::Closed))
    }

    /// What it is besides, if it sends datagrams.
    #[inline]
    pub fn datagram(&self) -> Option<&Datagram> {
        self.datagram.as_ref()
    }

    /// Whether the application has closed it.
    pub fn is_closed(&self) -> bool {
        self.is(Stage::Closed)
    }

    /// Where completions are announced, if there can be any.
    pub fn channel(&self) -> Option<RawFd> {
        match self.datagram() {
            Some(datagram) => Some(datagram.descriptor()),
            None => self.link().map(Link::descriptor),
        }
    }

    /// The link that it connects by. Its descriptor becomes the socket's number.
    pub fn set_link(&self, link: Link) -> Result<()> {
        // For those who wait for the number in the kernel: it will be another file.
        self.ring();
        descriptor::put_over(link.descriptor(), self.number)?;
        link.completions().set_descriptor(self.number);
        self.has_counter.store(false, Ordering::SeqCst);
        self.link.set(link).map_err(|_| Errno::EINVAL)
    }

    /// What it waits for, if it listens.
    pub fn listening(&self) -> Option<&Listening> {
        self.listening.get()
    }

    /// The listener whose request made it, if that is still there.
    pub fn listener(&self) -> Option<Shared<Socket>> {
        self.listener.get()?.upgrade()
    }

    /// It listens from now on.
    pub fn set_listening(&self, listening: Listening) {
        let _ = self.listening.set(listening);
    }

    /// Why it does not work; 0 if it does, or somebody was told before.
    pub fn take_error(&self) -> i32 {
        match self.error.swap(0, Ordering::SeqCst) {
            0 => match self.datagram() {
                Some(datagram) => datagram.take_fault(),
                None => self.live_link().map_or(0, Link::take_fault),
            },
            error => error,
        }
    }

    /// The number is another socket's, and is not to be closed with this one.
    fn disown_number(&self) {
        self.has_counter.store(false, Ordering::SeqCst);
        if let Some(link) = self.link().filter(|link| link.descriptor() == self.number) {
            link.completions().set_descriptor(-1);
        }
        if let Some(datagram) = self.datagram() {
            datagram.disown_number(self.number);
        }
    }

    /// The number is free for others: nothing of it is left when this returns, even if threads still use the socket.
    pub fn release_number(&self) {
        self.leave_quiet();
        if self.has_counter.swap(false, Ordering::SeqCst) {
            device::close(self.number);
        } else if let Some(datagram) = self.datagram() {
            self.hub().inlets.remove(datagram.udp().fd());
            datagram.release(self.number, self.family);
        } else if let Some(link) = self.link().filter(|link| link.descriptor() == self.number) {
            // Without a descriptor to be had nobody is told of completions any more.
            link.completions().set_descriptor(descriptor::duplicate(self.number).unwrap_or(-1));
            device::close(self.number);
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        drop(self.link.take());
        if let Some(datagram) = &self.datagram {
            self.hub().inlets.remove(datagram.udp().fd());
        }
        if self.has_counter.load(Ordering::SeqCst) {
            device::close(self.number);
        }
        self.member.hub().leave(&self.id);
        id::abandon(&self.id);
    }
}
