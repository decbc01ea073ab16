// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Questions to ibacm, the service of the machine that knows paths through an InfiniBand fabric.
//!
//! Nothing depends on an answer: without one the kernel finds the path.

mod client;
pub mod wire;

use super::info::AddrInfo;
use super::sockaddr;
use crate::ctypes::{RAI_NOROUTE, RAI_NUMERICHOST};
use crate::errno::Result;
use crate::sys::thread::uncancellable;
use std::time::Duration;
use wire::Request;

pub use client::is_away;
pub use wire::Answer;

/// Most that a question takes.
pub const LIMIT: Duration = Duration::from_secs(2);

/// The paths from the source, if it is known, to the destination, and as a further limit the path that the hints name.
/// None if ibacm is not there, does not know, or does not answer in time.
pub fn ask(entry: &AddrInfo, hints: &AddrInfo, limit: Duration) -> Option<Answer> {
    if is_away() {
        return None;
    }
    let request = question(entry, hints).ok().filter(|request| !request.is_empty())?;
    uncancellable(|| client::exchange(&request, limit.min(LIMIT)))
}

/// What is asked about an entry. ENOMEM without memory.
pub fn question(entry: &AddrInfo, hints: &AddrInfo) -> Result<Request> {
    let mut request = Request::default();
    if let Some(source) = wire::ip(&entry.source) {
        request.source(source)?;
    }
    if let Some(destination) = wire::ip(&entry.destination) {
        request.destination(destination, hints.flags & (RAI_NUMERICHOST | RAI_NOROUTE) != 0)?;
    }
    let (source, destination) = (sockaddr::ib(&entry.source), sockaddr::ib(&entry.destination));
    if !hints.route.is_empty() || source.is_some() || destination.is_some() {
        request.path(&hints.route, source, destination)?;
    }
    Ok(request)
}
