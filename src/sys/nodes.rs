// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Nodes of RDMA devices, for diagnostics: a device whose node cannot be opened is not in libibverbs' list.

use super::device;
use crate::errno::Errno;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the nodes are.
const FOLDER: &str = "/dev/infiniband";

/// A device and its node.
#[derive(Debug, PartialEq, Eq)]
pub struct Node {
    /// The kernel's name of the device, such as "rxe0".
    pub device: String,
    /// Where its node should be.
    pub path: PathBuf,
    /// Why the node cannot be opened; None if it can.
    pub error: Option<Errno>,
}

/// The nodes of the devices with that GUID (in network byte order): mostly one, as sysfs tells.
pub fn of_guid(guid: u64) -> Vec<Node> {
    find(Path::new("/sys/class"), Path::new(FOLDER), guid)
}

/// Why the node of that name cannot be opened; None if it can.
pub fn refusal(name: &str) -> Option<Errno> {
    device::open_node(&Path::new(FOLDER).join(name), None).err()
}

fn find(classes: &Path, nodes: &Path, guid: u64) -> Vec<Node> {
    let Ok(entries) = fs::read_dir(classes.join("infiniband_verbs")) else { return Vec::new() };
    let of = |entry: fs::DirEntry| {
        let device = fs::read_to_string(entry.path().join("ibdev")).ok()?.trim().to_owned();
        let text = fs::read_to_string(classes.join("infiniband").join(&device).join("node_guid")).ok()?;
        let path = nodes.join(entry.file_name());
        let error = device::open_node(&path, None).err();
        (parse(&text)? == guid).then_some(Node { device, path, error })
    };
    entries.filter_map(|entry| of(entry.ok()?)).collect()
}

/// Of "0011:2233:4455:6677".
fn parse(text: &str) -> Option<u64> {
    u64::from_str_radix(&text.trim().replace(':', ""), 16).ok().map(u64::to_be)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_is_not_there_is_refused() {
        assert_eq!(refusal("no such node"), Some(Errno::ENOENT));
    }

    #[test]
    fn a_node_is_found_by_the_guid_of_its_device() {
        let root = std::env::temp_dir().join(format!("rdmacm-nodes-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        for (name, device, guid) in
            [("uverbs0", "rxe0", "0200:00ff:fe00:0001"), ("uverbs1", "rxe1", "0200:00ff:fe00:0002")]
        {
            for (file, text) in [
                (format!("infiniband_verbs/{name}/ibdev"), device),
                (format!("infiniband/{device}/node_guid"), guid),
            ] {
                let path = root.join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, format!("{text}\n")).unwrap();
            }
        }
        // A version file stands among the devices.
        fs::write(root.join("infiniband_verbs/abi_version"), "6\n").unwrap();
        let guid = u64::from_ne_bytes([2, 0, 0, 0xff, 0xfe, 0, 0, 2]);
        let path = root.join("uverbs1");
        let expected = Node { device: "rxe1".to_owned(), path, error: Some(Errno::ENOENT) };
        assert_eq!(find(&root, &root, guid), [expected]);
        assert_eq!(find(&root, &root, 0), []);
        assert_eq!(find(Path::new("/no such folder"), &root, guid), []);
    }
}
