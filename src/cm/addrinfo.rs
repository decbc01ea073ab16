// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Addresses of names, as lists for the application.

use super::family;
use crate::ctypes::{RAI_DNS, RAI_FAMILY, RAI_PASSIVE, RAI_SA};
use crate::errno::Errno;
use crate::resolve::{AddrInfo, Failure, List, ib, ibacm, names};
use crate::uapi::AF_IB;
use crate::ucma;
use std::ffi::{CStr, c_int};

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
    add_route(&mut entries, given);
    Ok(List::of(&entries)?)
}

/// Adds what ibacm knows about the way to the first entry: its source and route, and an entry more that has the same as
/// AF_IB addresses. Programs that did not ask for that family take the first entry for an IP address: so it is the last.
fn add_route(entries: &mut Vec<AddrInfo>, hints: &AddrInfo) {
    let Some(first) = entries.first_mut().filter(|first| !first.has(RAI_PASSIVE)) else { return };
    let Some(answer) = ibacm::ask(first, hints, ibacm::LIMIT) else { return };
    if first.source.is_empty() {
        first.source = answer.source.unwrap_or_default();
    }
    first.route = answer.paths;
    let Some(twin) = ib::twin(first).filter(|_| family::is_ib_known()) else { return };
    if hints.has(RAI_FAMILY) && hints.family == c_int::from(AF_IB) {
        entries.insert(0, twin);
    } else {
        entries.push(twin);
    }
}

fn by_service(node: Option<&CStr>, hints: &AddrInfo) -> Result<List, Failure> {
    if node.is_some() || hints.has(RAI_DNS) {
        return Err(Errno::EOPNOTSUPP.into());
    }
    Err(Errno::EOPNOTSUPP.into())
}
