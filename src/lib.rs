// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The RDMA connection manager library as a drop-in `librdmacm.so.1`.
//!
//! The modules are layers; each uses only those below it (`docs/architecture.md` draws them):
//! `capi` holds the C entry points, `cm` the connection manager, `resolve` finds names and routes, `ucma` and `verbs`
//! speak to the kernel and to libibverbs, `sys` and `sync` wrap the operating system, and `ctypes`, `uapi`, `errno`,
//! `diag` are data.

#[allow(unsafe_code, reason = "the C ABI: raw pointers of the application become references here")]
pub mod capi;
pub mod cm;
pub mod ctypes;
pub mod diag;
pub mod errno;
#[cfg(any(test, fuzzing))]
#[allow(unsafe_code, reason = "it calls the C ABI as an application does")]
pub mod fuzz;
pub mod resolve;
#[allow(unsafe_code, reason = "calls that pass the application's memory through")]
pub mod rsocket;
pub mod sync;
#[allow(unsafe_code, reason = "the one place that calls libc")]
pub mod sys;
pub mod uapi;
pub mod ucma;
#[allow(unsafe_code, reason = "foreign functions and objects of libibverbs")]
pub mod verbs;
