// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The addresses of this machine.

use std::net::{SocketAddr, UdpSocket};

/// Whether sockets can be bound to the address: it is a local one, or the wildcard.
pub fn is_local(mut address: SocketAddr) -> bool {
    address.set_port(0);
    UdpSocket::bind(address).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_local_and_a_documentation_address_is_not() {
        for (text, expected) in [("127.0.0.1:1", true), ("0.0.0.0:1", true), ("203.0.113.1:1", false)] {
            assert_eq!(is_local(text.parse().unwrap()), expected, "{text}");
        }
    }
}
