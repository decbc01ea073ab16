// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The devices of the machine.

use super::context::Context;
use super::ffi;
use crate::ctypes::ibv_device;
use crate::errno::{Errno, Result};
use crate::sys::{netlink, process};
use std::ffi::CStr;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A snapshot of the devices that libibverbs has a driver for.
pub struct DeviceList {
    list: NonNull<*mut ibv_device>,
    count: usize,
}

impl DeviceList {
    /// The devices there are now. ENODEV if libibverbs cannot tell or there is none, ENOMEM without memory,
    /// EMFILE or ENFILE if it has no descriptors to look with.
    pub fn get() -> Result<DeviceList> {
        let mut count = 0;
        // SAFETY: the count is a valid place; NULL is checked for.
        let list =
            NonNull::new(unsafe { ffi::ibv_get_device_list(&mut count) }).ok_or_else(
                || match Errno::last() {
                    Errno::ENOMEM => Errno::ENOMEM,
                    _ => no_device(),
                },
            )?;
        let list = DeviceList { list, count: usize::try_from(count).unwrap_or(0) };
        if list.count == 0 { Err(no_device()) } else { Ok(list) }
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = Device<'_>> {
        (0..self.count).filter_map(|position| {
            // SAFETY: the list has `count` entries and lives as long as self.
            let device = unsafe { *self.list.as_ptr().add(position) };
            NonNull::new(device).map(|device| Device { device, list: PhantomData })
        })
    }
}

impl Drop for DeviceList {
    fn drop(&mut self) {
        // SAFETY: the list came from ibv_get_device_list and is given back once.
        unsafe { ffi::ibv_free_device_list(self.list.as_ptr()) };
    }
}

/// Why there is none: libibverbs does not say.
fn no_device() -> Errno {
    process::descriptor_shortage().unwrap_or(Errno::ENODEV)
}

/// A device of a list. Open contexts outlive the list, devices do not.
#[derive(Clone, Copy)]
pub struct Device<'a> {
    device: NonNull<ibv_device>,
    list: PhantomData<&'a DeviceList>,
}

impl Device<'_> {
    /// GUID of the node, in network byte order.
    pub fn guid(&self) -> u64 {
        // SAFETY: the device is in a list that is alive.
        unsafe { ffi::ibv_get_device_guid(self.device.as_ptr()) }
    }

    /// The kernel's number of the device, never used twice; None where libibverbs or the kernel are too old.
    pub fn index(&self) -> Option<u32> {
        // SAFETY: the device is in a list that is alive.
        let index = ffi::get_device_index().map(|function| unsafe { function(self.device.as_ptr()) });
        index.and_then(|index| u32::try_from(index).ok())
    }

    /// Name of the kernel's device, such as "rxe0".
    pub fn name(&self) -> &str {
        // SAFETY: the device is in a list that is alive; its name is a string inside it.
        unsafe { CStr::from_ptr(ffi::ibv_get_device_name(self.device.as_ptr())) }.to_str().unwrap_or("?")
    }

    /// Name of its node in /dev/infiniband, where libibverbs looks for it.
    pub fn node(&self) -> &str {
        // SAFETY: the device is in a list that is alive; its verbs device's name is a string inside it.
        unsafe { CStr::from_ptr((*self.device.as_ptr()).dev_name.as_ptr()) }.to_str().unwrap_or("?")
    }

    /// Opens the device; an error says what is wrong with its node.
    pub fn open(&self) -> Result<Context> {
        // SAFETY: the device is in a list that is alive; NULL is checked for.
        let context =
            NonNull::new(unsafe { ffi::ibv_open_device(self.device.as_ptr()) }).ok_or_else(Errno::last)?;
        // Asked now: of a device that is being removed the kernel tells nothing.
        let driver = self.index().map(netlink::driver);
        match driver {
            Some(Err(error)) if error.is_passing() => {
                drop(Context::new(context, None));
                Err(error)
            }
            driver => Ok(Context::new(context, driver.and_then(Result::ok))),
        }
    }
}
