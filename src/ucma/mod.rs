// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Commands to the kernel's connection manager, `/dev/infiniband/rdma_cm`.

pub mod node;
#[cfg(any(test, fuzzing))]
pub mod stand_in;
mod transport;

pub use transport::{Draft, Fd, Transport, execute, execute_into, order, request};
