// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The connection manager: channels, ids and events.
//!
//! Order of locks: each is taken alone and none is held across a call into the kernel or libibverbs, but for those of
//! `bell`, `multicast` and `pool`, which say so, and an id's queues (`CmId::queues`), whose queue pair is made, used and
//! taken out to be destroyed under the lock; its connection (`CmId::connection`) may be locked inside. A thread that waits
//! in the kernel for an event owns nothing on its stack, since it may be cancelled there (`waiter`).

pub mod address;
pub mod addrinfo;
mod bell;
#[allow(unsafe_code, reason = "the reference that threads inside a destroyed channel live on")]
pub mod channel;
pub mod connection;
mod decode;
pub mod device;
pub mod devices;
#[allow(unsafe_code, reason = "attributes that the application lends for queue pairs to come")]
pub mod endpoint;
#[allow(unsafe_code, reason = "the memory that an event shares with the application")]
pub mod event;
mod event_parameters;
pub mod family;
pub mod forks;
pub mod get;
#[allow(unsafe_code, reason = "the struct that an id shares with the application")]
pub mod id;
mod ledger;
mod line;
pub mod migrate;
pub mod multicast;
pub mod name;
pub mod option;
pub mod path;
pub mod pool;
#[allow(unsafe_code, reason = "the struct that an id shares with the application")]
mod public;
mod query;
pub mod queue;
pub mod service;
mod synchronous;
pub mod uid;
mod unacknowledged;
mod unfinished;
pub mod user;
#[allow(unsafe_code, reason = "the kernel writes into memory that is parked")]
mod waiter;
mod wake;

/// Forgets what the process has found out about the kernel: the next command may meet another one.
#[cfg(any(test, fuzzing))]
pub fn forget_kernel() {
    family::forget();
    wake::forget();
}
