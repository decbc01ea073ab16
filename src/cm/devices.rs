// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Lists of devices in the hands of the application.

use super::device::{self, Name};
use super::pool::InUse;
use crate::ctypes::ibv_context;
use crate::errno::Result;
use crate::sync::Lock;
use crate::sys::memory::Array;
use crate::verbs::DeviceList;
use std::ptr;

/// A list, with the devices that it keeps open.
type List = (Array<*mut ibv_context>, Vec<InUse>);

static LISTS: Lock<Vec<List>> = Lock::new(Vec::new());

/// Opens all devices, in the order of the kernel's numbers. Returns an array of contexts that ends with NULL, and the
/// number of them. Devices that cannot be opened are left out.
pub fn list() -> Result<(*mut *mut ibv_context, usize)> {
    let snapshot = DeviceList::get()?;
    let mut known: Vec<_> = snapshot.iter().map(|device| (Name::of(&device), device)).collect();
    known.sort_by_key(|(name, _)| (name.index, u64::from_be(name.guid)));
    let devices: Vec<_> = known.iter().filter_map(|(_, device)| device::open(device).ok()).collect();
    let contexts: Vec<_> = devices.iter().map(|device| device.context()).chain([ptr::null_mut()]).collect();
    let array = Array::copy_of(&contexts)?;
    let (first, count) = (array.as_ptr(), devices.len());
    LISTS.lock().push((array, devices));
    Ok((first, count))
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
