// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! One address with all that belongs to it: `struct rdma_addrinfo` without its pointers.

use crate::errno::Result;
use crate::sys::memory;
use std::ffi::c_int;

/// A copy of one entry. What is not there is empty.
#[derive(Debug, Default, PartialEq, Eq)]
#[cfg_attr(any(test, fuzzing), derive(Clone))]
pub struct AddrInfo {
    /// `RAI_` flags.
    pub flags: c_int,
    /// Address family.
    pub family: c_int,
    /// Kind of queue pair; 0 for none in particular.
    pub qp_type: c_int,
    /// Port space; 0 for none in particular.
    pub port_space: c_int,
    /// Local address.
    pub source: Vec<u8>,
    /// Remote address.
    pub destination: Vec<u8>,
    /// `struct ibv_path_data[]`, or as a hint a single path in any form.
    pub route: Vec<u8>,
    /// What goes in front of a connection's private data.
    pub connect: Vec<u8>,
}

impl AddrInfo {
    /// A copy. ENOMEM without memory.
    pub fn copy(&self) -> Result<AddrInfo> {
        Ok(AddrInfo {
            source: AddrInfo::copy_of(&self.source)?,
            destination: AddrInfo::copy_of(&self.destination)?,
            route: AddrInfo::copy_of(&self.route)?,
            connect: AddrInfo::copy_of(&self.connect)?,
            ..*self
        })
    }

    /// A copy of what stands in an entry. ENOMEM without memory.
    pub fn copy_of(bytes: &[u8]) -> Result<Vec<u8>> {
        memory::concat(&[bytes])
    }

    /// Whether all of these `RAI_` flags are set.
    pub fn has(&self, flags: c_int) -> bool {
        self.flags & flags == flags
    }
}
