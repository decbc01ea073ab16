// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! RDMA devices in use. A device is opened when the first id or list needs it, shared by all, and closed when the
//! last of them lets it go, so that idle devices can be removed.

use crate::ctypes::{
    IBV_LINK_LAYER_ETHERNET, IBV_LINK_LAYER_INFINIBAND, IBV_LINK_LAYER_UNSPECIFIED, IBV_TRANSPORT_IB,
    IBV_TRANSPORT_UNKNOWN, ibv_context, ibv_link_layer, ibv_pd, ibv_transport_type, ibv_xrcd,
};
use crate::diag;
use crate::errno::{Errno, Result};
use crate::sync::Lock;
use crate::sys::memory::Array;
use crate::verbs::{self, Context, DeviceList, ProtectionDomain, XrcDomain};
use std::ptr;
use std::sync::{Arc, OnceLock, Weak};

/// How a device is named across its life. The GUID alone is not enough: virtual devices may share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// GUID of the node, in network byte order.
    pub guid: u64,
    /// The kernel's number; None where the kernel or libibverbs are too old to tell.
    pub index: Option<u32>,
}

impl Name {
    fn of(device: &verbs::Device<'_>) -> Name {
        Name { guid: device.guid(), index: device.index() }
    }

    fn matches(self, other: Name) -> bool {
        self.guid == other.guid
            && match (self.index, other.index) {
                (Some(index), Some(other)) => index == other,
                _ => true,
            }
    }
}

/// An open device.
pub struct Device {
    name: Name,
    /// None only while it is being dropped.
    context: Option<Context>,
    pd: OnceLock<ProtectionDomain>,
    xrcd: OnceLock<XrcDomain>,
    link_layers: Vec<ibv_link_layer>,
    limits: Limits,
}

/// What a connection may ask of a device.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Most RDMA reads and atomics that a peer may have outstanding here.
    pub responder_resources: u8,
    /// Most RDMA reads and atomics that a queue pair may have outstanding at its peer.
    pub initiator_depth: u8,
}

/// Devices that somebody uses, or used a moment ago.
static OPEN: Lock<Vec<(Name, Weak<Device>)>> = Lock::new(Vec::new());

/// Devices whose last user left while the application still had objects in the protection domain. They are taken back
/// into use by the next user, or closed when the objects are gone.
static STRANDED: Lock<Vec<Device>> = Lock::new(Vec::new());

/// The device of that name. ENODEV if there is none, or its node refuses.
pub fn find(name: Name) -> Result<Arc<Device>> {
    if let Some(device) = find_open(name) {
        return Ok(device);
    }
    let devices = DeviceList::get()?;
    let device = devices.iter().find(|device| name.matches(Name::of(device))).ok_or(Errno::ENODEV)?;
    open(&device)
}

fn find_open(name: Name) -> Option<Arc<Device>> {
    let open = OPEN.lock();
    open.iter().filter(|(known, _)| name.matches(*known)).find_map(|(_, device)| device.upgrade())
}

/// Opening takes long and happens without a lock. Of two threads that open the same device at once, the slower one
/// uses what the faster one has opened.
fn open(device: &verbs::Device<'_>) -> Result<Arc<Device>> {
    let name = Name::of(device);
    if let Some(device) = find_open(name) {
        return Ok(device);
    }
    let opened = match take_stranded(name) {
        Some(stranded) => stranded,
        None => Device::open(name, device).inspect_err(|error| {
            diag::line(format_args!("cannot open RDMA device {}: {error:?}", device.name()));
        })?,
    };
    let opened = Arc::new(opened);
    let mut open = OPEN.lock();
    open.retain(|(_, device)| device.strong_count() > 0);
    let other = open.iter().find(|(known, _)| *known == name).and_then(|(_, device)| device.upgrade());
    if other.is_none() {
        open.push((name, Arc::downgrade(&opened)));
    }
    drop(open);
    Ok(other.unwrap_or(opened))
}

fn take_stranded(name: Name) -> Option<Device> {
    let mut stranded = STRANDED.lock();
    let position = stranded.iter().position(|device| device.name == name)?;
    Some(stranded.swap_remove(position))
}

/// Tries again to let go what could not be let go before: dropping strands it anew if need be.
fn retry_stranded() {
    // A statement of its own ends the lock, which dropping takes again.
    let stranded = std::mem::take(&mut *STRANDED.lock());
    drop(stranded);
}

impl Device {
    fn open(name: Name, device: &verbs::Device<'_>) -> Result<Device> {
        let context = device.open()?;
        let attributes = context.attributes()?;
        let link_layers = (1..=attributes.phys_port_cnt).map(|port| context.link_layer(port)).collect();
        // As the C library has it: the fields of the messages are bytes.
        let limits = Limits {
            responder_resources: attributes.max_qp_rd_atom as u8,
            initiator_depth: attributes.max_qp_init_rd_atom as u8,
        };
        Ok(Device {
            name,
            context: Some(context),
            pd: OnceLock::new(),
            xrcd: OnceLock::new(),
            link_layers,
            limits,
        })
    }

    /// For the application.
    pub fn context(&self) -> *mut ibv_context {
        self.context.as_ref().map_or(ptr::null_mut(), Context::as_ptr)
    }

    /// The protection domain that all ids on the device share. It is made for the first of them.
    pub fn pd(&self) -> Result<*mut ibv_pd> {
        let context = self.context.as_ref().ok_or(Errno::ENODEV)?;
        if self.pd.get().is_none() {
            let surplus = self.pd.set(ProtectionDomain::allocate(context)?);
            // Another thread was faster: nobody has seen ours.
            surplus.or_else(ProtectionDomain::free).map_err(|_| Errno::EIO)?;
        }
        self.pd.get().map(ProtectionDomain::as_ptr).ok_or(Errno::EIO)
    }

    /// The open context.
    pub fn verbs(&self) -> Result<&Context> {
        self.context.as_ref().ok_or(Errno::ENODEV)
    }

    /// The domain for extended reliable connections that all ids on the device share. It is opened for the first of
    /// them.
    pub fn xrcd(&self) -> Result<*mut ibv_xrcd> {
        if self.xrcd.get().is_none() {
            let context = self.verbs()?;
            let surplus = self.xrcd.set(XrcDomain::open(context)?);
            // Another thread was faster: nobody has seen ours.
            surplus.or_else(|domain| domain.close(context)).map_err(|_| Errno::EIO)?;
        }
        self.xrcd.get().map(XrcDomain::as_ptr).ok_or(Errno::EIO)
    }

    /// What a connection may ask of it.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// What it speaks.
    pub fn transport(&self) -> ibv_transport_type {
        self.context.as_ref().map_or(IBV_TRANSPORT_UNKNOWN, Context::transport)
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
}

impl Drop for Device {
    fn drop(&mut self) {
        let Some(context) = self.context.take() else { return };
        let pd = self.pd.take().and_then(|pd| pd.free().err());
        let xrcd = self.xrcd.take().and_then(|domain| domain.close(&context).err());
        if pd.is_none() && xrcd.is_none() {
            return;
        }
        STRANDED.lock().push(Device {
            name: self.name,
            context: Some(context),
            pd: pd.map_or_else(OnceLock::new, OnceLock::from),
            xrcd: xrcd.map_or_else(OnceLock::new, OnceLock::from),
            link_layers: std::mem::take(&mut self.link_layers),
            limits: self.limits,
        });
    }
}

/// A list in the hands of the application, with the devices that it keeps open.
type List = (Array<*mut ibv_context>, Vec<Arc<Device>>);

static LISTS: Lock<Vec<List>> = Lock::new(Vec::new());

/// Opens all devices, in the order of the kernel's numbers. Returns an array of contexts that ends with NULL, and the
/// number of them. Devices that cannot be opened are left out.
pub fn list() -> Result<(*mut *mut ibv_context, usize)> {
    let snapshot = DeviceList::get()?;
    let mut known: Vec<_> = snapshot.iter().collect();
    known.sort_by_key(|device| (device.index(), u64::from_be(device.guid())));
    let devices: Vec<_> = known.iter().filter_map(|device| open(device).ok()).collect();
    let contexts: Vec<_> = devices.iter().map(|device| device.context()).chain([ptr::null_mut()]).collect();
    let array = Array::copy_of(&contexts)?;
    let (first, count) = (array.as_ptr(), devices.len());
    LISTS.lock().push((array, devices));
    Ok((first, count))
}

/// Frees a list and ends the use of its devices. What is no list is ignored.
pub fn free_list(first: *mut *mut ibv_context) {
    let mut lists = LISTS.lock();
    let position = lists.iter().position(|(array, _)| array.as_ptr() == first);
    let list = position.map(|position| lists.swap_remove(position));
    drop(lists);
    drop(list);
    retry_stranded();
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

    #[test]
    fn what_is_no_list_is_ignored() {
        free_list(ptr::null_mut());
        free_list(ptr::without_provenance_mut(8));
    }
}
