// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Which epoll sets a description is a member of, under which number, and with which event: for the kernel's socket, when
//! it takes over or listens too.

use crate::description::Description;
use crate::lock::Lock;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use libc::{c_int, epoll_event};

/// One membership.
#[derive(Clone, Copy)]
pub struct Member {
    next: *mut Member,
    /// Number of the set.
    pub set: c_int,
    /// Number of the member.
    pub number: c_int,
    /// What is waited for, and what to say then.
    pub event: epoll_event,
}

/// The list of them. All bits 0 when it is empty.
#[repr(C)]
pub struct Members {
    lock: Lock,
    first: AtomicPtr<Member>,
}

impl Members {
    /// NULL if there is no such membership.
    fn find(&self, set: c_int, number: c_int) -> *mut Member {
        let mut next = self.first.load(Ordering::Acquire);
        // SAFETY: members are freed under the lock only, which callers hold.
        while let Some(member) = unsafe { next.as_ref() } {
            if member.set == set && member.number == number {
                break;
            }
            next = member.next;
        }
        next
    }

    /// Notes a new or changed membership. False without memory.
    pub fn note(&self, set: c_int, number: c_int, event: epoll_event) -> bool {
        self.lock.locked(|| {
            // SAFETY: as above; nobody else has the list.
            if let Some(member) = unsafe { self.find(set, number).as_mut() } {
                member.event = event;
                return true;
            }
            // SAFETY: enough memory for a member, which nobody else knows yet.
            unsafe {
                let new = libc::malloc(size_of::<Member>()).cast::<Member>();
                if new.is_null() {
                    return false;
                }
                new.write(Member { next: self.first.load(Ordering::Relaxed), set, number, event });
                self.first.store(new, Ordering::Release);
            }
            true
        })
    }

    /// Notes the end of a membership.
    pub fn forget(&self, set: c_int, number: c_int) {
        self.lock.locked(|| {
            let found = self.find(set, number);
            if found.is_null() {
                return;
            }
            // SAFETY: as above; nobody else has the list.
            unsafe {
                let after = (*found).next;
                if self.first.load(Ordering::Relaxed) == found {
                    self.first.store(after, Ordering::Release);
                } else {
                    let mut before = self.first.load(Ordering::Relaxed);
                    while (*before).next != found {
                        before = (*before).next;
                    }
                    (*before).next = after;
                }
                libc::free(found.cast());
            }
        });
    }

    /// Calls it for each membership. It must not change the list.
    pub fn each(&self, mut work: impl FnMut(&Member)) {
        self.lock.locked(|| {
            let mut next = self.first.load(Ordering::Acquire);
            // SAFETY: as above.
            while let Some(member) = unsafe { next.as_ref() } {
                work(member);
                next = member.next;
            }
        });
    }
}

/// All memberships have ended.
pub fn forget_all(description: &Description) {
    let mut next = description.members.first.swap(ptr::null_mut(), Ordering::AcqRel);
    while !next.is_null() {
        // SAFETY: nobody else has the list any more.
        unsafe {
            let member = next;
            next = (*member).next;
            libc::free(member.cast());
        }
    }
}
