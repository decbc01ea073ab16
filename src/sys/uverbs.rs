// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What the kernel tells of an open context of an RDMA device (`rdma/ib_user_ioctl_cmds.h`).

use crate::errno::{Errno, Result};
use std::os::fd::RawFd;

/// A kind of objects on a context, `enum uverbs_default_objects`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind(u16);

impl Kind {
    /// Protection domains.
    pub const PD: Kind = Kind(1);
    /// Domains of extended reliable connections.
    pub const XRCD: Kind = Kind(10);
    /// The context's own descriptor for events is one of these.
    const ASYNC_EVENT: Kind = Kind(16);
    /// One more than the last kind that is known here.
    const END: u16 = 20;

    /// Every kind of which an application may have objects.
    pub fn all() -> impl Iterator<Item = Kind> {
        (Self::PD.0..Self::END).map(Kind).filter(|&kind| kind != Self::ASYNC_EVENT)
    }
}

/// More objects of a kind are not told apart.
const MANY: usize = 4;

const OBJECT_DEVICE: u16 = 0;
const METHOD_INFO_HANDLES: u16 = 1;
const ATTR_OBJECT_ID: u16 = 0;
const ATTR_TOTAL_HANDLES: u16 = 1;
const ATTR_HANDLES_LIST: u16 = 2;
const MANDATORY: u16 = 1;

/// The number of no object: what the kernel has not overwritten.
const NONE: u32 = u32::MAX;

#[repr(C)]
struct Attribute {
    id: u16,
    length: u16,
    flags: u16,
    reserved: u16,
    data: u64,
}

#[repr(C)]
struct Header {
    length: u16,
    object: u16,
    method: u16,
    attributes: u16,
    reserved1: u64,
    driver: u32,
    reserved2: u32,
}

#[repr(C)]
struct InfoHandles {
    header: Header,
    kind: Attribute,
    total: Attribute,
    list: Attribute,
}

/// How many objects of a kind are on the context, at most `MANY`; 0 for a kind that the kernel does not know. `fd` is
/// where the context's commands go, `driver` the number of the device's driver (see
/// [`driver`](super::netlink::driver)). An error from kernels that do not tell, and after the device was taken away.
pub fn count(fd: RawFd, driver: u32, kind: Kind) -> Result<usize> {
    let mut handles = [NONE; MANY];
    // The kernel insists on telling this too, but tells the wrong half of it where the high bytes come first.
    let mut total = 0u32;
    let attribute = |id, length: usize, data| Attribute {
        id,
        length: length as u16,
        flags: MANDATORY,
        reserved: 0,
        data,
    };
    let mut command = InfoHandles {
        header: Header {
            length: size_of::<InfoHandles>() as u16,
            object: OBJECT_DEVICE,
            method: METHOD_INFO_HANDLES,
            attributes: 3,
            reserved1: 0,
            driver,
            reserved2: 0,
        },
        kind: attribute(ATTR_OBJECT_ID, size_of::<u64>(), u64::from(kind.0)),
        total: attribute(
            ATTR_TOTAL_HANDLES,
            size_of_val(&total),
            (&raw mut total).expose_provenance() as u64,
        ),
        list: attribute(
            ATTR_HANDLES_LIST,
            size_of_val(&handles),
            handles.as_mut_ptr().expose_provenance() as u64,
        ),
    };
    let request = nix::request_code_readwrite!(0x1b, 1, size_of::<Header>());
    // SAFETY: the command says how long it is. The kernel writes to the command and to the places that it names, with their
    // lengths; all are alive. Another device than that of the verbs answers ENOTTY.
    match unsafe { libc::ioctl(fd, request as _, &raw mut command) } {
        0 => Ok(handles.iter().filter(|&&handle| handle != NONE).count()),
        _ => match Errno::last() {
            Errno::ENOENT => Ok(0),
            error => Err(error),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::AsRawFd;

    #[test]
    fn other_descriptors_do_not_tell() {
        let null = File::open("/dev/null").unwrap();
        assert_eq!(count(null.as_raw_fd(), 0, Kind::PD), Err(Errno::from_raw(libc::ENOTTY)));
        assert_eq!(count(-1, 0, Kind::PD), Err(Errno::EBADF));
    }

    #[test]
    fn the_command_is_laid_out_as_the_kernel_wants_it() {
        assert_eq!((size_of::<Header>(), size_of::<Attribute>(), size_of::<InfoHandles>()), (24, 16, 72));
    }

    #[test]
    fn all_kinds_but_the_contexts_own() {
        assert!(Kind::all().any(|kind| kind == Kind::PD) && Kind::all().any(|kind| kind == Kind::XRCD));
        assert!(Kind::all().all(|kind| kind != Kind::ASYNC_EVENT));
    }
}
