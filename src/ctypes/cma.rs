// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Identifiers, events and their parameters: the types that stand in `rdma_cm(7)` and its pages.

use core::ffi::{c_int, c_uint, c_void};

use libc::{sockaddr, sockaddr_in, sockaddr_in6, sockaddr_storage};

use super::__be16;
use super::queue::{ibv_comp_channel, ibv_cq, ibv_qp, ibv_srq};
use super::sa::ibv_sa_path_rec;
use super::verbs::{ibv_ah_attr, ibv_context, ibv_gid, ibv_pd, ibv_qp_type};

c_enum! { c_uint =>
    /// What an event reports; rdma_event_str() gives the name.
    pub enum rdma_cm_event_type {
        /// rdma_resolve_addr() found the device and the address of the destination.
        RDMA_CM_EVENT_ADDR_RESOLVED = 0,
        /// rdma_resolve_addr() failed.
        RDMA_CM_EVENT_ADDR_ERROR = 1,
        /// rdma_resolve_route() found a route.
        RDMA_CM_EVENT_ROUTE_RESOLVED = 2,
        /// rdma_resolve_route() failed.
        RDMA_CM_EVENT_ROUTE_ERROR = 3,
        /// A peer asks for a connection: the event's id is new, its listen_id is the listener.
        RDMA_CM_EVENT_CONNECT_REQUEST = 4,
        /// The peer accepted, on an id without a queue pair: the application ends the handshake itself.
        RDMA_CM_EVENT_CONNECT_RESPONSE = 5,
        /// The connection could not be made, or broke while it was being made.
        RDMA_CM_EVENT_CONNECT_ERROR = 6,
        /// The peer cannot be reached or did not answer.
        RDMA_CM_EVENT_UNREACHABLE = 7,
        /// The peer refused; the status is the transport's reason.
        RDMA_CM_EVENT_REJECTED = 8,
        /// The connection stands.
        RDMA_CM_EVENT_ESTABLISHED = 9,
        /// The connection ended.
        RDMA_CM_EVENT_DISCONNECTED = 10,
        /// The device goes away: destroy the id and all that was made on the device.
        RDMA_CM_EVENT_DEVICE_REMOVAL = 11,
        /// A multicast group was joined; the parameters say how to send to it.
        RDMA_CM_EVENT_MULTICAST_JOIN = 12,
        /// A multicast group could not be joined, or was lost.
        RDMA_CM_EVENT_MULTICAST_ERROR = 13,
        /// The network device of the id's address changed its hardware address.
        RDMA_CM_EVENT_ADDR_CHANGE = 14,
        /// A closed connection left its waiting time: the queue pair may be used again.
        RDMA_CM_EVENT_TIMEWAIT_EXIT = 15,
        /// rdma_resolve_addrinfo() is done; rdma_query_addrinfo() gives the result.
        RDMA_CM_EVENT_ADDRINFO_RESOLVED = 16,
        /// rdma_resolve_addrinfo() failed.
        RDMA_CM_EVENT_ADDRINFO_ERROR = 17,
        /// An event written with rdma_write_cm_event().
        RDMA_CM_EVENT_USER = 18,
        /// Used between kernel and library; an application does not see it.
        RDMA_CM_EVENT_INTERNAL = 19,
    }
}

c_enum! { c_uint =>
    /// The space that port numbers are counted in, which also chooses the kind of service.
    pub enum rdma_port_space {
        /// 0x0002: datagrams that IP over InfiniBand interfaces understand.
        RDMA_PS_IPOIB = 0x0002,
        /// 0x0106: reliable connections.
        RDMA_PS_TCP = 0x0106,
        /// 0x0111: unreliable datagrams and multicast.
        RDMA_PS_UDP = 0x0111,
        /// 0x013F: InfiniBand's own service identifiers (AF_IB).
        RDMA_PS_IB = 0x013F,
    }
}

/// The part of an AF_IB service identifier that names the port space: all but the low 16 bits.
pub const RDMA_IB_IP_PS_MASK: u64 = 0xFFFF_FFFF_FFFF_0000_u64;
/// The part of an AF_IB service identifier that is the port number: the low 16 bits.
pub const RDMA_IB_IP_PORT_MASK: u64 = 0x0000_0000_0000_FFFF_u64;
/// RDMA_PS_TCP, shifted by 16 bits, in an AF_IB service identifier.
pub const RDMA_IB_IP_PS_TCP: u64 = 0x0000_0000_0106_0000_u64;
/// RDMA_PS_UDP, shifted by 16 bits, in an AF_IB service identifier.
pub const RDMA_IB_IP_PS_UDP: u64 = 0x0000_0000_0111_0000_u64;
/// RDMA_PS_IB, shifted by 16 bits, in an AF_IB service identifier.
pub const RDMA_IB_PS_IB: u64 = 0x0000_0000_013F_0000_u64;

/// 0x01234567: the queue key of the datagram queue pairs and multicast groups made here.
pub const RDMA_UDP_QKEY: c_uint = 0x0123_4567;

/// Both ends of a path in InfiniBand's own terms.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rdma_ib_addr {
    /// Local GID.
    pub sgid: ibv_gid,
    /// Remote GID.
    pub dgid: ibv_gid,
    /// Partition key.
    pub pkey: __be16,
}

/// The local address of an id. In C an unnamed member of struct rdma_addr.
#[repr(C)]
#[derive(Clone, Copy)]
pub union rdma_addr_src {
    /// Any family.
    pub src_addr: sockaddr,
    /// AF_INET.
    pub src_sin: sockaddr_in,
    /// AF_INET6.
    pub src_sin6: sockaddr_in6,
    /// Room for every family.
    pub src_storage: sockaddr_storage,
}

/// The remote address of an id. In C an unnamed member of struct rdma_addr.
#[repr(C)]
#[derive(Clone, Copy)]
pub union rdma_addr_dst {
    /// Any family.
    pub dst_addr: sockaddr,
    /// AF_INET.
    pub dst_sin: sockaddr_in,
    /// AF_INET6.
    pub dst_sin6: sockaddr_in6,
    /// Room for every family.
    pub dst_storage: sockaddr_storage,
}

/// The transport's view of the addresses. In C a union without a tag.
#[repr(C)]
#[derive(Clone, Copy)]
pub union rdma_addr_transport {
    /// InfiniBand and RoCE.
    pub ibaddr: rdma_ib_addr,
}

/// The addresses of both ends of an id.
/// cbindgen:field-names=[, , addr]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rdma_addr {
    /// Local address.
    pub src: rdma_addr_src,
    /// Remote address.
    pub dst: rdma_addr_dst,
    /// The transport's view.
    pub addr: rdma_addr_transport,
}

/// Where an id is and where it leads.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rdma_route {
    /// Addresses of both ends.
    pub addr: rdma_addr,
    /// num_paths resolved paths, or NULL.
    pub path_rec: *mut ibv_sa_path_rec,
    /// Number of path_rec.
    pub num_paths: c_int,
}

/// The stream of events of one or more ids.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct rdma_event_channel {
    /// Readable (poll, select, epoll) while an event is pending; O_NONBLOCK makes rdma_get_cm_event() not wait.
    pub fd: c_int,
}

/// One end of a connection, a listener, or a datagram endpoint: RDMA's counterpart of a socket.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rdma_cm_id {
    /// The device the id is bound to, or NULL.
    pub verbs: *mut ibv_context,
    /// Where the id's events arrive.
    pub channel: *mut rdma_event_channel,
    /// The application's own pointer; the library does not look at it.
    pub context: *mut c_void,
    /// The queue pair made by rdma_create_qp(), or NULL.
    pub qp: *mut ibv_qp,
    /// Addresses and paths.
    pub route: rdma_route,
    /// Port space.
    pub ps: rdma_port_space,
    /// Port of the device, counted from 1; 0 while the id is not bound to a device.
    pub port_num: u8,
    /// The last event of an id with synchronous operations, or NULL.
    pub event: *mut rdma_cm_event,
    /// Completion channel of the send queue, or NULL.
    pub send_cq_channel: *mut ibv_comp_channel,
    /// Completion queue of the send queue, or NULL.
    pub send_cq: *mut ibv_cq,
    /// Completion channel of the receive queue, or NULL.
    pub recv_cq_channel: *mut ibv_comp_channel,
    /// Completion queue of the receive queue, or NULL.
    pub recv_cq: *mut ibv_cq,
    /// The shared receive queue made by rdma_create_srq(), or NULL.
    pub srq: *mut ibv_srq,
    /// Protection domain, or NULL.
    pub pd: *mut ibv_pd,
    /// Kind of queue pair.
    pub qp_type: ibv_qp_type,
}

c_enum! { u8 =>
    /// Values of struct rdma_conn_param that stand for the most the device can do.
    pub enum rdma_conn_param_max {
        /// As responder_resources.
        RDMA_MAX_RESP_RES = 0xFF,
        /// As initiator_depth.
        RDMA_MAX_INIT_DEPTH = 0xFF,
    }
}

/// Parameters of a connection, given to rdma_connect() and rdma_accept() and reported by events.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct rdma_conn_param {
    /// Data for the peer, sent with the request or the answer, or NULL.
    pub private_data: *const c_void,
    /// Length of private_data in bytes. In an event it may count padding of the transport.
    pub private_data_len: u8,
    /// Most RDMA reads and atomics that the peer may have outstanding here.
    pub responder_resources: u8,
    /// Most RDMA reads and atomics that this side will have outstanding at the peer.
    pub initiator_depth: u8,
    /// Not 0 if hardware flow control is there.
    pub flow_control: u8,
    /// Times that a send without an answer is repeated, 0 to 7. Not used when accepting.
    pub retry_count: u8,
    /// Times that a send is repeated while the peer has no receive posted, 0 to 7; 7 is without end.
    pub rnr_retry_count: u8,
    /// Not 0 if the queue pair has a shared receive queue. Not used if the id has a queue pair.
    pub srq: u8,
    /// Number of the queue pair. Not used if the id has a queue pair.
    pub qp_num: u32,
}

/// How to reach a datagram service or a multicast group, as events report it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rdma_ud_param {
    /// Data of the peer, or NULL.
    pub private_data: *const c_void,
    /// Length of private_data in bytes. It may count padding of the transport.
    pub private_data_len: u8,
    /// For ibv_create_ah().
    pub ah_attr: ibv_ah_attr,
    /// Queue pair to send to.
    pub qp_num: u32,
    /// Queue key to send with.
    pub qkey: u32,
}

/// What depends on the kind of event. In C a union without a tag.
#[repr(C)]
#[derive(Clone, Copy)]
pub union rdma_cm_event_param {
    /// Events of a connection.
    pub conn: rdma_conn_param,
    /// Events of datagrams and multicast.
    pub ud: rdma_ud_param,
    /// RDMA_CM_EVENT_USER: the argument given to rdma_write_cm_event().
    pub arg: u64,
}

/// An event, from rdma_get_cm_event() until rdma_ack_cm_event().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rdma_cm_event {
    /// The id it is about. For RDMA_CM_EVENT_CONNECT_REQUEST a new one.
    pub id: *mut rdma_cm_id,
    /// For RDMA_CM_EVENT_CONNECT_REQUEST the listener, else NULL.
    pub listen_id: *mut rdma_cm_id,
    /// What happened.
    pub event: rdma_cm_event_type,
    /// 0, a negative errno, or the transport's reason of a refusal.
    pub status: c_int,
    /// What depends on the kind of event.
    pub param: rdma_cm_event_param,
}

c_enum! { c_uint =>
    /// Which fields of struct rdma_cm_join_mc_attr_ex are set.
    pub enum rdma_cm_join_mc_attr_mask {
        /// The field addr; it has to be set.
        RDMA_CM_JOIN_MC_ATTR_ADDRESS = 1,
        /// The field join_flags; it has to be set.
        RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS = 2,
        /// First bit without a meaning.
        RDMA_CM_JOIN_MC_ATTR_RESERVED = 4,
    }
}

c_enum! { c_uint =>
    /// How to be a member of a multicast group.
    pub enum rdma_cm_mc_join_flags {
        /// Send and receive.
        RDMA_MC_JOIN_FLAG_FULLMEMBER = 0,
        /// Send only; the group exists as long as such a member does.
        RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER = 1,
        /// First value without a meaning.
        RDMA_MC_JOIN_FLAG_RESERVED = 2,
    }
}

/// Parameters of rdma_join_multicast_ex().
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct rdma_cm_join_mc_attr_ex {
    /// Bits of enum rdma_cm_join_mc_attr_mask.
    pub comp_mask: u32,
    /// A value of enum rdma_cm_mc_join_flags.
    pub join_flags: u32,
    /// Address of the group.
    pub addr: *mut sockaddr,
}

c_enum! { c_int =>
    /// Levels of rdma_set_option().
    pub enum rdma_option_level {
        /// Options of the id.
        RDMA_OPTION_ID = 0,
        /// Options of InfiniBand.
        RDMA_OPTION_IB = 1,
    }
}

c_enum! { c_int =>
    /// Options of level RDMA_OPTION_ID.
    pub enum rdma_option_id {
        /// uint8_t: type of service, as in RFC 2474.
        RDMA_OPTION_ID_TOS = 0,
        /// int: as SO_REUSEADDR of a socket.
        RDMA_OPTION_ID_REUSEADDR = 1,
        /// int: as IPV6_V6ONLY of a socket.
        RDMA_OPTION_ID_AFONLY = 2,
        /// uint8_t: time until a queue pair repeats a send, 4.096 us times 2 to this power.
        RDMA_OPTION_ID_ACK_TIMEOUT = 3,
    }
}

c_enum! { c_int =>
    /// Options of level RDMA_OPTION_IB.
    pub enum rdma_option_ib {
        /// struct ibv_path_data[]: the paths to use, in place of rdma_resolve_route().
        RDMA_OPTION_IB_PATH = 1,
    }
}
