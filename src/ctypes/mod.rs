// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The types of the C interface under their C names: what an application shares with this library.
//!
//! Data only. `cma` and `addrinfo` are also the source of the installed header `rdma/rdma_cma.h`; `verbs` and `sa`
//! mirror what libibverbs already declares to C and are printed nowhere.
#![allow(non_camel_case_types)] // the names are those of the C header, which prints them from here

/// Declares a C enum: an integer alias of its name and one constant for each value.
///
/// A C caller may pass any integer where its header says `enum`, and a Rust enum holding a value that it does not
/// list is undefined behaviour, hence the integers. The body is written as a plain Rust enum because that is what
/// `tools/gen-headers.sh` hands to the header printer: every value stands here once, for both languages.
macro_rules! c_enum {
    ($int:ty => $(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $value:ident = $number:expr,)+ }) => {
        $(#[$meta])*
        pub type $name = $int;
        $($(#[$doc])* pub const $value: $name = $number;)+
    };
}

mod addrinfo;
mod cma;
mod queue;
mod sa;
mod transfer;
mod verbs;

pub use addrinfo::*;
pub use cma::*;
pub use queue::*;
pub use sa::*;
pub use transfer::*;
pub use verbs::*;

/// A 16-bit number in network byte order.
pub type __be16 = u16;
/// A 32-bit number in network byte order.
pub type __be32 = u32;
/// A 64-bit number in network byte order.
pub type __be64 = u64;
