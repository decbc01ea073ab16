// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! libibverbs: its functions, and owners for what they return.

mod address;
mod completion;
mod context;
mod extended;
mod ffi;
mod list;
mod memory;
mod owned;
mod pd;
mod queue_pair;
mod shared_queue;
mod transfer;
mod xrcd;

pub use address::AddressHandle;
pub use completion::CompletionQueue;
pub use context::Context;
pub use list::{Device, DeviceList};
pub use memory::{Access, Registered};
pub use owned::Owned;
pub use pd::ProtectionDomain;
pub use queue_pair::{QueuePair, QueuePairAttributes};
pub use shared_queue::{SharedQueue, SharedQueueAttributes};
pub use transfer::{Completion, Data, Post, Remote};
pub use xrcd::XrcDomain;
