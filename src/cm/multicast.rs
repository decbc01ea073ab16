// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Memberships in multicast groups.
//!
//! The kernel hands the number of a membership back with its events. They count for the id and for the membership.

use super::event::{About, NO_PARAM};
use super::family::{self, Commands};
use super::id::CmId;
use super::ledger::Ledger;
use super::queue::groups::Group;
use super::{event_parameters, synchronous, unacknowledged};
use crate::ctypes::{
    RDMA_CM_EVENT_MULTICAST_ERROR, RDMA_CM_EVENT_MULTICAST_JOIN, RDMA_MC_JOIN_FLAG_FULLMEMBER,
    RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER, rdma_cm_event, rdma_cm_event_type, rdma_cm_mc_join_flags,
};
use crate::errno::{Errno, Result};
use crate::sync::{Key, Lock, Shared, Table};
use crate::sys::memory;
use crate::sys::thread::{self, uncancellable};
use crate::uapi::{EventReply, JoinIpMcast, JoinMcast, LeaveMcast};
use crate::ucma;
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{MutexGuard, OnceLock};

/// One id in one group.
pub struct Membership {
    id: Shared<CmId>,
    key: Key,
    address: Vec<u8>,
    flags: rdma_cm_mc_join_flags,
    /// The application's own, which events carry where others have private data.
    context: AtomicPtr<c_void>,
    ledger: Ledger,
}

/// A membership that stands, and the kernel's number of it.
struct Joined {
    membership: Shared<Membership>,
    handle: u32,
}

/// The memberships of an id, the last one last. Most ids never have one, and do not pay for it.
///
/// The lock is held while one is joined or left: of several in one group the kernel ends the last one, whichever number it
/// is told, so both must have the same order. The lock of the id's queues may be taken inside.
#[derive(Default)]
pub struct Memberships(OnceLock<Lock<Vec<Joined>>>);

impl Memberships {
    fn lock(&self) -> MutexGuard<'_, Vec<Joined>> {
        self.0.get_or_init(Lock::default).lock()
    }
}

/// All that there are, by the words that the kernel has of them.
pub static MEMBERSHIPS: Table<Shared<Membership>> = Table::new();

/// The number of a membership for the kernel: one that no id has, since keys of ids and memberships may be equal.
fn uid(key: Key) -> u64 {
    !key.raw()
}

/// The membership of that number.
pub fn of_uid(uid: u64) -> Option<Shared<Membership>> {
    MEMBERSHIPS.get(Key::from_raw(!uid))
}

/// Joins a group. An id with a channel of its own waits until it is a member. EINVAL for a family that the connection
/// manager does not know, EOPNOTSUPP for flags that the kernel's commands have no place for.
pub fn join(
    id: &Shared<CmId>,
    address: &[u8],
    flags: rdma_cm_mc_join_flags,
    context: *mut c_void,
) -> Result<()> {
    uncancellable(|| {
        let commands = Commands::of_kernel(id.fd())?;
        let size = family::size(family::family(address), commands)?;
        if commands == Commands::IpOnly && flags != RDMA_MC_JOIN_FLAG_FULLMEMBER {
            return Err(Errno::EOPNOTSUPP);
        }
        let owner = Shared::clone(id);
        let address = memory::concat(&[address])?;
        let mut memberships = id.memberships().lock();
        memberships.try_reserve(1)?;
        // Its event may come before the kernel's answer: it has to be known before.
        let membership = MEMBERSHIPS.insert_with(|key| {
            Shared::try_new(Membership {
                id: owner,
                key,
                address,
                flags,
                context: AtomicPtr::new(context),
                ledger: Ledger::default(),
            })
        })?;
        let key = membership.key;
        let joined = match commands {
            Commands::AnyFamily => ucma::request(
                &id.fd(),
                JoinMcast {
                    response: 0,
                    uid: uid(key),
                    id: id.handle(),
                    addr_size: size as u16,
                    join_flags: flags as u16,
                    addr: family::storage(&membership.address),
                },
            ),
            Commands::IpOnly => ucma::request(
                &id.fd(),
                JoinIpMcast {
                    response: 0,
                    uid: uid(key),
                    addr: family::ip(&membership.address),
                    id: id.handle(),
                },
            ),
        };
        let handle = joined.inspect_err(|_| drop(MEMBERSHIPS.remove(key)))?.id;
        memberships.push(Joined { membership, handle });
        Ok(())
    })?;
    synchronous::complete(id, &[RDMA_CM_EVENT_MULTICAST_JOIN, RDMA_CM_EVENT_MULTICAST_ERROR])
}

/// Leaves the group, which its queue pair does not receive from any more; of several memberships in it the last joined.
/// Waits for events of the membership that other threads have not acknowledged. EADDRNOTAVAIL for a group that the id is
/// not in.
pub fn leave(id: &CmId, address: &[u8]) -> Result<()> {
    uncancellable(|| {
        let mut memberships = id.memberships().lock();
        let position = memberships.iter().rposition(|joined| joined.membership.address == address);
        let Joined { membership, handle } = memberships.remove(position.ok_or(Errno::EADDRNOTAVAIL)?);
        membership.detach();
        let result = ucma::request(&id.fd(), LeaveMcast { response: 0, id: handle, reserved: 0 });
        match result {
            Ok(reply) => {
                drop(memberships);
                // Events that no application has seen, or that the last synchronous call left.
                if id.is_synchronous() {
                    id.acknowledge_kept();
                }
                while let Some(event) = id.channel().take_deferred(|event| event.is_of(&membership)) {
                    event.acknowledge();
                }
                membership.ledger.settle(reply.events_reported, || {
                    unacknowledged::tell("rdma_leave_multicast", id, |event| event.is_of(&membership));
                });
                // An event that another thread was processing may have attached the queue pair since.
                membership.detach();
            }
            // The kernel has forgotten it, or refuses every command of this process.
            Err(Errno::EACCES | Errno::EBADF | Errno::ENODEV | Errno::ENOENT) => {}
            Err(error) => {
                memberships.push(Joined { membership, handle });
                return Err(error);
            }
        }
        drop(MEMBERSHIPS.remove(membership.key));
        result.map(|_| ())
    })
}

/// Forgets all memberships of an id that is destroyed: the kernel has ended them.
pub fn forget_all(id: &CmId) {
    let Some(memberships) = id.memberships().0.get() else { return };
    let ended = std::mem::take(&mut *memberships.lock());
    for Joined { membership, .. } in ended {
        drop(MEMBERSHIPS.remove(membership.key));
    }
}

impl Membership {
    /// The account of its events.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The id that is the member.
    pub fn id(&self) -> &Shared<CmId> {
        &self.id
    }

    /// Whether that is a kind of event that memberships have. Any other, such as a request that brings no new id, is not
    /// for the application; it is accounted for.
    pub fn expects(&self, event: rdma_cm_event_type) -> bool {
        let expected = [RDMA_CM_EVENT_MULTICAST_JOIN, RDMA_CM_EVENT_MULTICAST_ERROR].contains(&event);
        if !expected {
            self.ledger.discard();
            self.id.ledger().discard();
        }
        expected
    }

    /// Fills `public` with an event of the membership. A queue pair that is there receives from the group from now on.
    pub fn happened(&self, reply: &EventReply, public: &mut rdma_cm_event) -> About {
        public.event = reply.event;
        public.status = reply.status as i32;
        public.param = NO_PARAM;
        let context = self.context.load(Ordering::Relaxed);
        public.param.ud = match reply.event {
            RDMA_CM_EVENT_MULTICAST_JOIN => event_parameters::datagram(reply.param.ud(), context),
            _ => event_parameters::no_datagram(context),
        };
        let joined = reply.event == RDMA_CM_EVENT_MULTICAST_JOIN;
        if let Some(Err(error)) = joined.then(|| self.attach(reply)) {
            public.event = RDMA_CM_EVENT_MULTICAST_ERROR;
            public.status = -error.raw();
        }
        self.ledger.hand_out(thread::current());
        About { id: Shared::clone(&self.id), listener: None }
    }

    fn attach(&self, reply: &EventReply) -> Result<()> {
        if self.flags == RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER {
            return Ok(());
        }
        let handle = &reply.param.ud().ah_attr;
        let group = Group { gid: handle.grh.dgid, lid: handle.dlid };
        let mut queues = self.id.queues().lock();
        match self.id.queue_pair() {
            Some(queue_pair) => queues.groups.attach(queue_pair, self.key, group),
            None => Ok(()),
        }
    }

    fn detach(&self) {
        let mut queues = self.id.queues().lock();
        if let Some(queue_pair) = self.id.queue_pair() {
            queues.groups.detach(queue_pair, self.key);
        }
    }
}
