// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The list that an application gets from `rdma_getaddrinfo`, and frees with `rdma_freeaddrinfo`.

use super::info::AddrInfo;
use crate::ctypes::rdma_addrinfo;
use crate::errno::Result;
use crate::sys::memory::{self, Array};
use libc::socklen_t;
use std::mem;
use std::ptr;

/// A list that nobody else has; freed when dropped.
pub struct List(*mut rdma_addrinfo);

// SAFETY: the list is memory only.
unsafe impl Send for List {}

impl List {
    /// These entries, in order. ENOMEM without memory.
    pub fn of(entries: &[AddrInfo]) -> Result<List> {
        entries.iter().rev().try_fold(List(ptr::null_mut()), |rest, entry| rest.after(entry))
    }

    fn after(self, entry: &AddrInfo) -> Result<List> {
        let source = copy(&entry.source)?;
        let destination = copy(&entry.destination)?;
        let route = copy(&entry.route)?;
        let connect = copy(&entry.connect)?;
        let node = Array::copy_of(&[rdma_addrinfo {
            ai_flags: entry.flags,
            ai_family: entry.family,
            ai_qp_type: entry.qp_type,
            ai_port_space: entry.port_space,
            ai_src_len: entry.source.len() as socklen_t,
            ai_dst_len: entry.destination.len() as socklen_t,
            ai_src_addr: place(&source).cast(),
            ai_dst_addr: place(&destination).cast(),
            ai_src_canonname: ptr::null_mut(),
            ai_dst_canonname: ptr::null_mut(),
            ai_route_len: entry.route.len(),
            ai_route: place(&route).cast(),
            ai_connect_len: entry.connect.len(),
            ai_connect: place(&connect).cast(),
            ai_next: self.0,
        }])?;
        mem::forget((self, source, destination, route, connect));
        Ok(List(node.into_raw()))
    }

    /// For the application, which frees it.
    pub fn into_raw(self) -> *mut rdma_addrinfo {
        let list = self.0;
        mem::forget(self);
        list
    }
}

/// Nothing for no bytes.
fn copy(bytes: &[u8]) -> Result<Option<Array<u8>>> {
    if bytes.is_empty() { Ok(None) } else { Array::copy_of(bytes).map(Some) }
}

fn place(bytes: &Option<Array<u8>>) -> *mut u8 {
    bytes.as_ref().map_or(ptr::null_mut(), Array::as_ptr)
}

impl Drop for List {
    fn drop(&mut self) {
        // SAFETY: the list is whole and nobody else has it.
        unsafe { free(self.0) };
    }
}

/// Frees a list with all that its entries point to; NULL is an empty list.
///
/// # Safety
///
/// Every pointer in it is NULL or came from malloc, and nobody uses the list any more.
pub unsafe fn free(mut list: *mut rdma_addrinfo) {
    while !list.is_null() {
        // SAFETY: the caller's promise; the entry is read before it is freed.
        unsafe {
            let entry = list.read();
            memory::release(entry.ai_src_addr);
            memory::release(entry.ai_dst_addr);
            memory::release(entry.ai_src_canonname);
            memory::release(entry.ai_dst_canonname);
            memory::release(entry.ai_route);
            memory::release(entry.ai_connect);
            memory::release(list);
            list = entry.ai_next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_in_order_and_nothing_is_null() {
        let first =
            AddrInfo { flags: 1, family: 2, source: vec![1, 2], connect: vec![9], ..AddrInfo::default() };
        let second = AddrInfo { destination: vec![3, 4, 5], route: vec![6; 72], ..AddrInfo::default() };
        let list = List::of(&[first, second]).unwrap().into_raw();
        // SAFETY: the list was just made, with two entries.
        unsafe {
            let (first, second) = (&*list, &*(*list).ai_next);
            assert_eq!(
                (first.ai_flags, first.ai_family, first.ai_src_len, first.ai_connect_len),
                (1, 2, 2, 1)
            );
            assert!(
                first.ai_dst_addr.is_null() && first.ai_route.is_null() && first.ai_src_canonname.is_null()
            );
            assert_eq!(std::slice::from_raw_parts(first.ai_src_addr.cast::<u8>(), 2), [1, 2]);
            assert_eq!((second.ai_dst_len, second.ai_route_len), (3, 72));
            assert!(second.ai_src_addr.is_null() && second.ai_next.is_null());
            free(list);
            free(ptr::null_mut());
        }
    }
}
