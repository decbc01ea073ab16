// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Endpoints: ids with all that a connection needs, made in one call; and the requests that reach a synchronous
//! listener.

use super::id::{self, CmId};
use super::queue::{QueuePairAttributes, pair, shared};
use super::{address, option, synchronous};
use crate::ctypes::{
    RAI_PASSIVE, RDMA_CM_EVENT_CONNECT_REQUEST, RDMA_CM_EVENT_ROUTE_ERROR, RDMA_CM_EVENT_ROUTE_RESOLVED,
    ibv_pd, ibv_qp_init_attr, ibv_qp_type, rdma_port_space,
};
use crate::errno::{Errno, Result};
use crate::resolve::AddrInfo;
use crate::sync::Shared;
use crate::sys::{environment, number};
use std::ffi::CStr;
use std::ptr;
use std::sync::OnceLock;

/// Names the environment variable with the milliseconds that an endpoint waits for its address, and again for its route.
const TIMEOUT_VARIABLE: &CStr = c"RDMACM_RESOLVE_TIMEOUT_MS";
const TIMEOUT_MS: u32 = 2000;

fn timeout_ms() -> u32 {
    static TIMEOUT: OnceLock<u32> = OnceLock::new();
    *TIMEOUT.get_or_init(|| {
        let set = environment::read(TIMEOUT_VARIABLE, number::parse).flatten();
        set.and_then(|value| value.try_into().ok()).unwrap_or(TIMEOUT_MS)
    })
}

/// Makes an id with a channel of its own: bound to a local address to listen on, or resolved and routed to a remote one.
/// With attributes it gets a queue pair, or its requests do. Errors as those of the calls that it stands for.
pub fn create(
    info: &AddrInfo,
    pd: *mut ibv_pd,
    attributes: Option<&mut ibv_qp_init_attr>,
) -> Result<Shared<CmId>> {
    let space = rdma_port_space::try_from(info.port_space).map_err(|_| Errno::EINVAL)?;
    let qp_type = ibv_qp_type::try_from(info.qp_type).map_err(|_| Errno::EINVAL)?;
    let id = id::create(None, ptr::null_mut(), space, qp_type)?;
    let made = if info.has(RAI_PASSIVE) {
        listener(&id, info, pd, attributes.as_deref(), qp_type)
    } else {
        caller(&id, info, pd, attributes, qp_type)
    };
    made.inspect_err(|_| destroy(&id))?;
    Ok(id)
}

fn listener(
    id: &CmId,
    info: &AddrInfo,
    pd: *mut ibv_pd,
    attributes: Option<&ibv_qp_init_attr>,
    qp_type: ibv_qp_type,
) -> Result<()> {
    address::bind(id, &info.source)?;
    if !pd.is_null() {
        id.set_pd(pd);
    }
    if let Some(attributes) = attributes {
        let _ = id.attributes().set(ibv_qp_init_attr { qp_type, ..*attributes });
    }
    Ok(())
}

fn caller(
    id: &CmId,
    info: &AddrInfo,
    pd: *mut ibv_pd,
    attributes: Option<&mut ibv_qp_init_attr>,
    qp_type: ibv_qp_type,
) -> Result<()> {
    let source = Some(&info.source[..]).filter(|source| !source.is_empty());
    address::resolve(id, source, &info.destination, timeout_ms())?;
    if info.route.is_empty() {
        address::resolve_route(id, timeout_ms())?;
    } else {
        option::set_path(id, &info.route)?;
        synchronous::complete(id, &[RDMA_CM_EVENT_ROUTE_RESOLVED, RDMA_CM_EVENT_ROUTE_ERROR])?;
    }
    if let Some(attributes) = attributes {
        attributes.qp_type = qp_type;
        // SAFETY: what the application lends is alive during the call.
        unsafe {
            QueuePairAttributes::with_short(attributes, pd, |attributes| pair::create(id, attributes))?;
        }
    }
    let opening = AddrInfo::copy_of(&info.connect)?;
    id.connection().lock().open_with(opening);
    Ok(())
}

/// Ends an id with its queue pair and shared receive queue, whatever the kernel says.
pub fn destroy(id: &Shared<CmId>) {
    if id.has_queue_pair() {
        pair::destroy(id);
    }
    if id.shared_queue().is_some() {
        shared::destroy(id);
    }
    id::abandon(id);
}

/// Waits for the next connection request of a listener with a channel of its own. Its id has such a channel too, and a
/// queue pair if the listener is an endpoint with attributes. A request that cannot be had is refused: the listener goes
/// on, and the caller is told why. EINTR if a signal ends the wait.
pub fn next_request(listener: &CmId) -> Result<Shared<CmId>> {
    if !listener.is_synchronous() {
        return Err(Errno::EINVAL);
    }
    listener.acknowledge_kept();
    let results = [RDMA_CM_EVENT_CONNECT_REQUEST];
    let before = synchronous::came_before(listener, &results);
    let event = before.map_or_else(|| synchronous::wait(listener, &results), Ok)?;
    let Some(id) = event.request() else {
        return synchronous::keep(listener, event, &results).and(Err(Errno::EINVAL));
    };
    if let Err(error) = add_queue_pair(listener, &id) {
        event.acknowledge();
        destroy(&id);
        return Err(error);
    }
    // The listener may end before the request is answered.
    event.count_for(Shared::clone(&id));
    id.keep_event(event);
    Ok(id)
}

fn add_queue_pair(listener: &CmId, id: &CmId) -> Result<()> {
    let Some(mut attributes) = listener.attributes().get().copied() else { return Ok(()) };
    // SAFETY: the application keeps what it lent to the endpoint alive as long as that listens.
    unsafe {
        QueuePairAttributes::with_short(&mut attributes, listener.pd(), |attributes| {
            pair::create(id, attributes)
        })
    }
}
