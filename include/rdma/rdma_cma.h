/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Generated from the Rust source by tools/gen-headers.sh; to be changed there. */
#ifndef RDMA_CMA_H
#define RDMA_CMA_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <infiniband/verbs.h>
#include <infiniband/sa.h>

/** The part of an AF_IB service identifier that names the port space: all but the low 16 bits. */
#define RDMA_IB_IP_PS_MASK 18446744073709486080ull

/** The part of an AF_IB service identifier that is the port number: the low 16 bits. */
#define RDMA_IB_IP_PORT_MASK 65535ull

/** RDMA_PS_TCP, shifted by 16 bits, in an AF_IB service identifier. */
#define RDMA_IB_IP_PS_TCP 17170432ull

/** RDMA_PS_UDP, shifted by 16 bits, in an AF_IB service identifier. */
#define RDMA_IB_IP_PS_UDP 17891328ull

/** RDMA_PS_IB, shifted by 16 bits, in an AF_IB service identifier. */
#define RDMA_IB_PS_IB 20905984ull

/** 0x01234567: the queue key of the datagram queue pairs and multicast groups made here. */
#define RDMA_UDP_QKEY 19088743

/** The address will be listened on: a result is a source address, not a destination. */
#define RAI_PASSIVE 1

/** The node name is a numeric address; no name service is asked. */
#define RAI_NUMERICHOST 2

/** Do not look for a route to the destination. */
#define RAI_NOROUTE 4

/** Take the address family of the hints, even where the node name would allow another. */
#define RAI_FAMILY 8

/** Resolve the names by the service records of the InfiniBand subnet administrator. */
#define RAI_SA 16

/** Resolve the names by DNS. Not together with RAI_SA. */
#define RAI_DNS 32

/** The space that port numbers are counted in, which also chooses the kind of service. */
enum rdma_port_space {
    /** 0x0002: datagrams that IP over InfiniBand interfaces understand. */
    RDMA_PS_IPOIB = 2,
    /** 0x0106: reliable connections. */
    RDMA_PS_TCP = 262,
    /** 0x0111: unreliable datagrams and multicast. */
    RDMA_PS_UDP = 273,
    /** 0x013F: InfiniBand's own service identifiers (AF_IB). */
    RDMA_PS_IB = 319,
};

/** What an event reports; rdma_event_str() gives the name. */
enum rdma_cm_event_type {
    /** rdma_resolve_addr() found the device and the address of the destination. */
    RDMA_CM_EVENT_ADDR_RESOLVED = 0,
    /** rdma_resolve_addr() failed. */
    RDMA_CM_EVENT_ADDR_ERROR = 1,
    /** rdma_resolve_route() found a route. */
    RDMA_CM_EVENT_ROUTE_RESOLVED = 2,
    /** rdma_resolve_route() failed. */
    RDMA_CM_EVENT_ROUTE_ERROR = 3,
    /** A peer asks for a connection: the event's id is new, its listen_id is the listener. */
    RDMA_CM_EVENT_CONNECT_REQUEST = 4,
    /** The peer accepted, on an id without a queue pair: the application ends the handshake itself. */
    RDMA_CM_EVENT_CONNECT_RESPONSE = 5,
    /** The connection could not be made, or broke while it was being made. */
    RDMA_CM_EVENT_CONNECT_ERROR = 6,
    /** The peer cannot be reached or did not answer. */
    RDMA_CM_EVENT_UNREACHABLE = 7,
    /** The peer refused; the status is the transport's reason. */
    RDMA_CM_EVENT_REJECTED = 8,
    /** The connection stands. */
    RDMA_CM_EVENT_ESTABLISHED = 9,
    /** The connection ended. */
    RDMA_CM_EVENT_DISCONNECTED = 10,
    /** The device goes away: destroy the id and all that was made on the device. */
    RDMA_CM_EVENT_DEVICE_REMOVAL = 11,
    /** A multicast group was joined; the parameters say how to send to it. */
    RDMA_CM_EVENT_MULTICAST_JOIN = 12,
    /** A multicast group could not be joined, or was lost. */
    RDMA_CM_EVENT_MULTICAST_ERROR = 13,
    /** The network device of the id's address changed its hardware address. */
    RDMA_CM_EVENT_ADDR_CHANGE = 14,
    /** A closed connection left its waiting time: the queue pair may be used again. */
    RDMA_CM_EVENT_TIMEWAIT_EXIT = 15,
    /** rdma_resolve_addrinfo() is done; rdma_query_addrinfo() gives the result. */
    RDMA_CM_EVENT_ADDRINFO_RESOLVED = 16,
    /** rdma_resolve_addrinfo() failed. */
    RDMA_CM_EVENT_ADDRINFO_ERROR = 17,
    /** An event written with rdma_write_cm_event(). */
    RDMA_CM_EVENT_USER = 18,
    /** Used between kernel and library; an application does not see it. */
    RDMA_CM_EVENT_INTERNAL = 19,
};

/** Which fields of struct rdma_cm_join_mc_attr_ex are set. */
enum rdma_cm_join_mc_attr_mask {
    /** The field addr; it has to be set. */
    RDMA_CM_JOIN_MC_ATTR_ADDRESS = 1,
    /** The field join_flags; it has to be set. */
    RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS = 2,
    /** First bit without a meaning. */
    RDMA_CM_JOIN_MC_ATTR_RESERVED = 4,
};

/** How to be a member of a multicast group. */
enum rdma_cm_mc_join_flags {
    /** Send and receive. */
    RDMA_MC_JOIN_FLAG_FULLMEMBER = 0,
    /** Send only; the group exists as long as such a member does. */
    RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER = 1,
    /** First value without a meaning. */
    RDMA_MC_JOIN_FLAG_RESERVED = 2,
};

/** Values of struct rdma_conn_param that stand for the most the device can do. */
enum {
    /** As responder_resources. */
    RDMA_MAX_RESP_RES = 255,
    /** As initiator_depth. */
    RDMA_MAX_INIT_DEPTH = 255,
};

/** Levels of rdma_set_option(). */
enum {
    /** Options of the id. */
    RDMA_OPTION_ID = 0,
    /** Options of InfiniBand. */
    RDMA_OPTION_IB = 1,
};

/** Options of level RDMA_OPTION_ID. */
enum {
    /** uint8_t: type of service, as in RFC 2474. */
    RDMA_OPTION_ID_TOS = 0,
    /** int: as SO_REUSEADDR of a socket. */
    RDMA_OPTION_ID_REUSEADDR = 1,
    /** int: as IPV6_V6ONLY of a socket. */
    RDMA_OPTION_ID_AFONLY = 2,
    /** uint8_t: time until a queue pair repeats a send, 4.096 us times 2 to this power. */
    RDMA_OPTION_ID_ACK_TIMEOUT = 3,
};

/** Options of level RDMA_OPTION_IB. */
enum {
    /** struct ibv_path_data[]: the paths to use, in place of rdma_resolve_route(). */
    RDMA_OPTION_IB_PATH = 1,
};

/** The stream of events of one or more ids. */
struct rdma_event_channel {
    /**
     * Readable (poll, select, epoll) while an event is pending; O_NONBLOCK makes rdma_get_cm_event() not wait.
     */
    int fd;
};

/** Both ends of a path in InfiniBand's own terms. */
struct rdma_ib_addr {
    /** Local GID. */
    union ibv_gid sgid;
    /** Remote GID. */
    union ibv_gid dgid;
    /** Partition key. */
    __be16 pkey;
};

/** The addresses of both ends of an id. */
struct rdma_addr {
    /** Local address. */
    __extension__ union {
        /** Any family. */
        struct sockaddr src_addr;
        /** AF_INET. */
        struct sockaddr_in src_sin;
        /** AF_INET6. */
        struct sockaddr_in6 src_sin6;
        /** Room for every family. */
        struct sockaddr_storage src_storage;
    };
    /** Remote address. */
    __extension__ union {
        /** Any family. */
        struct sockaddr dst_addr;
        /** AF_INET. */
        struct sockaddr_in dst_sin;
        /** AF_INET6. */
        struct sockaddr_in6 dst_sin6;
        /** Room for every family. */
        struct sockaddr_storage dst_storage;
    };
    /** The transport's view. */
    union {
        /** InfiniBand and RoCE. */
        struct rdma_ib_addr ibaddr;
    } addr;
};

/** Where an id is and where it leads. */
struct rdma_route {
    /** Addresses of both ends. */
    struct rdma_addr addr;
    /** num_paths resolved paths, or NULL. */
    struct ibv_sa_path_rec *path_rec;
    /** Number of path_rec. */
    int num_paths;
};

/** Parameters of a connection, given to rdma_connect() and rdma_accept() and reported by events. */
struct rdma_conn_param {
    /** Data for the peer, sent with the request or the answer, or NULL. */
    const void *private_data;
    /** Length of private_data in bytes. In an event it may count padding of the transport. */
    uint8_t private_data_len;
    /** Most RDMA reads and atomics that the peer may have outstanding here. */
    uint8_t responder_resources;
    /** Most RDMA reads and atomics that this side will have outstanding at the peer. */
    uint8_t initiator_depth;
    /** Not 0 if hardware flow control is there. */
    uint8_t flow_control;
    /** Times that a send without an answer is repeated, 0 to 7. Not used when accepting. */
    uint8_t retry_count;
    /** Times that a send is repeated while the peer has no receive posted, 0 to 7; 7 is without end. */
    uint8_t rnr_retry_count;
    /** Not 0 if the queue pair has a shared receive queue. Not used if the id has a queue pair. */
    uint8_t srq;
    /** Number of the queue pair. Not used if the id has a queue pair. */
    uint32_t qp_num;
};

/** How to reach a datagram service or a multicast group, as events report it. */
struct rdma_ud_param {
    /** Data of the peer, or NULL. */
    const void *private_data;
    /** Length of private_data in bytes. It may count padding of the transport. */
    uint8_t private_data_len;
    /** For ibv_create_ah(). */
    struct ibv_ah_attr ah_attr;
    /** Queue pair to send to. */
    uint32_t qp_num;
    /** Queue key to send with. */
    uint32_t qkey;
};

/** An event, from rdma_get_cm_event() until rdma_ack_cm_event(). */
struct rdma_cm_event {
    /** The id it is about. For RDMA_CM_EVENT_CONNECT_REQUEST a new one. */
    struct rdma_cm_id *id;
    /** For RDMA_CM_EVENT_CONNECT_REQUEST the listener, else NULL. */
    struct rdma_cm_id *listen_id;
    /** What happened. */
    enum rdma_cm_event_type event;
    /** 0, a negative errno, or the transport's reason of a refusal. */
    int status;
    /** What depends on the kind of event. */
    union {
        /** Events of a connection. */
        struct rdma_conn_param conn;
        /** Events of datagrams and multicast. */
        struct rdma_ud_param ud;
        /** RDMA_CM_EVENT_USER: the argument given to rdma_write_cm_event(). */
        uint64_t arg;
    } param;
};

/** One end of a connection, a listener, or a datagram endpoint: RDMA's counterpart of a socket. */
struct rdma_cm_id {
    /** The device the id is bound to, or NULL. */
    struct ibv_context *verbs;
    /** Where the id's events arrive. */
    struct rdma_event_channel *channel;
    /** The application's own pointer; the library does not look at it. */
    void *context;
    /** The queue pair made by rdma_create_qp(), or NULL. */
    struct ibv_qp *qp;
    /** Addresses and paths. */
    struct rdma_route route;
    /** Port space. */
    enum rdma_port_space ps;
    /** Port of the device, counted from 1; 0 while the id is not bound to a device. */
    uint8_t port_num;
    /** The last event of an id with synchronous operations, or NULL. */
    struct rdma_cm_event *event;
    /** Completion channel of the send queue, or NULL. */
    struct ibv_comp_channel *send_cq_channel;
    /** Completion queue of the send queue, or NULL. */
    struct ibv_cq *send_cq;
    /** Completion channel of the receive queue, or NULL. */
    struct ibv_comp_channel *recv_cq_channel;
    /** Completion queue of the receive queue, or NULL. */
    struct ibv_cq *recv_cq;
    /** The shared receive queue made by rdma_create_srq(), or NULL. */
    struct ibv_srq *srq;
    /** Protection domain, or NULL. */
    struct ibv_pd *pd;
    /** Kind of queue pair. */
    enum ibv_qp_type qp_type;
};

/**
 * One address, with what is needed to connect to it or to listen on it. Results form a list, to be freed as a
 * whole with rdma_freeaddrinfo().
 */
struct rdma_addrinfo {
    /** RAI_ flags, combined with "or". */
    int ai_flags;
    /** Address family: AF_INET, AF_INET6 or AF_IB. */
    int ai_family;
    /** Kind of queue pair, an enum ibv_qp_type. */
    int ai_qp_type;
    /** Port space, an enum rdma_port_space. */
    int ai_port_space;
    /** Length of ai_src_addr in bytes. */
    socklen_t ai_src_len;
    /** Length of ai_dst_addr in bytes. */
    socklen_t ai_dst_len;
    /** Local address, or NULL. */
    struct sockaddr *ai_src_addr;
    /** Remote address, or NULL. */
    struct sockaddr *ai_dst_addr;
    /** Canonical name of the local host, or NULL. */
    char *ai_src_canonname;
    /** Canonical name of the remote host, or NULL. */
    char *ai_dst_canonname;
    /** Length of ai_route in bytes. */
    size_t ai_route_len;
    /** Routing data, an array of struct ibv_path_data on InfiniBand, or NULL. */
    void *ai_route;
    /** Length of ai_connect in bytes. */
    size_t ai_connect_len;
    /** Data to be sent at the head of a connection's private data, or NULL. */
    void *ai_connect;
    /** Next address of the list, or NULL. */
    struct rdma_addrinfo *ai_next;
};

/** Parameters of rdma_join_multicast_ex(). */
struct rdma_cm_join_mc_attr_ex {
    /** Bits of enum rdma_cm_join_mc_attr_mask. */
    uint32_t comp_mask;
    /** A value of enum rdma_cm_mc_join_flags. */
    uint32_t join_flags;
    /** Address of the group. */
    struct sockaddr *addr;
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Binds an id to a local address. If it belongs to an RDMA device, the id is bound to the device too: id->verbs,
 * id->pd and id->port_num are set.
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL, for an address of an unknown family and for an id that is bound already,
 * EADDRNOTAVAIL for an address that is not local, EADDRINUSE for a port that is taken, ENODEV if the device cannot be
 * opened.
 */
int rdma_bind_addr(struct rdma_cm_id *id,
                   struct sockaddr *addr);

/**
 * Finds the device and the hardware address towards a destination, within a time in milliseconds. The source, if it
 * is not NULL, is bound to first.
 *
 * The result is RDMA_CM_EVENT_ADDR_RESOLVED or RDMA_CM_EVENT_ADDR_ERROR.
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL in id or dst_addr, for an address of an unknown family, and for an id in
 * another state; what the kernel says, such as ENETUNREACH or ENODEV. On an id with a channel of its own also what
 * the event tells, such as ETIMEDOUT.
 */
int rdma_resolve_addr(struct rdma_cm_id *id,
                      struct sockaddr *src_addr,
                      struct sockaddr *dst_addr,
                      int timeout_ms);

/**
 * Finds the path to the resolved destination, within a time in milliseconds.
 *
 * The result is RDMA_CM_EVENT_ROUTE_RESOLVED or RDMA_CM_EVENT_ROUTE_ERROR.
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL, for an id that is not bound to a device, and for one in another state. On an
 * id with a channel of its own also what the event tells, such as ETIMEDOUT.
 */
int rdma_resolve_route(struct rdma_cm_id *id,
                       int timeout_ms);

/**
 * Finds the addresses of a node, a service (a port) or both, and stores a list of them at res, to be freed with
 * rdma_freeaddrinfo(). Each address stands in it once; the first is the one to prefer.
 *
 * hints, which may be NULL, choose: its flags, address family, kind of queue pair and port space. Its source address,
 * if there is one, becomes that of each result that has none. Without node and service the result is one entry, of the
 * addresses in hints. A route to the destination, where InfiniBand's path service ibacm runs and knows one, is in
 * ai_route of the first entry; then there is an entry with the same as AF_IB addresses as well, which is the last one,
 * or the first if hints ask for that family with RAI_FAMILY.
 *
 * Errors:
 *
 * 0, or an EAI_ value of getaddrinfo(3) for what that function says, or -1; with errno in each case: ENOENT for an
 * unknown node, EAGAIN for one that cannot be found out now, EINVAL for arguments that do not fit and for NULL in res,
 * EOPNOTSUPP for RAI_SA with a node or with RAI_DNS, ENODEV without an RDMA device, ENOMEM. Then NULL is stored at
 * res.
 */
int rdma_getaddrinfo(const char *node,
                     const char *service,
                     const struct rdma_addrinfo *hints,
                     struct rdma_addrinfo **res);

/**
 * Finds addresses as rdma_getaddrinfo() does, before it returns, and reports them by RDMA_CM_EVENT_ADDRINFO_RESOLVED:
 * rdma_query_addrinfo() gives the list. With RAI_SA in hints, and no node, it looks for a service on the InfiniBand port that the id is
 * bound to, by number or name, without waiting: the event may be RDMA_CM_EVENT_ADDRINFO_ERROR.
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL in id and for arguments that do not fit, EBUSY before the last list was taken,
 * ENOENT for an unknown node, EAGAIN for one that cannot be found out now, EOPNOTSUPP for RAI_SA with a node or with
 * RAI_DNS and for a kernel that cannot look for services, ENOMEM. On an id with a channel of its own also what the
 * event tells.
 */
int rdma_resolve_addrinfo(struct rdma_cm_id *id,
                          const char *node,
                          const char *service,
                          const struct rdma_addrinfo *hints);

/**
 * Stores the list that rdma_resolve_addrinfo() found at info, to be freed with rdma_freeaddrinfo(). Each list can be
 * taken once.
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL, ENOENT if there is no list, ENOMEM.
 */
int rdma_query_addrinfo(struct rdma_cm_id *id,
                        struct rdma_addrinfo **info);

/** Frees a list of rdma_getaddrinfo() or rdma_query_addrinfo(). NULL is ignored. */
void rdma_freeaddrinfo(struct rdma_addrinfo *res);

/**
 * Opens an event channel.
 *
 * Its descriptor can be polled and made non-blocking. It is closed in programs that this one executes.
 *
 * Errors:
 *
 * NULL and errno: ENODEV without an RDMA device, ENOENT without the device node, EACCES without permission to it,
 * EMFILE or ENFILE without descriptors, ENOMEM.
 */
struct rdma_event_channel *rdma_create_event_channel(void);

/**
 * Closes an event channel. Destroy or migrate its ids before.
 *
 * Threads that wait in rdma_get_cm_event() on it do so no more when this returns, and return -1 with ECANCELED within
 * 100 ms. NULL is ignored.
 */
void rdma_destroy_event_channel(struct rdma_event_channel *channel);

/**
 * Waits for connection requests on a bound id from now on; each comes as RDMA_CM_EVENT_CONNECT_REQUEST with a new id.
 * The backlog is the number of requests that the kernel holds, 0 for the most it allows.
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL and for an id in another state, EADDRINUSE for a port that is taken.
 */
int rdma_listen(struct rdma_cm_id *id,
                int backlog);

/**
 * Asks the destination, whose route is resolved, for a connection; on an id for datagrams, for the way to its
 * service. NULL for conn_param stands for the most that the device can do.
 *
 * The result is RDMA_CM_EVENT_ESTABLISHED, or RDMA_CM_EVENT_CONNECT_RESPONSE on an id without queue pair; or
 * RDMA_CM_EVENT_REJECTED, RDMA_CM_EVENT_UNREACHABLE or RDMA_CM_EVENT_CONNECT_ERROR.
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL in id, for an id without device or in another state, for NULL in conn_param
 * without queue pair, for more than the device can do, and for more private data than the message has room for: 255
 * bytes here, 56 in a request by IP address and 180 in one for datagrams. On an id with a channel of its own also
 * ECONNREFUSED if the peer refuses, ECONNRESET if it is gone at once, ETIMEDOUT if it does not answer.
 */
int rdma_connect(struct rdma_cm_id *id,
                 struct rdma_conn_param *conn_param);

/**
 * Accepts a connection request: the id is that of its event. NULL for conn_param stands for what the peer asks, as far
 * as the device can do it.
 *
 * The result is RDMA_CM_EVENT_ESTABLISHED, or another if the peer is gone; for datagrams none follows.
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL in id, for an id that no request made, for NULL in conn_param without queue pair,
 * for more than the device can do, and for more private data than the message has room for: 255 bytes here, 196 in a
 * reply and 136 in one for datagrams. On an id with a channel of its own also ECONNRESET if the peer is gone.
 */
int rdma_accept(struct rdma_cm_id *id,
                struct rdma_conn_param *conn_param);

/**
 * Refuses a connection request, and sends data with the refusal, up to 148 bytes. The peer sees
 * RDMA_CM_EVENT_REJECTED with status 28 (consumer defined). The id is to be destroyed afterwards.
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL in id, for an id that no request made and for too much data.
 */
int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len);

/**
 * As rdma_reject(), because what the peer's device wants cannot be had: the peer sees status 35 (vendor option not
 * supported).
 *
 * Errors:
 *
 * As rdma_reject().
 */
int rdma_reject_ece(struct rdma_cm_id *id,
                    const void *private_data,
                    uint8_t private_data_len);

/**
 * Ends the handshake after RDMA_CM_EVENT_CONNECT_RESPONSE, for an id whose queue pair the application made and moved
 * itself.
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL, for an id with a queue pair of its own and for one in another state.
 */
int rdma_establish(struct rdma_cm_id *id);

/**
 * Ends a connection. The id's queue pair fails what is posted, and the peer is told. Both sides get
 * RDMA_CM_EVENT_DISCONNECTED, and later perhaps RDMA_CM_EVENT_TIMEWAIT_EXIT.
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL and for an id that is not connected, any more or yet.
 */
int rdma_disconnect(struct rdma_cm_id *id);

/**
 * Tells the kernel of an asynchronous event of the id's queue pair: IBV_EVENT_COMM_EST stands for the peer's
 * confirmation, which may be late or lost.
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL; what the kernel says.
 */
int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event);

/**
 * Says what to tell the peer's device (enhanced connection establishment), for a queue pair that the application makes
 * itself. To be called before rdma_connect() or rdma_accept().
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL, for an id with a queue pair, for vendor 0 and for bits in comp_mask.
 */
int rdma_set_local_ece(struct rdma_cm_id *id,
                       struct ibv_ece *ece);

/**
 * What the peer's device has told (enhanced connection establishment); zeros if nothing.
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL and for an id with a queue pair.
 */
int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece);

/**
 * Opens all RDMA devices and returns an array of them that ends with NULL. Their number is stored at num_devices
 * unless that is NULL. A context is valid until the array is freed and no id uses the device.
 *
 * Errors:
 *
 * NULL and errno: ENODEV without an RDMA device, ENOMEM.
 */
struct ibv_context **rdma_get_devices(int *num_devices);

/** Frees an array of rdma_get_devices(). NULL is ignored. */
void rdma_free_devices(struct ibv_context **list);

/**
 * Makes an id with a channel of its own from an address of rdma_getaddrinfo(). With RAI_PASSIVE it is bound, ready for
 * rdma_listen(); else its address and route are resolved, ready for rdma_connect(). With attributes it gets a queue
 * pair, or, with RAI_PASSIVE, each id of rdma_get_request() does. NULL for pd stands for the device's own.
 *
 * Resolving the address and the route may take 2000 ms each, or what the environment variable
 * RDMACM_RESOLVE_TIMEOUT_MS says.
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL in id or res; those of rdma_create_id(), rdma_bind_addr(), rdma_resolve_addr(),
 * rdma_resolve_route() and rdma_create_qp().
 */
int rdma_create_ep(struct rdma_cm_id **id,
                   struct rdma_addrinfo *res,
                   struct ibv_pd *pd,
                   struct ibv_qp_init_attr *qp_init_attr);

/** Ends an id, with its queue pair and its shared receive queue. NULL is ignored. */
void rdma_destroy_ep(struct rdma_cm_id *id);

/**
 * Waits for the next connection request of a listener that has a channel of its own. *id is the new id, which has one
 * too; its event is in (*id)->event until the next call on it.
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL and for a listener on a channel of the application, EINTR if a signal ended the
 * wait. A request that cannot be had is refused, and errno says why, such as EMFILE or ENOMEM: the next call waits for
 * the next one.
 */
int rdma_get_request(struct rdma_cm_id *listen,
                     struct rdma_cm_id **id);

/**
 * Takes the next event of a channel, and waits for one unless the channel's descriptor is non-blocking. Give it back
 * with rdma_ack_cm_event(), from whichever thread.
 *
 * Errors:
 *
 * 0, or -1 and errno, with NULL in *event: EINVAL for NULL, EAGAIN if there is no event on a non-blocking channel,
 * EINTR if a signal ended the wait, ECANCELED if the channel was destroyed, ENOMEM.
 */
int rdma_get_cm_event(struct rdma_event_channel *channel,
                      struct rdma_cm_event **event);

/**
 * Gives an event back. Its memory, the private data in it included, is not valid any more.
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL.
 */
int rdma_ack_cm_event(struct rdma_cm_event *event);

/** The name of a kind of event; "UNKNOWN EVENT" for a value that is none. The string is not to be freed. */
const char *rdma_event_str(enum rdma_cm_event_type event);

/**
 * Puts an event of the application's own into the channel that an id is on, so that a thread waiting there wakes.
 *
 * The receiver sees RDMA_CM_EVENT_USER, the id, the status in event->status and the argument in event->param.arg, in
 * the order in which events were written. It counts for rdma_destroy_id() like every other event.
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL and for an event other than RDMA_CM_EVENT_USER; what the kernel says, such as
 * ENOMEM.
 */
int rdma_write_cm_event(struct rdma_cm_id *id,
                        enum rdma_cm_event_type event,
                        int status,
                        uint64_t arg);

/**
 * Makes an id.
 *
 * Its events arrive on the channel. With NULL for the channel the id gets one of its own, and calls on it wait for
 * their result.
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL in id and for an unknown port space, ENOMEM; without a channel also those of
 * rdma_create_event_channel().
 */
int rdma_create_id(struct rdma_event_channel *channel,
                   struct rdma_cm_id **id,
                   void *context,
                   enum rdma_port_space ps);

/**
 * Ends an id. Events of it that were not taken from the channel are gone.
 *
 * This waits until other threads have acknowledged the events of the id that they hold. An event that the calling
 * thread holds itself is no obstacle: it stays valid until it is acknowledged.
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL. If the kernel has forgotten the id (EBADF, ENOENT, ENODEV) or the process is
 * a child of the one that made it (EACCES), the id is freed all the same.
 */
int rdma_destroy_id(struct rdma_cm_id *id);

/**
 * Moves an id to another event channel, with its events that were not taken yet.
 *
 * This waits until other threads have acknowledged the events of the id that they hold; afterwards none comes from
 * the old channel. With NULL for the channel the id gets one of its own, and calls on it wait for their result.
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL in id, and for NULL in channel if the id already has a channel of its own.
 */
int rdma_migrate_id(struct rdma_cm_id *id,
                    struct rdma_event_channel *channel);

/** The local port number of an id, in network byte order; 0 if it has none. */
__be16 rdma_get_src_port(struct rdma_cm_id *id);

/** The remote port number of an id, in network byte order; 0 if it has none. */
__be16 rdma_get_dst_port(struct rdma_cm_id *id);

/**
 * Joins a multicast group as a full member. The queue pair of the id, if it has one, receives from the group.
 *
 * The result is RDMA_CM_EVENT_MULTICAST_JOIN or RDMA_CM_EVENT_MULTICAST_ERROR; either has the context in
 * event->param.ud.private_data.
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL in id or addr, for an address of an unknown family, and for an id without device.
 * On an id with a channel of its own also what the event tells.
 */
int rdma_join_multicast(struct rdma_cm_id *id,
                        struct sockaddr *addr,
                        void *context);

/**
 * As rdma_join_multicast(), with the kind of membership. Both fields of the attributes have to be set.
 *
 * Errors:
 *
 * As rdma_join_multicast(); EINVAL for an unknown kind, EOPNOTSUPP for unknown bits in comp_mask and for a kind that the
 * kernel does not know.
 */
int rdma_join_multicast_ex(struct rdma_cm_id *id,
                           struct rdma_cm_join_mc_attr_ex *mc_join_attr,
                           void *context);

/**
 * Leaves a multicast group. Waits until other threads have acknowledged the events of the membership that they hold.
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL and for an address of an unknown family, EADDRNOTAVAIL for a group that the id is
 * not in.
 */
int rdma_leave_multicast(struct rdma_cm_id *id,
                         struct sockaddr *addr);

/**
 * Sets an option of an id: a value of enum rdma_option_level, an option of that level, and the value with its length
 * in bytes.
 *
 * An option of RDMA_OPTION_ID is to be set before it matters: RDMA_OPTION_ID_REUSEADDR and RDMA_OPTION_ID_AFONLY before
 * the id is bound, the others before it connects or accepts. RDMA_OPTION_IB_PATH is followed by
 * RDMA_CM_EVENT_ROUTE_RESOLVED.
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL, for a value of a wrong length or out of its range, and for an id in another
 * state; ENOSYS for an unknown level or option.
 */
int rdma_set_option(struct rdma_cm_id *id,
                    int level,
                    int optname,
                    void *optval,
                    size_t optlen);

/**
 * Makes the queue pair of an id that is bound to a device, in id->qp, and brings it into the state that the connection
 * needs. NULL for pd stands for the protection domain of the id. Completion queues that the attributes lack are made
 * too, with channels: id->send_cq, id->recv_cq, id->send_cq_channel, id->recv_cq_channel. Of the attributes only the
 * sizes are changed, to what the device gives.
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL in id or attributes, for an id without device or with a queue pair, for a
 * protection domain of another device, for other completion queues than the id's, and for no size at all; what
 * libibverbs says, such as ENOMEM for more than the device can do.
 */
int rdma_create_qp(struct rdma_cm_id *id,
                   struct ibv_pd *pd,
                   struct ibv_qp_init_attr *qp_init_attr);

/**
 * As rdma_create_qp(), with the attributes of ibv_create_qp_ex().
 *
 * Errors:
 *
 * As rdma_create_qp(); EOPNOTSUPP for what the device does not have.
 */
int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *qp_init_attr);

/**
 * Destroys the queue pair of an id, and the completion queues that the library made for it. Nothing happens without one.
 */
void rdma_destroy_qp(struct rdma_cm_id *id);

/**
 * Tells how a queue pair is to be set for the state in qp_attr->qp_state: fills *qp_attr, and *qp_attr_mask with the
 * IBV_QP_ bits of what counts. For queue pairs that the application makes itself.
 *
 * Errors:
 *
 * 0, or -1 and errno: EINVAL for NULL and for a state that the id cannot be in yet.
 */
int rdma_init_qp_attr(struct rdma_cm_id *id,
                      struct ibv_qp_attr *qp_attr,
                      int *qp_attr_mask);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/** The local address of an id; valid as long as the id. */
static inline struct sockaddr *rdma_get_local_addr(struct rdma_cm_id *id)
{
    return &id->route.addr.src_addr;
}

/** The address of the id's peer; valid as long as the id. */
static inline struct sockaddr *rdma_get_peer_addr(struct rdma_cm_id *id)
{
    return &id->route.addr.dst_addr;
}

#endif /* RDMA_CMA_H */
