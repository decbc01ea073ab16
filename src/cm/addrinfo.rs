// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Addresses of names, as lists for the application.

use super::id::CmId;
use super::{family, service, synchronous, user};
use crate::ctypes::{RAI_DNS, RAI_FAMILY, RAI_PASSIVE, RAI_SA, RDMA_CM_EVENT_ADDRINFO_RESOLVED};
use crate::errno::Errno;
use crate::resolve::{AddrInfo, Failure, ib, ibacm, names};
use crate::sync::Lock;
use crate::sys::memory;
use crate::uapi::AF_IB;
use crate::ucma;
use std::ffi::{CStr, c_int};

/// The addresses of a node, a service or both, or with hints alone those of the hints. EINVAL with nothing to look for,
/// ENODEV without RDMA device.
pub fn search(
    node: Option<&CStr>,
    service: Option<&CStr>,
    hints: Option<&AddrInfo>,
) -> Result<Vec<AddrInfo>, Failure> {
    if node.is_none() && service.is_none() && hints.is_none() {
        return Err(Errno::EINVAL.into());
    }
    ucma::node::available()?;
    let no_hints = AddrInfo::default();
    let given = hints.unwrap_or(&no_hints);
    if given.has(RAI_SA) {
        return Ok(service::search(only_service(node, service, given)?)?);
    }
    let mut entries = if node.is_some() || service.is_some() {
        names::look_up(node, service, hints)?
    } else {
        let entry = AddrInfo { source: Vec::new(), route: Vec::new(), ..given.copy()? };
        memory::collect([entry])?
    };
    for entry in &mut entries {
        if entry.source.is_empty() {
            entry.source = AddrInfo::copy_of(&given.source)?;
        }
    }
    add_route(&mut entries, given)?;
    Ok(entries)
}

/// Adds what ibacm knows about the way to the first entry: its source and route, and an entry more that has the same as
/// AF_IB addresses. Programs that did not ask for that family take the first entry for an IP address: so it is the last.
fn add_route(entries: &mut Vec<AddrInfo>, hints: &AddrInfo) -> Result<(), Errno> {
    let Some(first) = entries.first_mut().filter(|first| !first.has(RAI_PASSIVE)) else { return Ok(()) };
    let Some(answer) = ibacm::ask(first, hints, ibacm::LIMIT) else { return Ok(()) };
    if first.source.is_empty() {
        first.source = answer.source.unwrap_or_default();
    }
    first.route = answer.paths;
    let Some(twin) = ib::twin(first)?.filter(|_| family::is_ib_known()) else { return Ok(()) };
    entries.try_reserve(1)?;
    if hints.has(RAI_FAMILY) && hints.family == c_int::from(AF_IB) {
        entries.insert(0, twin);
    } else {
        entries.push(twin);
    }
    Ok(())
}

/// The service that RAI_SA looks for. EOPNOTSUPP for anything else at the same time, EINVAL without a service.
fn only_service<'a>(
    node: Option<&CStr>,
    service: Option<&'a CStr>,
    hints: &AddrInfo,
) -> Result<&'a CStr, Errno> {
    if node.is_some() || hints.has(RAI_DNS) {
        return Err(Errno::EOPNOTSUPP);
    }
    service.ok_or(Errno::EINVAL)
}

/// What `rdma_resolve_addrinfo` is looking for, or has found for an id.
#[derive(Default)]
pub struct Resolution(Lock<State>);

#[derive(Default)]
enum State {
    /// Nothing.
    #[default]
    Idle,
    /// The event is on its way.
    Busy,
    /// `rdma_query_addrinfo` may have it.
    Found(Vec<AddrInfo>),
}

impl Resolution {
    /// The search begins. EBUSY before the result of the last one was taken.
    pub fn begin(&self) -> Result<(), Errno> {
        let mut state = self.0.lock();
        if !matches!(*state, State::Idle) {
            return Err(Errno::EBUSY);
        }
        *state = State::Busy;
        Ok(())
    }

    /// The search ended without a result.
    pub fn fail(&self) {
        *self.0.lock() = State::Idle;
    }

    /// The search ended with a result.
    pub fn succeed(&self, found: Vec<AddrInfo>) {
        *self.0.lock() = State::Found(found);
    }

    /// What `make` makes of the result, which is taken if that succeeds. ENOENT without one.
    pub fn take<R>(&self, make: impl FnOnce(&mut Vec<AddrInfo>) -> Result<R, Errno>) -> Result<R, Errno> {
        let mut state = self.0.lock();
        let State::Found(found) = &mut *state else { return Err(Errno::ENOENT) };
        let made = make(found)?;
        *state = State::Idle;
        Ok(made)
    }
}

/// Finds the addresses of a node, a service or both, and puts RDMA_CM_EVENT_ADDRINFO_RESOLVED into the id's channel; an
/// id with a channel of its own takes it from there. With RAI_SA the subnet administrator is asked, and the event
/// follows its answer. EBUSY before the last result was taken.
pub fn resolve(
    id: &CmId,
    node: Option<&CStr>,
    service: Option<&CStr>,
    hints: Option<&AddrInfo>,
) -> Result<(), Errno> {
    id.resolution().begin()?;
    let result = match hints.filter(|hints| hints.has(RAI_SA)) {
        Some(hints) => only_service(node, service, hints).and_then(|service| service::resolve(id, service)),
        None => resolve_by_name(id, node, service, hints),
    };
    result.inspect_err(|_| id.resolution().fail())
}

fn resolve_by_name(
    id: &CmId,
    node: Option<&CStr>,
    service: Option<&CStr>,
    hints: Option<&AddrInfo>,
) -> Result<(), Errno> {
    let found = search(node, service, hints).map_err(|failure| failure.errno)?;
    id.resolution().succeed(found);
    user::announce_addresses(id)?;
    synchronous::complete(id, &[RDMA_CM_EVENT_ADDRINFO_RESOLVED])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_search_at_a_time_and_its_result_once() {
        let resolution = Resolution::default();
        let take = || resolution.take(|found| Ok(found.len()));
        assert_eq!(take().err(), Some(Errno::ENOENT));
        assert_eq!(resolution.begin(), Ok(()));
        assert_eq!(resolution.begin(), Err(Errno::EBUSY));
        assert_eq!(take().err(), Some(Errno::ENOENT));
        resolution.fail();
        assert_eq!(resolution.begin(), Ok(()));
        resolution.succeed(vec![AddrInfo::default()]);
        assert_eq!(resolution.begin(), Err(Errno::EBUSY));
        assert_eq!(resolution.take(|_| Err::<(), _>(Errno::ENOMEM)), Err(Errno::ENOMEM));
        assert_eq!(take(), Ok(1));
        assert_eq!(take().err(), Some(Errno::ENOENT));
        assert_eq!(resolution.begin(), Ok(()));
    }
}
