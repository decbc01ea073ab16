// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Lists of devices in the hands of the application.

use super::device::{self, Name};
use super::pool::InUse;
use crate::ctypes::ibv_context;
use crate::errno::Result;
use crate::sync::{Guard, Lock};
use crate::sys::memory::{self, Array};
use crate::verbs::DeviceList;
use std::ptr;

/// A list, with the devices that it keeps open.
pub type List = (Array<*mut ibv_context>, Vec<InUse>);

static LISTS: Lock<Vec<List>> = Lock::new(Vec::new());

/// Opens all devices, in the order of the kernel's numbers. Returns an array of contexts that ends with NULL, and the
/// number of them. Devices that cannot be opened are left out; but ENOMEM, EMFILE or ENFILE if it is for lack of means.
pub fn list() -> Result<(*mut *mut ibv_context, usize)> {
    let snapshot = DeviceList::get()?;
    let mut known = memory::collect(snapshot.iter().map(|device| (Name::of(&device), device)))?;
    known.sort_unstable_by_key(|(name, _)| (name.index, u64::from_be(name.guid)));
    let mut devices = Vec::new();
    for (_, device) in &known {
        match device::open(device) {
            Ok(device) => memory::push(&mut devices, device)?,
            Err(error) if error.is_passing() => return Err(error),
            Err(_) => {}
        }
    }
    let contexts = memory::collect(devices.iter().map(|device| device.context()).chain([ptr::null_mut()]))?;
    let array = Array::copy_of(&contexts)?;
    let (first, count) = (array.as_ptr(), devices.len());
    // What cannot be kept is dropped after the lock, which is free again then.
    memory::push(&mut LISTS.lock(), (array, devices))?;
    Ok((first, count))
}

/// For a process that forks.
pub fn hold() -> Guard<'static, Vec<List>> {
    LISTS.lock()
}

/// Frees a list and ends the use of its devices. What is no list is ignored.
pub fn free(first: *mut *mut ibv_context) {
    let mut lists = LISTS.lock();
    let position = lists.iter().position(|(array, _)| array.as_ptr() == first);
    let list = position.map(|position| lists.swap_remove(position));
    drop(lists);
    drop(list);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_list_is_ignored() {
        free(ptr::null_mut());
        free(ptr::without_provenance_mut(8));
    }
}
