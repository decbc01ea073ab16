// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Names and routes: the system's name services, and ibacm, the service that caches paths of InfiniBand.

pub mod ib;
pub mod ibacm;
pub mod info;
#[allow(unsafe_code, reason = "the list that C gets and gives back")]
pub mod list;
pub mod names;
pub mod sockaddr;

pub use info::AddrInfo;
pub use list::List;
pub use names::Failure;
