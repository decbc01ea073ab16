// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Names of hosts and services: `getaddrinfo(3)`.

use super::memory;
use crate::errno::{Errno, Result};
use std::ffi::{CStr, c_int};
use std::mem::MaybeUninit;
use std::{ptr, slice};

/// What is asked for, as in `struct addrinfo`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// `AI_` flags.
    pub flags: c_int,
    /// Address family, or AF_UNSPEC.
    pub family: c_int,
    /// `SOCK_` type, or 0.
    pub kind: c_int,
    /// Protocol, or 0.
    pub protocol: c_int,
}

/// One answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Which of the wanted things it is.
    pub what: Wanted,
    /// A socket address.
    pub address: Vec<u8>,
}

/// An `EAI_` value, and for EAI_SYSTEM its errno.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotFound {
    /// Negative.
    pub code: c_int,
    /// The errno behind EAI_SYSTEM.
    pub system: Option<Errno>,
}

/// Asks for a node, a service or both. The answers are in the order of preference, and at least one. Without `wanted`
/// the system's defaults apply.
pub fn look_up(
    node: Option<&CStr>,
    service: Option<&CStr>,
    wanted: Option<Wanted>,
) -> core::result::Result<Vec<Found>, NotFound> {
    let hints = wanted.map(|wanted| {
        // SAFETY: integers and pointers; all of them may be zero.
        let mut hints: libc::addrinfo = unsafe { MaybeUninit::zeroed().assume_init() };
        hints.ai_flags = wanted.flags;
        hints.ai_family = wanted.family;
        hints.ai_socktype = wanted.kind;
        hints.ai_protocol = wanted.protocol;
        hints
    });
    let text = |text: Option<&CStr>| text.map_or(ptr::null(), CStr::as_ptr);
    let mut first = ptr::null_mut();
    // SAFETY: the strings end with NUL, the hints have no pointers, and the result has a place.
    let code = unsafe {
        libc::getaddrinfo(
            text(node),
            text(service),
            hints.as_ref().map_or(ptr::null(), ptr::from_ref),
            &mut first,
        )
    };
    if code != 0 {
        let system = (code == libc::EAI_SYSTEM).then(Errno::last);
        return Err(NotFound { code, system });
    }
    // SAFETY: the list came from getaddrinfo, is whole, and is freed once, after its last use.
    let found = unsafe {
        let found = entries(first);
        libc::freeaddrinfo(first);
        found
    };
    found.map_err(|_| NotFound { code: libc::EAI_MEMORY, system: None })
}

/// A copy of a list. ENOMEM without memory.
///
/// # Safety
///
/// The list is whole.
unsafe fn entries(mut next: *const libc::addrinfo) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    // SAFETY: the caller's promise.
    unsafe {
        while let Some(entry) = next.as_ref() {
            let what = Wanted {
                flags: entry.ai_flags,
                family: entry.ai_family,
                kind: entry.ai_socktype,
                protocol: entry.ai_protocol,
            };
            let address = slice::from_raw_parts(entry.ai_addr.cast::<u8>(), entry.ai_addrlen as usize);
            memory::push(&mut found, Found { what, address: memory::concat(&[address])? })?;
            next = entry.ai_next;
        }
    }
    Ok(found)
}
