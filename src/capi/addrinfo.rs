// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Addresses of names.

use super::{borrow, ret};
use crate::cm;
use crate::ctypes::{rdma_addrinfo, rdma_cm_id};
use crate::errno::Errno;
use crate::resolve::{Failure, List, list};
use std::ffi::{c_char, c_int};
use std::ptr;

/// Finds the addresses of a node, a service (a port) or both, and stores a list of them at res, to be freed with
/// rdma_freeaddrinfo(). Each address stands in it once; the first is the one to prefer.
///
/// hints, which may be NULL, choose: its flags, address family, kind of queue pair and port space. Its source address,
/// if there is one, becomes that of each result that has none. Without node and service the result is one entry, of the
/// addresses in hints. A route to the destination, where InfiniBand's path service ibacm runs and knows one, is in
/// ai_route of the first entry; then there is an entry with the same as AF_IB addresses as well, which is the last one,
/// or the first if hints ask for that family with RAI_FAMILY.
///
/// # Errors
///
/// 0, or an EAI_ value of getaddrinfo(3) for what that function says, or -1; with errno in each case: ENOENT for an
/// unknown node, EAGAIN for one that cannot be found out now, EINVAL for arguments that do not fit and for NULL in res,
/// EOPNOTSUPP for RAI_SA with a node or with RAI_DNS, ENODEV without an RDMA device, ENOMEM. Then NULL is stored at
/// res.
///
/// # Safety
///
/// Strings and hints are NULL or valid, with addresses and a route of the lengths that they say; there is room for a
/// pointer at res.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_getaddrinfo(
    node: *const c_char,
    service: *const c_char,
    hints: *const rdma_addrinfo,
    res: *mut *mut rdma_addrinfo,
) -> c_int {
    if res.is_null() {
        return ret::status(rdma_getaddrinfo, Err(Errno::EINVAL));
    }
    // SAFETY: the caller's promise.
    let (node, service, hints) =
        unsafe { (borrow::optional_text(node), borrow::optional_text(service), borrow::hints(hints)) };
    let found = hints
        .map_err(Failure::from)
        .and_then(|hints| cm::addrinfo::search(node, service, hints.as_ref()))
        .and_then(|found| Ok(List::of(&found)?));
    let (list, code) = match found {
        Ok(list) => (list.into_raw(), 0),
        Err(failure) => (ptr::null_mut(), ret::code(rdma_getaddrinfo, failure.code, failure.errno)),
    };
    // SAFETY: checked for NULL; the caller promises the rest.
    unsafe { *res = list };
    code
}

/// Finds addresses as rdma_getaddrinfo() does, before it returns, and reports them by RDMA_CM_EVENT_ADDRINFO_RESOLVED:
/// rdma_query_addrinfo() gives the list. With RAI_SA in hints, and no node, it looks for a service on the InfiniBand port that the id is
/// bound to, by number or name, without waiting: the event may be RDMA_CM_EVENT_ADDRINFO_ERROR.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL in id and for arguments that do not fit, EBUSY before the last list was taken,
/// ENOENT for an unknown node, EAGAIN for one that cannot be found out now, EOPNOTSUPP for RAI_SA with a node or with
/// RAI_DNS and for a kernel that cannot look for services, ENOMEM. On an id with a channel of its own also what the
/// event tells.
///
/// # Safety
///
/// The id is NULL or not destroyed; strings and hints are NULL or valid, with addresses and a route of the lengths
/// that they say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_resolve_addrinfo(
    id: *mut rdma_cm_id,
    node: *const c_char,
    service: *const c_char,
    hints: *const rdma_addrinfo,
) -> c_int {
    // SAFETY: the caller's promise.
    let (id, node, service, hints) = unsafe {
        (borrow::id(id), borrow::optional_text(node), borrow::optional_text(service), borrow::hints(hints))
    };
    ret::status(
        rdma_resolve_addrinfo,
        id.and_then(|id| cm::addrinfo::resolve(id, node, service, hints?.as_ref())),
    )
}

/// Stores the list that rdma_resolve_addrinfo() found at info, to be freed with rdma_freeaddrinfo(). Each list can be
/// taken once.
///
/// # Errors
///
/// 0, or -1 and errno: EINVAL for NULL, ENOENT if there is no list, ENOMEM.
///
/// # Safety
///
/// The id is NULL or not destroyed; info is NULL or has room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_query_addrinfo(id: *mut rdma_cm_id, info: *mut *mut rdma_addrinfo) -> c_int {
    if info.is_null() {
        return ret::status(rdma_query_addrinfo, Err(Errno::EINVAL));
    }
    // SAFETY: the caller's promise.
    let found = unsafe { borrow::id(id) }.and_then(|id| id.resolution().take(|found| List::of(found)));
    ret::status(
        rdma_query_addrinfo,
        found.map(|list| {
            // SAFETY: checked for NULL; the caller promises the rest.
            unsafe { *info = list.into_raw() };
        }),
    )
}

/// Frees a list of rdma_getaddrinfo() or rdma_query_addrinfo(). NULL is ignored.
///
/// # Safety
///
/// NULL, or such a list, which nobody uses any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_freeaddrinfo(res: *mut rdma_addrinfo) {
    // SAFETY: the caller's promise; the application may have put memory of its own from malloc into the list.
    unsafe { list::free(res) };
}
