// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Addresses of services that InfiniBand's subnet administrator knows, by name or number.

use super::id::{self, CmId};
use super::uid::NO_ID;
use super::{address, query, synchronous};
use crate::ctypes::{
    IBV_LINK_LAYER_INFINIBAND, IBV_PORT_ACTIVE, IBV_QPT_RC, RAI_SA, RDMA_CM_EVENT_ADDRINFO_ERROR,
    RDMA_CM_EVENT_ADDRINFO_RESOLVED, RDMA_PS_IB, ibv_port_attr,
};
use crate::errno::{Errno, Result};
use crate::resolve::{AddrInfo, sockaddr};
use crate::sys::{memory, number};
use crate::uapi::{
    AF_IB, IB_SERVICE_FLAG_ID, IB_SERVICE_FLAG_NAME, IB_SERVICE_NAME_SIZE, IbService, IbServiceRec,
    QueryIbService, QueryIbServiceHead, ResolveIbService, SockaddrIb,
};
use crate::ucma::{self, Fd};
use crate::verbs::DeviceList;
use std::ffi::{CStr, c_int};
use std::ptr;
use zerocopy::{FromBytes, FromZeros, IntoBytes};

/// Records that there is room for at first.
const USUAL: usize = 6;
/// Most records that the length of a reply can count.
const MOST: usize = (u16::MAX as usize - size_of::<QueryIbServiceHead>()) / size_of::<IbServiceRec>();

/// Starts to look for a service on the port that the id is bound to. An id with a channel of its own waits for the
/// result. EINVAL for an empty name or one that is too long, and for an id that is not bound; EOPNOTSUPP if the kernel
/// cannot look for services.
pub fn resolve(id: &CmId, service: &CStr) -> Result<()> {
    let fd = id.fd();
    let command = ResolveIbService { id: id.handle(), reserved: 0, ibs: wanted(service)? };
    match ucma::order(&fd, command) {
        Err(Errno::EINVAL) if !is_known(fd) => Err(Errno::EOPNOTSUPP),
        other => other,
    }?;
    synchronous::complete(id, &[RDMA_CM_EVENT_ADDRINFO_RESOLVED, RDMA_CM_EVENT_ADDRINFO_ERROR])
}

/// Whether the kernel has the command.
fn is_known(fd: Fd) -> bool {
    ucma::order(&fd, ResolveIbService { id: NO_ID, ..FromZeros::new_zeroed() }) != Err(Errno::EINVAL)
}

/// A number, as C writes numbers, is the identifier of the service; all else is its name. EINVAL for an empty name or
/// one that is too long.
pub fn wanted(service: &CStr) -> Result<IbService> {
    if let Some(service_id) = number::parse(service) {
        return Ok(IbService { service_id, flags: IB_SERVICE_FLAG_ID, ..FromZeros::new_zeroed() });
    }
    let name = service.to_bytes();
    let mut service_name = [0; IB_SERVICE_NAME_SIZE];
    if name.is_empty() || name.len() >= service_name.len() {
        return Err(Errno::EINVAL);
    }
    for (place, byte) in service_name.iter_mut().zip(name) {
        *place = *byte;
    }
    Ok(IbService { service_name, flags: IB_SERVICE_FLAG_NAME, ..FromZeros::new_zeroed() })
}

/// The services that were found for the id. ENOENT if there is none.
pub fn found(id: &CmId) -> Result<Vec<AddrInfo>> {
    let records = records(id)?;
    if records.is_empty() {
        return Err(Errno::ENOENT);
    }
    query::addresses(id)?;
    let mut found = Vec::new();
    for record in &records {
        memory::push(&mut found, entry(record)?)?;
    }
    Ok(found)
}

fn records(id: &CmId) -> Result<Vec<IbServiceRec>> {
    let mut room = USUAL;
    loop {
        let mut reply = memory::zeros(size_of::<QueryIbServiceHead>() + room * size_of::<IbServiceRec>())?;
        ucma::execute_into(&id.fd(), QueryIbService::new(id.handle()), &mut reply)?;
        let (head, records) = QueryIbServiceHead::read_from_prefix(&reply).map_err(|_| Errno::EPROTO)?;
        let count = (head.num_service_recs as usize).min(MOST);
        if count <= room {
            let records = records.chunks_exact(size_of::<IbServiceRec>()).take(count);
            return memory::collect(records.filter_map(|record| IbServiceRec::read_from_bytes(record).ok()));
        }
        room = count;
    }
}

/// A service as an entry of a list.
pub fn entry(record: &IbServiceRec) -> Result<AddrInfo> {
    let destination = SockaddrIb {
        family: AF_IB,
        pkey: record.pkey,
        addr: record.gid,
        sid: record.id,
        sid_mask: u64::MAX,
        ..FromZeros::new_zeroed()
    };
    Ok(AddrInfo {
        flags: RAI_SA,
        family: c_int::from(AF_IB),
        port_space: RDMA_PS_IB as c_int,
        destination: AddrInfo::copy_of(destination.as_bytes())?,
        ..AddrInfo::default()
    })
}

/// Looks for a service on one active InfiniBand port after the other. ENOENT if it is on none.
pub fn search(service: &CStr) -> Result<Vec<AddrInfo>> {
    let devices = DeviceList::get()?;
    for device in devices.iter() {
        let Ok(context) = device.open() else { continue };
        let ports = context.attributes().map_or(0, |attributes| attributes.phys_port_cnt);
        let is_active = |port: &ibv_port_attr| {
            port.link_layer == IBV_LINK_LAYER_INFINIBAND && port.state >= IBV_PORT_ACTIVE
        };
        for port in (1..=ports).filter(|port| context.port(*port).as_ref().is_ok_and(is_active)) {
            if let Ok(found) = context.gid(port, 0).and_then(|gid| search_at(gid, service)) {
                return Ok(found);
            }
        }
    }
    Err(Errno::ENOENT)
}

/// Looks for a service on the port of a GID.
fn search_at(gid: [u8; 16], service: &CStr) -> Result<Vec<AddrInfo>> {
    let id = id::create(None, ptr::null_mut(), RDMA_PS_IB, IBV_QPT_RC)?;
    let local = SockaddrIb { family: AF_IB, addr: gid, ..FromZeros::new_zeroed() };
    let result = address::bind(&id, local.as_bytes())
        .and_then(|()| id.resolution().begin())
        .and_then(|()| resolve(&id, service))
        .and_then(|()| id.resolution().take(|found| Ok(std::mem::take(found))));
    id::abandon(&id);
    let mut entries = result?;
    for entry in &mut entries {
        let pkey = SockaddrIb::read_from_bytes(&entry.destination).map_or(0, |destination| destination.pkey);
        let source = SockaddrIb { pkey, addr: gid, ..sockaddr::of_service(entry.port_space, 0) };
        entry.source = AddrInfo::copy_of(source.as_bytes())?;
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_an_identifier_and_all_else_a_name() {
        let number = wanted(c"0x10000CE100415355").unwrap();
        assert_eq!((number.service_id, number.flags), (0x10000ce100415355, IB_SERVICE_FLAG_ID));
        assert_eq!(number.service_name, [0; 64]);
        let name = wanted(c"12 monkeys").unwrap();
        assert_eq!((name.service_id, name.flags), (0, IB_SERVICE_FLAG_NAME));
        assert_eq!(name.service_name[..11], *b"12 monkeys\0");
    }

    #[test]
    fn a_name_fits_or_is_refused() {
        let text = |length| std::ffi::CString::new(vec![b'x'; length]).unwrap();
        assert!(wanted(&text(63)).is_ok());
        for length in [0, 64] {
            assert_eq!(wanted(&text(length)).err(), Some(Errno::EINVAL));
        }
    }

    #[test]
    fn a_record_becomes_an_entry() {
        let record = IbServiceRec {
            id: 7u64.to_be(),
            gid: [3; 16],
            pkey: 0x8001u16.to_be(),
            ..FromZeros::new_zeroed()
        };
        let entry = entry(&record).unwrap();
        assert_eq!((entry.flags, entry.family, entry.qp_type), (RAI_SA, 27, 0));
        assert!(entry.source.is_empty());
        assert_eq!(sockaddr::ib(&entry.destination), Some([3; 16]));
        assert_eq!(entry.destination[24..40], [[0, 0, 0, 0, 0, 0, 0, 7], [0xff; 8]].concat());
    }
}
