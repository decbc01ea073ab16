// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Sockets that are handed to a child. A connection over RDMA belongs to the process that made it; so it is made when it is
//! first used: until then it is one of the kernel's, and can be given away by fork, and by exec.
//!
//! The side that accepted listens over RDMA, at the address that the peer knows, and says so by four bytes of zeros. The
//! other one looks at those before it sends or receives anything, and connects. If that does not work in time, the
//! connection stays what it is. No two processes listen at one address at the same time: the port is the lock, which
//! the kernel takes back from who dies.

use crate::connect::result_until;
use crate::description::{Description, Kind};
use crate::rdma::{raccept, rbind, rclose, rconnect, rlisten, rsetsockopt, rsocket};
use crate::table::{self, Held};
use crate::timeout::Deadline;
use crate::{epoll, errno, names, rdma, real, settings, sockets, thread};
use core::ptr;
use core::sync::atomic::Ordering;
use libc::{c_int, c_short, c_void, pollfd, socklen_t, stat};

/// How long either side waits for the other, in ms.
const PATIENCE: c_int = 30_000;
/// How long a peer that has ended the connection over TCP may take to show itself over RDMA, in ms.
const LAST_PATIENCE: c_int = 5_000;
/// How long somebody waits for a port that another process listens at, before it looks again, in us.
const PAUSE: libc::useconds_t = 5_000;
/// What the passive side sends: this many zeros.
const WORD: usize = size_of::<u32>();
/// By that the kernel's socket is known after exec. It is the signal of a descriptor for which no signals were asked.
const MARK: c_int = 63;
/// Descriptors among which a new program looks for sockets that it was given.
const GIVEN: c_int = 64;

const F_SETSIG: c_int = 10;
const F_GETSIG: c_int = 11;

/// How far a pending socket is.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Stage {
    /// Nothing was done with it.
    New,
    /// It waits for connections, which are passive.
    Listening,
    /// It has connected, or is about to.
    Active,
    /// It was accepted.
    Passive,
    /// A thread makes the connection over RDMA.
    Changing,
    /// It stays one of the kernel's.
    Settled,
}

fn is_at(description: &Description, stage: Stage) -> bool {
    description.stage.load(Ordering::Acquire) == stage as u8
}

fn set(description: &Description, stage: Stage) {
    description.stage.store(stage as u8, Ordering::Release);
}

/// From now on the number is a socket that is to change. Without the means for that it stays one of the kernel's.
pub fn watch(number: c_int, domain: c_int, stage: Stage) {
    errno::kept(|| {
        // SAFETY: numbers.
        let key = unsafe { real::fcntl(number, libc::F_DUPFD_CLOEXEC, GIVEN as usize) };
        let Some(description) = table::make_description(key) else {
            // SAFETY: nobody else knows it.
            unsafe { real::close(key) };
            return;
        };
        description.begin(Kind::Pending, domain, libc::SOCK_STREAM);
        set(description, stage);
        if stage == Stage::Passive {
            // SAFETY: numbers.
            unsafe { real::fcntl(number, F_SETSIG, MARK as usize) };
        }
        if !table::assign_new(number, key) {
            table::release(key);
        }
    });
}

/// It listens now.
pub fn listens(description: &Description) {
    set(description, Stage::Listening);
}

/// It is about to connect.
pub fn connects(description: &Description) {
    set(description, Stage::Active);
}

/// Looks for passive sockets that the program was given by the one before it in this process.
pub fn adopt() {
    if !settings::waits_for_fork() {
        return;
    }
    for number in 0..GIVEN {
        // SAFETY: numbers.
        if unsafe { real::fcntl(number, F_GETSIG, 0) } != MARK {
            continue;
        }
        let Some(name) = names::of_peer(number) else { continue };
        match (0..number)
            .find(|other| table::is_known(*other) && is_same(*other, number))
            .and_then(table::find)
        {
            Some(held) => drop(table::assign(number, &held)),
            None => watch(number, name.family(), Stage::Passive),
        }
    }
}

fn is_same(one: c_int, other: c_int) -> bool {
    // SAFETY: all bits 0 are a status, and fstat() fills it.
    unsafe {
        let mut status: [stat; 2] = core::mem::zeroed();
        let [first, second] = &mut status;
        libc::fstat(one, first) == 0
            && libc::fstat(other, second) == 0
            && (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)
    }
}

/// The socket over RDMA that a number stands for. One that is to become that becomes it now.
pub fn find(number: c_int) -> Option<Held> {
    let held = table::find(number)?;
    if held.description().is(Kind::Pending) && change(number, &held) {
        drop(held);
        return sockets::find(number);
    }
    Some(held).filter(|held| held.description().is(Kind::Socket))
}

/// Whether a number stands for a socket over RDMA, for somebody who waits for events. A passive one has to become that:
/// the peer sends nothing before.
pub fn is_socket_for(number: c_int, events: c_short) -> bool {
    let Some(held) = table::find(number) else { return false };
    let is_waiting = held.description().is(Kind::Pending) && is_at(held.description(), Stage::Passive);
    if is_waiting && events & libc::POLLIN != 0 {
        return find(number).is_some();
    }
    held.description().is(Kind::Socket)
}

/// Makes the connection over RDMA, unless somebody else is about to. Whether the number stands for it now.
fn change(number: c_int, held: &Held) -> bool {
    let description = held.description();
    let deadline = Deadline::after_ms(2 * PATIENCE);
    loop {
        let stage = description.stage.load(Ordering::Acquire);
        let passive = stage == Stage::Passive as u8;
        if stage == Stage::Changing as u8 && !deadline.is_over() {
            // SAFETY: a time.
            unsafe { libc::usleep(PAUSE) };
            continue;
        }
        if !passive && stage != Stage::Active as u8 {
            return table::find(number).is_some_and(|held| held.description().is(Kind::Socket));
        }
        let begun = description.stage.compare_exchange(
            stage,
            Stage::Changing as u8,
            Ordering::AcqRel,
            Ordering::Acquire,
        );
        if begun.is_err() {
            continue;
        }
        let socket = errno::kept(|| {
            thread::inside(|| {
                if passive { accepted(number, description) } else { connected(number, description) }
            })
        });
        let changed = socket.is_some_and(|socket| replace(number, held, socket));
        if !changed {
            stay(held);
        }
        set(description, Stage::Settled);
        return changed;
    }
}

/// It stays one of the kernel's, for programs to come too: all duplicates are what they look like.
fn stay(held: &Held) {
    // SAFETY: numbers; the key is a duplicate too.
    unsafe { real::fcntl(held.key(), F_SETSIG, 0) };
    table::redirect(held.key(), None, |_| ());
}

/// All duplicates stand for the socket over RDMA. The connection by which it was made ends.
fn replace(number: c_int, held: &Held, socket: c_int) -> bool {
    copy_options(number, socket);
    // The number itself comes first; the others follow.
    if !sockets::publish(number, socket, held.description().domain(), libc::SOCK_STREAM) {
        return false;
    }
    // Unless somebody closed it, and with it the socket.
    let Some(new) = table::find(number).filter(|new| new.key() == socket) else { return false };
    table::redirect(held.key(), Some(&new), |_| ());
    epoll::move_to_rdma(held, &new);
    // SAFETY: numbers.
    unsafe {
        real::fcntl(number, F_SETSIG, 0);
        real::shutdown(number, libc::SHUT_RDWR);
    }
    true
}

/// Options that count for a connection.
const OPTIONS: [(c_int, c_int); 6] = [
    (libc::SOL_SOCKET, libc::SO_KEEPALIVE),
    (libc::SOL_SOCKET, libc::SO_OOBINLINE),
    (libc::SOL_SOCKET, libc::SO_RCVTIMEO),
    (libc::SOL_SOCKET, libc::SO_SNDTIMEO),
    (libc::SOL_SOCKET, libc::SO_LINGER),
    (libc::IPPROTO_TCP, libc::TCP_NODELAY),
];

fn copy_options(number: c_int, socket: c_int) {
    for (level, name) in OPTIONS {
        let mut value = [0_u64; 2];
        let mut length = size_of_val(&value) as socklen_t;
        let place = value.as_mut_ptr().cast::<c_void>();
        // SAFETY: a value with room as long as said.
        unsafe {
            if real::getsockopt(number, level, name, place, &mut length) == 0 {
                rsetsockopt(socket, level, name, place, length);
            }
        }
    }
    // SAFETY: numbers.
    let flags = unsafe { real::fcntl(number, libc::F_GETFL, 0) };
    rdma::set_nonblocking(socket, flags & libc::O_NONBLOCK != 0);
}

/// The passive side: a connection over RDMA, if the peer makes it in time.
fn accepted(number: c_int, description: &Description) -> Option<c_int> {
    let name = names::of(number)?;
    let deadline = Deadline::after_ms(PATIENCE);
    // SAFETY: numbers and an address of the kernel's; the listener is closed by nobody else.
    unsafe {
        let listener = listening(&name, description.domain(), deadline)?;
        let zeros = [0_u8; WORD];
        let sent = real::send(number, zeros.as_ptr().cast(), WORD, libc::MSG_NOSIGNAL);
        let mut socket = -1;
        if sent == WORD as isize && peer_connects(listener, number, deadline) {
            rdma::set_nonblocking(listener, true);
            socket = raccept(listener, ptr::null_mut(), ptr::null_mut());
        }
        rclose(listener);
        (socket >= 0).then_some(socket)
    }
}

/// Whether the peer comes over RDMA. One that sends data over TCP will not. One that ends the connection over TCP has
/// come, or has gone.
fn peer_connects(listener: c_int, number: c_int, deadline: Deadline) -> bool {
    let mut watches = [
        pollfd { fd: listener, events: libc::POLLIN, revents: 0 },
        pollfd { fd: number, events: libc::POLLIN | libc::POLLRDHUP, revents: 0 },
    ];
    let ready = rdma::wait_until(&mut watches, deadline);
    let [over_rdma, over_tcp] = watches;
    if ready > 0 && over_rdma.revents == 0 && over_tcp.revents & libc::POLLRDHUP != 0 {
        let last = Deadline::after_ms(LAST_PATIENCE.min(deadline.left_ms()));
        return rdma::wait_until(&mut [over_rdma], last) > 0;
    }
    ready > 0 && over_rdma.revents != 0
}

/// A socket that listens at the address, when nobody else does any more. None if it cannot, or not in time.
unsafe fn listening(name: &names::Name, domain: c_int, deadline: Deadline) -> Option<c_int> {
    loop {
        // SAFETY: numbers and an address of the kernel's.
        unsafe {
            let listener = rsocket(domain, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0);
            if listener < 0 {
                return None;
            }
            if rbind(listener, name.address(), name.length()) == 0 && rlisten(listener, 1) == 0 {
                return Some(listener);
            }
            let error = errno::get();
            rclose(listener);
            if ![libc::EADDRINUSE, libc::EADDRNOTAVAIL].contains(&error) || deadline.is_over() {
                return None;
            }
            libc::usleep(PAUSE);
        }
    }
}

/// The active side: a connection over RDMA, if the peer asks for it in time.
fn connected(number: c_int, description: &Description) -> Option<c_int> {
    let deadline = Deadline::after_ms(PATIENCE);
    let mut word = [1_u8; WORD];
    // SAFETY: numbers, memory with its length, and an address of the kernel's.
    unsafe {
        loop {
            let peeked =
                real::recv(number, word.as_mut_ptr().cast(), WORD, libc::MSG_PEEK | libc::MSG_DONTWAIT);
            if peeked == WORD as isize {
                break;
            }
            let mut watch = pollfd { fd: number, events: libc::POLLIN | libc::POLLRDHUP, revents: 0 };
            let waits = peeked > 0 || peeked < 0 && errno::get() == libc::EAGAIN;
            if !waits || deadline.is_over() {
                return None;
            }
            if real::poll(&mut watch, 1, deadline.left_ms()) < 0 && errno::get() != libc::EINTR {
                return None;
            }
            if peeked > 0 {
                // Part of a word is readable all the time.
                libc::usleep(PAUSE);
            }
        }
        if word != [0; WORD] {
            return None;
        }
        // So that they are not taken for data, whatever comes of it.
        real::recv(number, word.as_mut_ptr().cast(), WORD, libc::MSG_DONTWAIT);
        let name = names::of_peer(number)?;
        let socket = rsocket(description.domain(), libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0);
        if socket < 0 {
            return None;
        }
        rdma::set_nonblocking(socket, true);
        let begun = rconnect(socket, name.address(), name.length()) == 0 || errno::get() == libc::EINPROGRESS;
        if begun && result_until(socket, deadline) == Some(0) {
            return Some(socket);
        }
        rclose(socket);
        None
    }
}
