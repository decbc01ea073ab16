// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Finding and opening the device node of the connection manager.

use crate::diag;
use crate::errno::{Errno, Result};
use crate::sys::{device, netlink};
use crate::uapi::{ABI_VERSION_MAX, ABI_VERSION_MIN};
use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What this process found out about the node; it holds for the life of the kernel module.
#[derive(Debug, PartialEq, Eq)]
struct Node {
    path: PathBuf,
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
                let found = find(Path::new("/sys"))?;
                Ok(NODE.get_or_init(|| found))
            }
        }
    }
}

/// Version of the kernel's interface. Errors as for [`open`].
pub fn abi() -> Result<u32> {
    Node::get().map(|node| node.abi)
}

/// Opens the connection manager's device. ENODEV without any RDMA device, EPERM if the kernel speaks a version that
/// this library does not, else what opening the node says: EACCES without permission, ENOENT without node, ….
///
/// A node under another name is found by its device number. Nothing here waits for a node to appear.
pub fn open() -> Result<OwnedFd> {
    #[cfg(any(test, fuzzing))]
    if super::stand_in::is_there() {
        return device::open_node(Path::new("/dev/null"), None);
    }
    let node = Node::get()?;
    device::open_node(&node.path, node.number).or_else(|error| {
        diag::line(format_args!("{}: {error:?}", node.path.display()));
        node.number.and_then(|number| device::open_node(&by_number(number), Some(number)).ok()).ok_or(error)
    })
}

/// ENODEV without any RDMA device, EPERM as [`open`]. Costs nothing once one was there.
pub fn available() -> Result<()> {
    Node::get().map(|_| ())
}

fn find(sysfs: &Path) -> Result<Node> {
    let node = match netlink::char_device("rdma_cm") {
        Ok(found) => Node { path: by_name(&found.name), number: Some(found.number), abi: found.abi },
        Err(_) => Node { path: by_name("rdma_cm"), number: None, abi: abi_by_sysfs(sysfs) },
    };
    if !(ABI_VERSION_MIN..=ABI_VERSION_MAX).contains(&node.abi) {
        diag::line(format_args!("the kernel's connection manager has version {}, unknown here", node.abi));
        return Err(Errno::EPERM);
    }
    // The node may well exist without a device; programs expect to be told at once that there is none.
    if netlink::any_device().unwrap_or_else(|_| any_device_by_sysfs(sysfs)) {
        Ok(node)
    } else {
        Err(Errno::ENODEV)
    }
}

/// A kernel that tells no version is taken for a current one: its answers will show.
fn abi_by_sysfs(sysfs: &Path) -> u32 {
    ["class/misc/rdma_cm/abi_version", "class/infiniband_ucma/abi_version"]
        .iter()
        .find_map(|file| fs::read_to_string(sysfs.join(file)).ok())
        .map_or(ABI_VERSION_MAX, |text| text.trim().parse().unwrap_or(0))
}

fn any_device_by_sysfs(sysfs: &Path) -> bool {
    fs::read_dir(sysfs.join("class/infiniband")).is_ok_and(|mut devices| devices.next().is_some())
}

fn by_name(name: &str) -> PathBuf {
    Path::new("/dev/infiniband").join(name)
}

fn by_number(number: libc::dev_t) -> PathBuf {
    PathBuf::from(format!("/dev/char/{}:{}", libc::major(number), libc::minor(number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sysfs(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let root = std::env::temp_dir().join(format!("rdmacm-sysfs-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        for (file, text) in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn sysfs_tells_the_version() {
        assert_eq!(abi_by_sysfs(&sysfs("new", &[("class/misc/rdma_cm/abi_version", "4\n")])), 4);
        assert_eq!(abi_by_sysfs(&sysfs("old", &[("class/infiniband_ucma/abi_version", "3\n")])), 3);
        assert_eq!(abi_by_sysfs(&sysfs("none", &[])), ABI_VERSION_MAX);
        assert_eq!(abi_by_sysfs(&sysfs("bad", &[("class/misc/rdma_cm/abi_version", "?\n")])), 0);
    }

    #[test]
    fn sysfs_tells_whether_there_is_a_device() {
        assert!(any_device_by_sysfs(&sysfs("one", &[("class/infiniband/rxe0/node_guid", "")])));
        assert!(!any_device_by_sysfs(&sysfs("no", &[("class/misc/x", "")])));
    }

    #[test]
    fn a_number_names_a_path() {
        assert_eq!(by_number(libc::makedev(10, 122)), Path::new("/dev/char/10:122"));
    }
}
