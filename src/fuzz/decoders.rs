// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Decoders that stand by themselves.

use super::input::Input;
use crate::capi::borrow;
use crate::cm::{path, service};
use crate::ctypes::{RAI_NUMERICHOST, rdma_addrinfo};
use crate::resolve::ibacm::wire::{self, LONGEST, Reply};
use crate::resolve::{AddrInfo, List, ib, ibacm, list, names, sockaddr};
use crate::sys::netlink;
use crate::uapi::{IbPathRecData, IbServiceRec, IbUserPathRec, SockaddrIb};
use libc::socklen_t;
use std::ffi::{CString, OsStr, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};
use std::ptr;
use zerocopy::FromBytes;

/// The RDMA subsystem's answers by netlink.
pub fn netlink(data: &[u8]) {
    if let Ok(device) = netlink::parse_char_device(data) {
        let mut parts = Path::new(OsStr::from_bytes(&device.name)).components();
        let is_one_name = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
        assert!(is_one_name, "{:?} leads out of the folder of the nodes", device.name);
    }
    let _ = netlink::parse_driver(data);
    let _ = netlink::parse_any_device(data);
}

/// ibacm's answers, as they come through a stream.
pub fn ibacm(data: &[u8]) {
    let mut input = Input::new(data);
    let tid = input.byte().into();
    let stream = &input.bytes(LONGEST)[..];
    let answer = match wire::read(stream, tid) {
        Reply::Incomplete => {
            assert!(stream.len() < LONGEST, "a full room without a message");
            return;
        }
        Reply::Garbage | Reply::Lost => return,
        Reply::Other(length) => return assert!((1..=stream.len()).contains(&length)),
        Reply::Complete(length, answer) => {
            assert!((1..=stream.len()).contains(&length));
            let cut = stream.get(..length - 1).unwrap_or_default();
            assert_eq!(wire::read(cut, tid), Reply::Incomplete, "it was complete before its end");
            answer.unwrap_or_default()
        }
    };
    let Ok(destination) = sockaddr::of_ipv6(input.array()) else { return };
    let family = sockaddr::family(&destination).into();
    let entry = AddrInfo {
        family,
        source: answer.source.unwrap_or_default(),
        destination,
        route: answer.paths,
        ..AddrInfo::default()
    };
    let Ok(twin) = ib::twin(&entry) else { return };
    assert_eq!(twin.is_some(), !entry.route.is_empty());
}

/// Records of the subnet administrator: paths in both forms, and services.
pub fn records(data: &[u8]) {
    if let Ok((record, _)) = IbPathRecData::read_from_prefix(data) {
        let path = path::from_wire(&record);
        assert!(path.sl < 16 && path.mtu < 32 && path.rate < 32 && path.packet_life_time < 32);
    }
    if let Ok((record, _)) = IbUserPathRec::read_from_prefix(data) {
        assert_eq!(path::from_fields(&record).pkey, record.pkey);
    }
    if let Ok((record, _)) = IbServiceRec::read_from_prefix(data) {
        let Ok(entry) = service::entry(&record) else { return };
        assert_eq!(sockaddr::ib(&entry.destination), Some(record.gid));
        assert!(SockaddrIb::read_from_bytes(&entry.destination).is_ok());
    }
    if let Ok(text) = CString::new(data) {
        let _ = service::wanted(&text);
    }
}

/// Hints of an application, through all that answers a search but the name services of the network.
pub fn hints(data: &[u8]) {
    let mut input = Input::new(data);
    let mut number = || c_int::from_ne_bytes(input.array());
    let (flags, family, qp_type, port_space) = (number() | RAI_NUMERICHOST, number(), number(), number());
    let (source, destination, route) = (input.counted(), input.counted(), input.counted());
    let (node, service) = (CString::new(input.counted()).ok(), CString::new(input.counted()).ok());
    let given = rdma_addrinfo {
        ai_flags: flags,
        ai_family: family,
        ai_qp_type: qp_type,
        ai_port_space: port_space,
        ai_src_len: source.len() as socklen_t,
        ai_dst_len: destination.len() as socklen_t,
        ai_src_addr: place(&source).cast(),
        ai_dst_addr: place(&destination).cast(),
        ai_src_canonname: ptr::null_mut(),
        ai_dst_canonname: ptr::null_mut(),
        ai_route_len: route.len(),
        ai_route: place(&route).cast(),
        ai_connect_len: usize::MAX,
        ai_connect: ptr::null_mut(),
        ai_next: ptr::null_mut(),
    };
    // SAFETY: the addresses and the route are as long as the entry says; the connection data is NULL.
    let copies = unsafe { (borrow::hints(&given), borrow::addrinfo(&given)) };
    let (Ok(Some(hints)), Ok(_)) = copies else { return };
    assert_eq!((&hints.source, &hints.destination, &hints.route), (&source, &destination, &route));
    let mut entries = names::look_up(node.as_deref(), service.as_deref(), Some(&hints)).unwrap_or_default();
    entries.push(hints.clone());
    for entry in &mut entries {
        let question = ibacm::question(entry, &hints).and_then(|question| question.message(1));
        let Ok(question) = question else { return };
        assert!(question.len() <= LONGEST);
        assert!(matches!(wire::read(&question, 1), Reply::Complete(length, _) if length == question.len()));
        entry.route.clone_from(&hints.route);
        let _ = (sockaddr::ip(&entry.destination), sockaddr::gid(&entry.destination));
    }
    let twins: Vec<_> = entries.iter().filter_map(|entry| ib::twin(entry).ok().flatten()).collect();
    assert!(twins.iter().all(|twin| SockaddrIb::read_from_bytes(&twin.destination).is_ok()));
    entries.extend(twins);
    if let Ok(made) = List::of(&entries) {
        // SAFETY: nobody else has the list.
        unsafe { list::free(made.into_raw()) };
    }
}

/// NULL for no bytes, as applications have it.
fn place(bytes: &[u8]) -> *mut u8 {
    if bytes.is_empty() { ptr::null_mut() } else { bytes.as_ptr().cast_mut() }
}
