// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What duplicates of a descriptor share.

use crate::lock::Lock;
use crate::members::{self, Members};
use crate::process;
use crate::rdma::rclose;
use crate::real;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU32, Ordering};
use libc::c_int;

/// What it is.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A socket over RDMA, whose key is that of librdmacm. The number is a socket of the kernel's that nobody is
    /// connected to; it keeps options, flags and an address in case that the connection cannot be made over RDMA.
    Socket = 1,
    /// A socket of the kernel's that is to become one over RDMA, since the connection must not be made before a fork.
    Pending = 2,
    /// The sockets over RDMA among the members of an epoll set. The key is a set of librdmacm.
    Bridge = 3,
}

/// See the module. All bits 0 when it is not in use.
#[repr(C)]
pub struct Description {
    /// Numbers that stand for it, and calls that use it.
    users: AtomicU32,
    kind: AtomicU8,
    /// How far a pending one is.
    pub stage: AtomicU8,
    /// Connections of the kernel's are accepted too.
    pub listens: AtomicBool,
    /// Address family.
    domain: AtomicI32,
    /// SOCK_STREAM and the like.
    type_: AtomicI32,
    owner: AtomicI32,
    /// Held by those who take connections of the kernel's.
    pub accepting: Lock,
    /// The epoll sets that it is a member of.
    pub members: Members,
}

impl Description {
    /// Begins, with one user. Nobody else knows the key.
    pub fn begin(&self, kind: Kind, domain: c_int, type_: c_int) {
        self.kind.store(kind as u8, Ordering::Relaxed);
        self.stage.store(0, Ordering::Relaxed);
        self.listens.store(false, Ordering::Relaxed);
        self.domain.store(domain, Ordering::Relaxed);
        self.type_.store(type_, Ordering::Relaxed);
        self.owner.store(process::own(), Ordering::Relaxed);
        self.users.store(1, Ordering::Release);
    }

    /// See [`Kind`].
    pub fn is(&self, kind: Kind) -> bool {
        self.kind.load(Ordering::Relaxed) == kind as u8
    }

    /// Address family.
    pub fn domain(&self) -> c_int {
        self.domain.load(Ordering::Relaxed)
    }

    /// SOCK_STREAM and the like.
    pub fn type_(&self) -> c_int {
        self.type_.load(Ordering::Relaxed)
    }

    /// Whether the kernel has streams for its addresses too.
    pub fn has_tcp(&self) -> bool {
        self.type_() == libc::SOCK_STREAM && [libc::AF_INET, libc::AF_INET6].contains(&self.domain())
    }

    /// Whether it was made by a parent of this process, who alone can use it.
    pub fn is_foreign(&self) -> bool {
        self.owner.load(Ordering::Relaxed) != process::own()
    }

    /// Whether it has begun, and not ended.
    pub fn is_used(&self) -> bool {
        self.users.load(Ordering::Acquire) > 0
    }

    /// One user more, unless it has ended.
    pub fn hold(&self) -> bool {
        self.users
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |users| {
                (users > 0).then_some(users.wrapping_add(1))
            })
            .is_ok()
    }

    /// One user less; without users it ends.
    pub fn release(&self, key: c_int) {
        if self.users.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        members::forget_all(self);
        // SAFETY: the key is open, and belongs to this description alone.
        unsafe {
            if self.is(Kind::Pending) {
                real::close(key);
            } else {
                rclose(key);
            }
        }
    }
}
