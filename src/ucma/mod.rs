// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Commands to the kernel's connection manager, `/dev/infiniband/rdma_cm`.

pub mod node;
mod transport;

pub use transport::{Fd, Transport, execute, execute_into, order, request};
