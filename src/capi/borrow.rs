// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! From the application's pointers to what the library keeps behind them. NULL is EINVAL.

use crate::cm::channel::Channel;
use crate::cm::connection::Offer;
use crate::cm::family;
use crate::cm::id::CmId;
use crate::ctypes::{rdma_addrinfo, rdma_cm_id, rdma_conn_param, rdma_event_channel};
use crate::errno::{Errno, Result};
use crate::resolve::AddrInfo;
use crate::sync::Shared;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::NonNull;
use std::slice;

/// The id behind a pointer, for the length of a call.
///
/// # Safety
///
/// NULL, or an id that is not destroyed before the reference is dropped.
#[inline]
pub unsafe fn id<'a>(id: *mut rdma_cm_id) -> Result<&'a CmId> {
    // SAFETY: every id that the application has is the beginning of a CmId.
    unsafe { id.cast::<CmId>().as_ref() }.ok_or(Errno::EINVAL)
}

/// The id behind a pointer, with a reference of its own.
///
/// # Safety
///
/// NULL, or an id that is not destroyed.
pub unsafe fn owned_id(id: *mut rdma_cm_id) -> Result<Shared<CmId>> {
    let id = NonNull::new(id.cast::<CmId>()).ok_or(Errno::EINVAL)?;
    // SAFETY: the pointer came from a reference, of which there is one that stands for the application's.
    Ok(unsafe { Shared::another(id) })
}

/// The channel behind a pointer, for the length of a call.
///
/// # Safety
///
/// NULL, or a channel that is not destroyed when the call begins. It may be while the call waits for an event.
#[inline]
pub unsafe fn channel<'a>(channel: *mut rdma_event_channel) -> Result<&'a Channel> {
    // SAFETY: every channel that the application has is the beginning of a Channel, whose memory stays as long as it
    // counts a thread that waits.
    unsafe { channel.cast::<Channel>().as_ref() }.ok_or(Errno::EINVAL)
}

/// The channel behind a pointer, with a reference of its own; NULL means none.
///
/// # Safety
///
/// NULL, or a channel that is not destroyed.
pub unsafe fn owned_channel(channel: *mut rdma_event_channel) -> Option<Shared<Channel>> {
    let channel = NonNull::new(channel.cast::<Channel>())?;
    // SAFETY: the pointer came from the reference that is the application's.
    Some(unsafe { Shared::another(channel) })
}

/// The bytes of an address. EINVAL for a family that the connection manager does not know.
///
/// # Safety
///
/// NULL, or an address as large as its family says, unchanged while the slice is used.
pub unsafe fn address<'a>(address: *const libc::sockaddr) -> Result<&'a [u8]> {
    let address = NonNull::new(address.cast_mut()).ok_or(Errno::EINVAL)?;
    // SAFETY: the family stands in every address; the caller promises the rest.
    unsafe {
        let size = family::readable((*address.as_ptr()).sa_family);
        if size == 0 { Err(Errno::EINVAL) } else { Ok(slice::from_raw_parts(address.as_ptr().cast(), size)) }
    }
}

/// As [`address`], where NULL means none.
///
/// # Safety
///
/// As [`address`].
pub unsafe fn optional_address<'a>(pointer: *const libc::sockaddr) -> Result<Option<&'a [u8]>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    unsafe { address(pointer) }.map(Some)
}

/// Bytes at a place. EINVAL for NULL and for more than there can be.
///
/// # Safety
///
/// NULL, or readable for that length while the slice is used.
pub unsafe fn bytes<'a>(place: *const c_void, length: usize) -> Result<&'a [u8]> {
    if place.is_null() || isize::try_from(length).is_err() {
        return Err(Errno::EINVAL);
    }
    // SAFETY: checked for NULL and for the length; the caller promises the rest.
    Ok(unsafe { slice::from_raw_parts(place.cast(), length) })
}

/// A string; NULL means none.
///
/// # Safety
///
/// NULL, or a string that ends with NUL, unchanged while it is used.
pub unsafe fn optional_text<'a>(text: *const c_char) -> Option<&'a CStr> {
    // SAFETY: checked for NULL; the caller promises the rest.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
}

/// A copy of the hints for a search: all but the names and the connection data, which are none. NULL means none; ENOMEM
/// without memory.
///
/// # Safety
///
/// NULL, or an entry whose addresses and route are each NULL or as long as the entry says.
pub unsafe fn hints(info: *const rdma_addrinfo) -> Result<Option<AddrInfo>> {
    // SAFETY: the caller's promise.
    let Some(info) = (unsafe { info.as_ref() }) else { return Ok(None) };
    // SAFETY: the caller's promise.
    unsafe {
        Ok(Some(AddrInfo {
            flags: info.ai_flags,
            family: info.ai_family,
            qp_type: info.ai_qp_type,
            port_space: info.ai_port_space,
            source: copy(info.ai_src_addr.cast(), info.ai_src_len as usize)?,
            destination: copy(info.ai_dst_addr.cast(), info.ai_dst_len as usize)?,
            route: copy(info.ai_route, info.ai_route_len)?,
            connect: Vec::new(),
        }))
    }
}

/// A copy of an entry, without its names. EINVAL for NULL, ENOMEM without memory.
///
/// # Safety
///
/// NULL, or an entry whose addresses, route and connection data are each NULL or as long as the entry says.
pub unsafe fn addrinfo(info: *const rdma_addrinfo) -> Result<AddrInfo> {
    // SAFETY: the caller's promise.
    let copied = unsafe { hints(info) }?.ok_or(Errno::EINVAL)?;
    // SAFETY: not NULL, or there were no hints; the caller promises the rest.
    let connect = unsafe { copy((*info).ai_connect, (*info).ai_connect_len)? };
    Ok(AddrInfo { connect, ..copied })
}

/// Nothing for NULL. ENOMEM without memory.
///
/// # Safety
///
/// NULL, or readable for that length.
unsafe fn copy(place: *const c_void, length: usize) -> Result<Vec<u8>> {
    // SAFETY: the caller's promise.
    AddrInfo::copy_of(unsafe { bytes(place, length) }.unwrap_or_default())
}

/// What the application offers its peer; None for NULL.
///
/// # Safety
///
/// NULL, or parameters whose private data is NULL or as long as they say, unchanged while the result is used.
pub unsafe fn offer<'a>(parameters: *const rdma_conn_param) -> Option<Offer<'a>> {
    // SAFETY: the caller's promise.
    unsafe {
        let numbers = *parameters.as_ref()?;
        Some(Offer {
            numbers,
            private_data: bytes(numbers.private_data, numbers.private_data_len.into()).unwrap_or_default(),
        })
    }
}
