// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The C entry points, and nothing else: pointers are checked and become references, results become return values
//! and `errno`.
//!
//! The comments of the functions are those of the installed header.

mod address;
mod addrinfo;
mod borrow;
mod channel;
mod connection;
mod device;
mod endpoint;
mod event;
mod id;
mod multicast;
mod option;
mod queue;
mod ret;
mod rsocket;
