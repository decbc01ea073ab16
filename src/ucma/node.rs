// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Finding and opening the device node of the connection manager.

use crate::diag;
use crate::errno::{Errno, Result};
use crate::sys::netlink::{self, CharDevice};
use crate::sys::{device, files, memory};
use crate::uapi::{ABI_VERSION_MAX, ABI_VERSION_MIN};
use std::ffi::OsStr;
use std::io::{Cursor, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;

/// Behind a cause that lies in the machine.
const HELP: &str = "rdmacm-doctor says what to do";

/// What this process found out about the node; it holds for the life of the kernel module.
#[derive(Debug, PartialEq, Eq)]
struct Node {
    path: Vec<u8>,
    /// None where only sysfs told of the device.
    number: Option<libc::dev_t>,
    /// Version of the kernel's interface.
    abi: u32,
}

impl Node {
    /// Found once per process.
    fn get() -> Result<&'static Node> {
        static NODE: OnceLock<Node> = OnceLock::new();
        match NODE.get() {
            Some(node) => Ok(node),
            None => {
                let found = find(netlink::char_device(c"rdma_cm"), netlink::any_device, b"/sys")?;
                Ok(NODE.get_or_init(|| found))
            }
        }
    }

    fn open(&self) -> Result<OwnedFd> {
        let path = Path::new(OsStr::from_bytes(&self.path));
        match device::open_node(path, self.number) {
            Err(error) if !error.is_passing() => {
                diag::line(format_args!("{}: {error:?}; {HELP}", path.display()));
                self.number.and_then(|number| by_number(number).ok()).ok_or(error)
            }
            opened => opened,
        }
    }
}

/// Version of the kernel's interface. Errors as for [`open`].
pub fn abi() -> Result<u32> {
    Node::get().map(|node| node.abi)
}

/// Opens the connection manager's device. ENODEV without any RDMA device, EPERM if the kernel speaks a version that
/// this library does not, ENOMEM, EMFILE, ENFILE if there is too little to find it out, else what opening the node says: EACCES without permission, ENOENT without node, ….
///
/// A node under another name is found by its device number. Nothing here waits for a node to appear.
pub fn open() -> Result<OwnedFd> {
    #[cfg(any(test, fuzzing))]
    if super::stand_in::is_there() {
        return device::open_node(Path::new("/dev/null"), None);
    }
    Node::get()?.open()
}

/// ENODEV without any RDMA device, EPERM as [`open`]. Costs nothing once one was there.
pub fn available() -> Result<()> {
    Node::get().map(|_| ())
}

/// What a kernel does not tell by netlink, it may tell in sysfs. But a passing failure must not settle the matter for the
/// life of the process.
fn find(told: Result<CharDevice>, any_device: impl FnOnce() -> Result<bool>, sysfs: &[u8]) -> Result<Node> {
    let node = match told {
        Ok(found) => Node { path: by_name(&found.name)?, number: Some(found.number), abi: found.abi },
        Err(error) if error.is_passing() => return Err(error),
        Err(_) => Node { path: by_name(b"rdma_cm")?, number: None, abi: abi_by_sysfs(sysfs)? },
    };
    if !(ABI_VERSION_MIN..=ABI_VERSION_MAX).contains(&node.abi) {
        diag::line(format_args!(
            "the kernel's connection manager has version {}, unknown here; {HELP}",
            node.abi
        ));
        return Err(Errno::EPERM);
    }
    // The node may well exist without a device; programs expect to be told at once that there is none.
    let any = match any_device() {
        Err(error) if !error.is_passing() => any_device_by_sysfs(sysfs),
        told => told,
    };
    if any? {
        Ok(node)
    } else {
        diag::line(format_args!("there is no RDMA device; {HELP}"));
        Err(Errno::ENODEV)
    }
}

/// A kernel that tells no version is taken for a current one: its answers will show.
fn abi_by_sysfs(sysfs: &[u8]) -> Result<u32> {
    for file in ["/class/misc/rdma_cm/abi_version", "/class/infiniband_ucma/abi_version"] {
        let mut room = [0; 16];
        match files::read(&memory::concat(&[sysfs, file.as_bytes()])?, &mut room) {
            Ok(text) => {
                let text = std::str::from_utf8(text).unwrap_or_default();
                return Ok(text.trim().parse().unwrap_or(0));
            }
            Err(error) if error.is_passing() => return Err(error),
            Err(_) => {}
        }
    }
    Ok(ABI_VERSION_MAX)
}

fn any_device_by_sysfs(sysfs: &[u8]) -> Result<bool> {
    match files::has_entries(&memory::concat(&[sysfs, b"/class/infiniband"])?) {
        Err(error) if !error.is_passing() => Ok(false),
        told => told,
    }
}

fn by_name(name: &[u8]) -> Result<Vec<u8>> {
    memory::concat(&[b"/dev/infiniband/", name])
}

fn by_number(number: libc::dev_t) -> Result<OwnedFd> {
    let mut room = [0; 40];
    let path = number_path(number, &mut room).ok_or(Errno::ENOENT)?;
    device::open_node(Path::new(OsStr::from_bytes(path)), Some(number))
}

fn number_path(number: libc::dev_t, room: &mut [u8]) -> Option<&[u8]> {
    let mut path = Cursor::new(&mut *room);
    write!(path, "/dev/char/{}:{}", libc::major(number), libc::minor(number)).ok()?;
    let length = path.position() as usize;
    room.get(..length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn sysfs(name: &str, files: &[(&str, &str)]) -> Vec<u8> {
        let root = std::env::temp_dir().join(format!("rdmacm-sysfs-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        for (file, text) in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root.into_os_string().into_encoded_bytes()
    }

    #[test]
    fn sysfs_tells_the_version() {
        assert_eq!(abi_by_sysfs(&sysfs("new", &[("class/misc/rdma_cm/abi_version", "4\n")])), Ok(4));
        assert_eq!(abi_by_sysfs(&sysfs("old", &[("class/infiniband_ucma/abi_version", "3\n")])), Ok(3));
        assert_eq!(abi_by_sysfs(&sysfs("none", &[])), Ok(ABI_VERSION_MAX));
        assert_eq!(abi_by_sysfs(&sysfs("bad", &[("class/misc/rdma_cm/abi_version", "?\n")])), Ok(0));
    }

    #[test]
    fn sysfs_tells_whether_there_is_a_device() {
        assert_eq!(any_device_by_sysfs(&sysfs("one", &[("class/infiniband/rxe0/node_guid", "")])), Ok(true));
        assert_eq!(any_device_by_sysfs(&sysfs("empty", &[("class/infiniband/.hidden", "")])), Ok(false));
        assert_eq!(any_device_by_sysfs(&sysfs("no", &[("class/misc/x", "")])), Ok(false));
    }

    #[test]
    fn a_number_names_a_path() {
        assert_eq!(number_path(libc::makedev(10, 122), &mut [0; 40]), Some(&b"/dev/char/10:122"[..]));
        assert_eq!(number_path(libc::makedev(10, 122), &mut [0; 4]), None);
    }
    fn told(abi: u32) -> Result<CharDevice> {
        Ok(CharDevice { name: b"cm".to_vec(), abi, number: libc::makedev(10, 122) })
    }

    #[test]
    fn netlink_tells_the_node() {
        let node = Node {
            path: b"/dev/infiniband/cm".to_vec(),
            number: Some(libc::makedev(10, 122)),
            abi: ABI_VERSION_MIN,
        };
        assert_eq!(find(told(ABI_VERSION_MIN), || Ok(true), b""), Ok(node));
        assert_eq!(find(told(ABI_VERSION_MIN), || Ok(false), b""), Err(Errno::ENODEV));
        assert_eq!(find(told(ABI_VERSION_MAX + 1), || Ok(true), b""), Err(Errno::EPERM));
    }

    #[test]
    fn sysfs_tells_what_netlink_does_not() {
        let files = [("class/misc/rdma_cm/abi_version", "4\n"), ("class/infiniband/rxe0/node_guid", "")];
        let sysfs = sysfs("both", &files);
        let node = Node { path: b"/dev/infiniband/rdma_cm".to_vec(), number: None, abi: 4 };
        assert_eq!(find(Err(Errno::ENOENT), || Err(Errno::EINVAL), &sysfs), Ok(node));
    }

    #[test]
    fn a_passing_failure_settles_nothing() {
        assert_eq!(find(Err(Errno::ENOMEM), || Ok(true), b"").unwrap_err(), Errno::ENOMEM);
        assert_eq!(find(told(ABI_VERSION_MAX), || Err(Errno::EMFILE), b"").unwrap_err(), Errno::EMFILE);
    }

    #[test]
    fn a_node_that_cannot_be_opened_is_looked_for_by_its_number() {
        let node = |number| Node { path: b"/nonexistent/cm".to_vec(), number, abi: ABI_VERSION_MAX };
        // Nothing has that one.
        assert_eq!(node(Some(libc::makedev(4095, 1))).open().unwrap_err(), Errno::ENOENT);
        assert_eq!(node(None).open().unwrap_err(), Errno::ENOENT);
    }
}
