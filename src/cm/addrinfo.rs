// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Addresses of names, as lists for the application.

use crate::ctypes::{RAI_DNS, RAI_SA};
use crate::errno::Errno;
use crate::resolve::{AddrInfo, Failure, List, names};
use crate::ucma;
use std::ffi::CStr;

/// The addresses of a node, a service or both, or with hints alone those of the hints. EINVAL with nothing to look for,
/// ENODEV without RDMA device.
pub fn search(
    node: Option<&CStr>,
    service: Option<&CStr>,
    hints: Option<&AddrInfo>,
) -> Result<List, Failure> {
    if node.is_none() && service.is_none() && hints.is_none() {
        return Err(Errno::EINVAL.into());
    }
    ucma::node::available()?;
    let no_hints = AddrInfo::default();
    let given = hints.unwrap_or(&no_hints);
    if given.has(RAI_SA) {
        return by_service(node, given);
    }
    let mut entries = if node.is_some() || service.is_some() {
        names::look_up(node, service, hints)?
    } else {
        vec![AddrInfo { source: Vec::new(), route: Vec::new(), ..given.clone() }]
    };
    for entry in &mut entries {
        if entry.source.is_empty() {
            entry.source.clone_from(&given.source);
        }
    }
    Ok(List::of(&entries)?)
}

fn by_service(node: Option<&CStr>, hints: &AddrInfo) -> Result<List, Failure> {
    if node.is_some() || hints.has(RAI_DNS) {
        return Err(Errno::EOPNOTSUPP.into());
    }
    Err(Errno::EOPNOTSUPP.into())
}
