// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The open devices, and when they are let go.
//!
//! Opening a device is expensive, and an open one cannot be removed. So it stays open for a moment after its last user,
//! and is closed then, unless the application still has objects of its own on it: those would be gone with the context.
//! A thread (`watch`) sees to that. It exists only while a device without users is open.

use super::device::{Device, Name};
use crate::errno::Result;
use crate::sync::{Condition, Lock, Shared};
use crate::sys::process::AtFork;
use crate::sys::thread;
use std::cell::Cell;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr;
use std::sync::MutexGuard;
use std::time::{Duration, Instant};

/// How long a device waits for its next user. It is closed after this and `SETTLE`, if nothing is on it.
const IDLE: Duration = Duration::from_millis(400);
/// Nothing may be on a device twice, this far apart: a thread that just destroyed the last object through the context
/// may still be on its way out of there.
const SETTLE: Duration = Duration::from_millis(100);
/// How often a device with objects on it is looked at.
const AGAIN: Duration = Duration::from_secs(1);
/// The same where the kernel waits for the device.
const AGAIN_REMOVED: Duration = Duration::from_millis(200);

/// Enough for closing a device, whatever its driver.
const STACK_BYTES: usize = 256 << 10;

/// A device with somebody who uses it: it stays open as long.
pub struct InUse {
    // Dropped before the notice, so that the last notice finds no reference but the pool's.
    device: Shared<Device>,
    _notice: Notice,
}

impl Deref for InUse {
    type Target = Device;

    fn deref(&self) -> &Device {
        &self.device
    }
}

/// Tells the pool that a user has left.
struct Notice(Key);

impl Drop for Notice {
    fn drop(&mut self) {
        left(self.0);
    }
}

/// The address of a device in the pool.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key(usize);

struct Entry {
    device: Shared<Device>,
    users: usize,
    /// What comes next while there are no users; None if nothing does.
    look: Option<Look>,
}

/// When to look what is on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Look {
    at: Instant,
    /// Whether there was nothing the last time.
    bare: bool,
}

struct Pool {
    entries: Vec<Entry>,
    /// Devices that are out to be closed, for which there must be room if they cannot be.
    out: usize,
    watcher: Watcher,
    /// The devices of the process that this one is a forked child of. They cannot be used here, and whatever is done
    /// to them is done to the parent.
    inherited: Vec<Entry>,
}

/// The thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Watcher {
    Absent,
    /// Looks at the pool before it sleeps.
    Awake,
    AsleepUntil(Instant),
}

static POOL: Lock<Pool> =
    Lock::new(Pool { entries: Vec::new(), out: 0, watcher: Watcher::Absent, inherited: Vec::new() });

/// Told when the thread is to wake up early.
static CALLED: Condition = Condition::new();

/// The open device of that name. This makes no system call.
pub fn take(name: Name) -> Option<InUse> {
    POOL.lock().find(name).map(Entry::enter)
}

/// A device that was just opened. If it is in the pool already, the one there is used and the new one closed;
/// without memory too: ENOMEM.
pub fn enter(device: Device) -> Result<InUse> {
    static AT_FORK: AtFork = AtFork::new(Some(before_fork), Some(after_fork), Some(in_child));
    AT_FORK.remember()?;
    let new = Shared::try_new(device)?;
    let mut pool = POOL.lock();
    if let Some(entry) = pool.find(new.name()) {
        return Ok(entry.enter());
    }
    let room = pool.out + 1;
    pool.entries.try_reserve(room)?;
    let mut entry = Entry { device: new, users: 0, look: None };
    let user = entry.enter();
    pool.entries.push(entry);
    Ok(user)
}

impl Entry {
    fn key(&self) -> Key {
        Key(Shared::as_ptr(&self.device).addr())
    }

    fn enter(&mut self) -> InUse {
        self.users += 1;
        self.look = None;
        InUse { device: Shared::clone(&self.device), _notice: Notice(self.key()) }
    }
}

impl Pool {
    /// A device that is being removed gets no new users: one of the same name will be another.
    fn find(&mut self, name: Name) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| name.matches(entry.device.name()) && !entry.device.is_removed())
    }

    /// A device to look at by now.
    fn due(&self, now: Instant) -> Option<(Shared<Device>, Look)> {
        self.entries.iter().find_map(|entry| {
            let look = entry.look.filter(|look| look.at <= now)?;
            Some((Shared::clone(&entry.device), look))
        })
    }

    fn next_look(&self) -> Option<Instant> {
        self.entries.iter().filter_map(|entry| entry.look).map(|look| look.at).min()
    }
}

/// One user less. Of a forked child's inherited devices nothing is known.
fn left(key: Key) {
    let mut pool = POOL.lock();
    let Some(entry) = pool.entries.iter_mut().find(|entry| entry.key() == key) else {
        return;
    };
    entry.users -= 1;
    if entry.users > 0 {
        return;
    }
    let at = Instant::now() + if entry.device.is_removed() { Duration::ZERO } else { IDLE };
    entry.look = Some(Look { at, bare: false });
    match pool.watcher {
        Watcher::AsleepUntil(until) if until > at => {
            pool.watcher = Watcher::Awake;
            CALLED.wake_all();
        }
        Watcher::Awake | Watcher::AsleepUntil(_) => {}
        Watcher::Absent => {
            pool.watcher = Watcher::Awake;
            drop(pool);
            if thread::start(c"rdmacm-idle", STACK_BYTES, watch).is_err() {
                decide_now();
            }
        }
    }
}

/// Without a thread there is no later.
fn decide_now() {
    let mut pool = POOL.lock();
    pool.watcher = Watcher::Absent;
    let now = Instant::now();
    for look in pool.entries.iter_mut().filter_map(|entry| entry.look.as_mut()) {
        *look = Look { at: now, bare: true };
    }
    drop(pool);
    thread::uncancellable(|| look_at_due(now));
}

/// The thread: looks at devices when it is time to, until there are none to look at.
extern "C" fn watch(_: *mut c_void) -> *mut c_void {
    let mut pool = POOL.lock();
    while let Some(next) = pool.next_look() {
        let now = Instant::now();
        if next > now {
            let asleep = Watcher::AsleepUntil(next);
            pool.watcher = asleep;
            pool = CALLED.wait_while_for(pool, next - now, |pool| pool.watcher == asleep);
            pool.watcher = Watcher::Awake;
            continue;
        }
        drop(pool);
        look_at_due(now);
        pool = POOL.lock();
    }
    pool.watcher = Watcher::Absent;
    ptr::null_mut()
}

fn look_at_due(now: Instant) {
    loop {
        // The lock is not held meanwhile.
        let due = POOL.lock().due(now);
        let Some((device, look)) = due else { break };
        let has_objects = device.has_objects();
        let step = Step::after(look, has_objects, device.is_removed(), Instant::now());
        let gone = conclude(device, look, step);
        // Closes it.
        drop(gone);
    }
}

/// What a look at a device leads to.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Close,
    Look(Look),
    /// It stays open for good, as nobody knows when that ends.
    Keep,
}

impl Step {
    fn after(look: Look, has_objects: Result<bool>, removed: bool, now: Instant) -> Step {
        let again = if removed { AGAIN_REMOVED } else { AGAIN };
        match has_objects {
            Err(error) if error.is_passing() => Step::Look(Look { at: now + again, bare: false }),
            Err(_) => Step::Keep,
            Ok(true) => Step::Look(Look { at: now + again, bare: false }),
            Ok(false) if look.bare => Step::Close,
            Ok(false) => Step::Look(Look { at: now + SETTLE, bare: true }),
        }
    }
}

/// Takes the step, unless somebody has used the device since. Returns it if it is to be closed.
fn conclude(device: Shared<Device>, look: Look, step: Step) -> Option<Shared<Device>> {
    let mut pool = POOL.lock();
    let position = pool
        .entries
        .iter()
        .position(|entry| Shared::is_same(&entry.device, &device) && entry.look == Some(look))?;
    match step {
        Step::Close => {}
        Step::Look(look) => {
            pool.entries.get_mut(position)?.look = Some(look);
            return None;
        }
        Step::Keep => {
            pool.entries.get_mut(position)?.look = None;
            return None;
        }
    }
    let mut entry = pool.entries.swap_remove(position);
    pool.out += 1;
    drop(pool);
    drop(device);
    let is_free = Shared::only(&mut entry.device).is_some_and(Device::free_domains);
    let mut pool = POOL.lock();
    pool.out -= 1;
    if is_free {
        return Some(entry.device);
    }
    entry.look = Some(Look { at: Instant::now() + AGAIN, bare: false });
    pool.entries.push(entry);
    None
}

thread_local! {
    /// The lock of the pool, while the process forks. Nothing of it is to be done when the thread ends, which would take
    /// memory to remember.
    static HELD: Cell<Option<ManuallyDrop<MutexGuard<'static, Pool>>>> = const { Cell::new(None) };
}

/// Nobody else may be in the pool while it is copied.
extern "C" fn before_fork() {
    let pool = POOL.lock();
    HELD.set(Some(ManuallyDrop::new(pool)));
}

extern "C" fn after_fork() {
    drop(HELD.take().map(ManuallyDrop::into_inner));
}

extern "C" fn in_child() {
    if let Some(mut pool) = HELD.take().map(ManuallyDrop::into_inner) {
        let Pool { entries, inherited, watcher, .. } = &mut *pool;
        if inherited.try_reserve(entries.len()).is_ok() {
            inherited.append(entries);
        } else {
            std::mem::forget(std::mem::take(entries));
        }
        *watcher = Watcher::Absent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errno::Errno;

    #[test]
    fn a_device_is_closed_when_it_was_found_bare_twice() {
        let now = Instant::now();
        let first = Look { at: now, bare: false };
        let Step::Look(second) = Step::after(first, Ok(false), false, now) else { panic!() };
        assert_eq!(second, Look { at: now + SETTLE, bare: true });
        assert_eq!(Step::after(second, Ok(false), false, now), Step::Close);
    }

    #[test]
    fn an_object_on_it_starts_the_count_anew() {
        let now = Instant::now();
        let bare = Look { at: now, bare: true };
        let later = |wait| Step::Look(Look { at: now + wait, bare: false });
        assert_eq!(Step::after(bare, Ok(true), false, now), later(AGAIN));
        assert_eq!(Step::after(bare, Ok(true), true, now), later(AGAIN_REMOVED));
    }

    #[test]
    fn what_the_kernel_does_not_tell_of_stays_open() {
        let now = Instant::now();
        assert_eq!(Step::after(Look { at: now, bare: true }, Err(Errno::EIO), true, now), Step::Keep);
    }

    #[test]
    fn what_it_cannot_tell_now_it_may_tell_later() {
        let now = Instant::now();
        let later = Step::Look(Look { at: now + AGAIN, bare: false });
        assert_eq!(Step::after(Look { at: now, bare: true }, Err(Errno::ENOMEM), false, now), later);
    }
}
