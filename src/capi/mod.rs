// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The C entry points, and nothing else: pointers are checked and become references, results become return values
//! and `errno`.
//!
//! The comments of the functions are those of the installed header.

pub(crate) mod address;
pub(crate) mod addrinfo;
pub(crate) mod borrow;
pub(crate) mod channel;
pub(crate) mod connection;
pub(crate) mod device;
pub(crate) mod endpoint;
pub(crate) mod event;
pub(crate) mod id;
pub(crate) mod multicast;
pub(crate) mod option;
pub(crate) mod queue;
mod ret;
mod rsocket;
