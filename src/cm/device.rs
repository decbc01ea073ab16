// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! RDMA devices. One is opened when the first id or list needs it and shared by all; how it is let go, `pool` tells.

use super::pool::{self, InUse};
use crate::ctypes::{
    IBV_LINK_LAYER_ETHERNET, IBV_LINK_LAYER_INFINIBAND, IBV_LINK_LAYER_UNSPECIFIED, IBV_TRANSPORT_IB,
    ibv_context, ibv_link_layer, ibv_pd, ibv_transport_type, ibv_xrcd,
};
use crate::diag;
use crate::errno::{Errno, Result};
use crate::sys::memory;
use crate::sys::nodes::{self, Node};
use crate::verbs::{self, Context, DeviceList, ProtectionDomain, XrcDomain};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// How a device is named across its life. The GUID alone is not enough: virtual devices may share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// GUID of the node, in network byte order.
    pub guid: u64,
    /// The kernel's number; None where the kernel or libibverbs are too old to tell.
    pub index: Option<u32>,
}

impl Name {
    pub(super) fn of(device: &verbs::Device<'_>) -> Name {
        Name { guid: device.guid(), index: device.index() }
    }

    pub(super) fn matches(self, other: Name) -> bool {
        self.guid == other.guid
            && match (self.index, other.index) {
                (Some(index), Some(other)) => index == other,
                _ => true,
            }
    }
}

/// What a connection may ask of a device.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Most RDMA reads and atomics that a peer may have outstanding here.
    pub responder_resources: u8,
    /// Most RDMA reads and atomics that a queue pair may have outstanding at its peer.
    pub initiator_depth: u8,
}

/// An open device; closed when dropped.
pub struct Device {
    name: Name,
    pd: OnceLock<ProtectionDomain>,
    xrcd: OnceLock<XrcDomain>,
    context: Context,
    link_layers: Vec<ibv_link_layer>,
    limits: Limits,
    queue_limit: u32,
    removed: AtomicBool,
}

/// The device of that name. ENODEV if there is none, or its node refuses; EMFILE, ENFILE or ENOMEM if the process is
/// short of that.
pub fn find(name: Name) -> Result<InUse> {
    if let Some(device) = pool::take(name) {
        return Ok(device);
    }
    let devices = DeviceList::get().inspect_err(|error| explain(name, *error))?;
    let device = devices.iter().find(|device| name.matches(Name::of(device)));
    open(&device.ok_or(Errno::ENODEV).inspect_err(|error| explain(name, *error))?)
}

/// Says why a device that the kernel knows is not in libibverbs' list.
fn explain(name: Name, error: Errno) {
    static FAILURES: diag::Seldom = diag::Seldom::new();
    if diag::enabled() {
        for Node { device, path, error: node } in nodes::of_guid(name.guid) {
            FAILURES.line(format_args!(
                "cannot use RDMA device {device}: {error:?}; its node {} {}",
                path.display(),
                node.map_or("is in order, perhaps libibverbs has no driver".into(), |why| format!(
                    "gives {why:?}"
                )),
            ));
        }
    }
}

/// libibverbs looks for a node that it may not open in /dev/char as well, and tells only that there is none.
fn cause(device: &verbs::Device<'_>, error: Errno) -> Errno {
    if error == Errno::ENOENT { nodes::refusal(device.node()).unwrap_or(error) } else { error }
}

/// Opening takes long and happens without a lock. Of two threads that open the same device at once, the slower one
/// uses what the faster one has opened.
pub(super) fn open(device: &verbs::Device<'_>) -> Result<InUse> {
    let name = Name::of(device);
    if let Some(device) = pool::take(name) {
        return Ok(device);
    }
    static FAILURES: diag::Seldom = diag::Seldom::new();
    let opened = Device::open(name, device).map_err(|error| {
        if diag::enabled() {
            FAILURES.line(format_args!(
                "cannot open RDMA device {}, {}: {:?}",
                device.name(),
                device.node(),
                cause(device, error)
            ));
        }
        // What the process is short of comes back; of the device nothing is to be expected.
        if error.is_passing() { error } else { Errno::ENODEV }
    })?;
    pool::enter(opened)
}

impl Device {
    fn open(name: Name, device: &verbs::Device<'_>) -> Result<Device> {
        let context = device.open()?;
        let attributes = context.attributes()?;
        let link_layers =
            memory::collect((1..=attributes.phys_port_cnt).map(|port| context.link_layer(port)))?;
        // As the C library has it: the fields of the messages are bytes.
        let limits = Limits {
            responder_resources: attributes.max_qp_rd_atom as u8,
            initiator_depth: attributes.max_qp_init_rd_atom as u8,
        };
        Ok(Device {
            name,
            pd: OnceLock::new(),
            xrcd: OnceLock::new(),
            context,
            link_layers,
            limits,
            queue_limit: u32::try_from(attributes.max_qp_wr).unwrap_or(0),
            removed: AtomicBool::new(false),
        })
    }

    /// How it is found.
    pub fn name(&self) -> Name {
        self.name
    }

    /// For the application.
    pub fn context(&self) -> *mut ibv_context {
        self.context.as_ptr()
    }

    /// The protection domain that all ids on the device share. It is made for the first of them.
    pub fn pd(&self) -> Result<*mut ibv_pd> {
        if self.pd.get().is_none() {
            let surplus = self.pd.set(ProtectionDomain::allocate(&self.context)?);
            // Another thread was faster: nobody has seen ours.
            surplus.or_else(ProtectionDomain::free).map_err(|_| Errno::EIO)?;
        }
        self.pd.get().map(ProtectionDomain::as_ptr).ok_or(Errno::EIO)
    }

    /// The open context.
    pub fn verbs(&self) -> &Context {
        &self.context
    }

    /// The domain for extended reliable connections that all ids on the device share. It is opened for the first of
    /// them.
    pub fn xrcd(&self) -> Result<*mut ibv_xrcd> {
        if self.xrcd.get().is_none() {
            let surplus = self.xrcd.set(XrcDomain::open(&self.context)?);
            // Another thread was faster: nobody has seen ours.
            surplus.or_else(|domain| domain.close(&self.context)).map_err(|_| Errno::EIO)?;
        }
        self.xrcd.get().map(XrcDomain::as_ptr).ok_or(Errno::EIO)
    }

    /// What a connection may ask of it.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Most sends, and most receives, that a queue pair can have outstanding.
    pub fn queue_limit(&self) -> u32 {
        self.queue_limit
    }

    /// What it speaks.
    pub fn transport(&self) -> ibv_transport_type {
        self.context.transport()
    }

    /// Whether it speaks InfiniBand's transport (InfiniBand or RoCE).
    pub fn is_ib(&self) -> bool {
        self.transport() == IBV_TRANSPORT_IB
    }

    /// Whether the link of a port is InfiniBand's own; ports count from 1.
    pub fn is_infiniband(&self, port: u8) -> bool {
        self.link_layer(port) == IBV_LINK_LAYER_INFINIBAND
    }

    fn link_layer(&self, port: u8) -> ibv_link_layer {
        let position = usize::from(port).checked_sub(1);
        let link_layer = position.and_then(|position| self.link_layers.get(position));
        link_layer.copied().unwrap_or(IBV_LINK_LAYER_UNSPECIFIED)
    }

    /// Whether a port speaks InfiniBand's transport over Ethernet; ports count from 1.
    pub fn is_roce(&self, port: u8) -> bool {
        self.is_ib() && self.link_layer(port) == IBV_LINK_LAYER_ETHERNET
    }

    /// The kernel said that it takes the device away, and waits for its users.
    pub fn set_removed(&self) {
        self.removed.store(true, Ordering::Relaxed);
    }

    /// Whether the kernel said so.
    pub fn is_removed(&self) -> bool {
        self.removed.load(Ordering::Relaxed)
    }

    /// Whether the application has objects of its own on the device, in the shared domains or outside. An error if the kernel
    /// does not tell.
    pub(super) fn has_objects(&self) -> Result<bool> {
        let (pd, xrcd) = (self.pd.get().is_some(), self.xrcd.get().is_some());
        self.context.has_more_than(usize::from(pd), usize::from(xrcd))
    }

    /// Gives the shared domains back. False if something is in one after all.
    pub(super) fn free_domains(&mut self) -> bool {
        if let Some(Err(pd)) = self.pd.take().map(ProtectionDomain::free) {
            self.pd = OnceLock::from(pd);
        }
        if let Some(Err(xrcd)) = self.xrcd.take().map(|domain| domain.close(&self.context)) {
            self.xrcd = OnceLock::from(xrcd);
        }
        self.pd.get().is_none() && self.xrcd.get().is_none()
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // Closing the context, which follows, takes along what is left.
        self.free_domains();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_matches_by_guid_and_by_number_where_both_tell_one() {
        let name = |guid, index| Name { guid, index };
        assert!(name(1, Some(2)).matches(name(1, Some(2))));
        assert!(!name(1, Some(2)).matches(name(1, Some(3))));
        assert!(!name(1, Some(2)).matches(name(2, Some(2))));
        assert!(name(1, None).matches(name(1, Some(3))));
        assert!(!name(1, None).matches(name(2, None)));
    }
}
