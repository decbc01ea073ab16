// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The address list of `rdma_getaddrinfo(3)`.

use core::ffi::{c_char, c_int, c_void};

use libc::{size_t, sockaddr, socklen_t};

/// The address will be listened on: a result is a source address, not a destination.
pub const RAI_PASSIVE: c_int = 0x01;
/// The node name is a numeric address; no name service is asked.
pub const RAI_NUMERICHOST: c_int = 0x02;
/// Do not look for a route to the destination.
pub const RAI_NOROUTE: c_int = 0x04;
/// Take the address family of the hints, even where the node name would allow another.
pub const RAI_FAMILY: c_int = 0x08;
/// Resolve the names by the service records of the InfiniBand subnet administrator.
pub const RAI_SA: c_int = 0x10;
/// Resolve the names by DNS. Not together with RAI_SA.
pub const RAI_DNS: c_int = 0x20;

/// One address, with what is needed to connect to it or to listen on it. Results form a list, to be freed as a
/// whole with rdma_freeaddrinfo().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rdma_addrinfo {
    /// RAI_ flags, combined with "or".
    pub ai_flags: c_int,
    /// Address family: AF_INET, AF_INET6 or AF_IB.
    pub ai_family: c_int,
    /// Kind of queue pair, an enum ibv_qp_type.
    pub ai_qp_type: c_int,
    /// Port space, an enum rdma_port_space.
    pub ai_port_space: c_int,
    /// Length of ai_src_addr in bytes.
    pub ai_src_len: socklen_t,
    /// Length of ai_dst_addr in bytes.
    pub ai_dst_len: socklen_t,
    /// Local address, or NULL.
    pub ai_src_addr: *mut sockaddr,
    /// Remote address, or NULL.
    pub ai_dst_addr: *mut sockaddr,
    /// Canonical name of the local host, or NULL.
    pub ai_src_canonname: *mut c_char,
    /// Canonical name of the remote host, or NULL.
    pub ai_dst_canonname: *mut c_char,
    /// Length of ai_route in bytes.
    pub ai_route_len: size_t,
    /// Routing data, an array of struct ibv_path_data on InfiniBand, or NULL.
    pub ai_route: *mut c_void,
    /// Length of ai_connect in bytes.
    pub ai_connect_len: size_t,
    /// Data to be sent at the head of a connection's private data, or NULL.
    pub ai_connect: *mut c_void,
    /// Next address of the list, or NULL.
    pub ai_next: *mut rdma_addrinfo,
}
