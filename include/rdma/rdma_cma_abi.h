/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is written to and read back from /dev/infiniband/rdma_cm, for programs that talk to the kernel themselves.
 *
 * A command is written as a whole. It begins with struct ucma_abi_cmd_hdr, whose fields each of these structs has in
 * front. Where one has a field response, the kernel writes its answer to that address, at most "out" bytes of it.
 */
#ifndef RDMA_CMA_ABI_H
#define RDMA_CMA_ABI_H

#include <netinet/in.h>
#include <infiniband/sa.h>
#include <rdma/ib_user_sa.h>
#include <rdma/ib_user_verbs.h>

/** The versions of the kernel's interface that a program has to reckon with. */
#define RDMA_USER_CM_MIN_ABI_VERSION 3
#define RDMA_USER_CM_MAX_ABI_VERSION 4

/** Most private data in a command or an event, in bytes. A transport allows less. */
#define RDMA_MAX_PRIVATE_DATA 256

/** Length of a service name in bytes. */
#define UCMA_IB_SERVICE_NAME_SIZE 64

/** Commands: what the field cmd may be. */
enum {
    UCMA_CMD_CREATE_ID = 0,
    UCMA_CMD_DESTROY_ID = 1,
    UCMA_CMD_BIND_IP = 2,
    UCMA_CMD_RESOLVE_IP = 3,
    UCMA_CMD_RESOLVE_ROUTE = 4,
    UCMA_CMD_QUERY_ROUTE = 5,
    UCMA_CMD_CONNECT = 6,
    UCMA_CMD_LISTEN = 7,
    UCMA_CMD_ACCEPT = 8,
    UCMA_CMD_REJECT = 9,
    UCMA_CMD_DISCONNECT = 10,
    UCMA_CMD_INIT_QP_ATTR = 11,
    UCMA_CMD_GET_EVENT = 12,
    UCMA_CMD_GET_OPTION = 13,
    UCMA_CMD_SET_OPTION = 14,
    UCMA_CMD_NOTIFY = 15,
    UCMA_CMD_JOIN_IP_MCAST = 16,
    UCMA_CMD_LEAVE_MCAST = 17,
    UCMA_CMD_MIGRATE_ID = 18,
    UCMA_CMD_QUERY = 19,
    UCMA_CMD_BIND = 20,
    UCMA_CMD_RESOLVE_ADDR = 21,
    UCMA_CMD_JOIN_MCAST = 22,
    UCMA_CMD_RESOLVE_IB_SERVICE = 23,
    UCMA_CMD_WRITE_CM_EVENT = 24,
};

/** What UCMA_CMD_QUERY asks for: the field option. */
enum {
    /** Answered by struct ucma_abi_query_addr_resp. */
    UCMA_QUERY_ADDR = 0,
    /** Answered by struct ucma_abi_query_path_resp. */
    UCMA_QUERY_PATH = 1,
    /** Answered by struct ucma_abi_query_addr_resp with addresses of AF_IB. */
    UCMA_QUERY_GID = 2,
    /** Answered by struct ucma_abi_query_ib_service_resp. */
    UCMA_QUERY_IB_SERVICE = 3,
};

/** Which fields of struct ucma_abi_ib_service are set. */
enum {
    UCMA_IB_SERVICE_FLAG_ID = 1,
    UCMA_IB_SERVICE_FLAG_NAME = 2,
};

/*
 * The fields of struct ucma_abi_cmd_hdr: number of the command, bytes after this header, room for the answer in bytes.
 * They stand in each struct as fields of its own.
 */
#define UCMA_ABI_HEADER                                                                                               \
    __u32 cmd;                                                                                                        \
    __u16 in;                                                                                                         \
    __u16 out

/** The beginning of every command. */
struct ucma_abi_cmd_hdr {
    UCMA_ABI_HEADER;
};

/** UCMA_CMD_CREATE_ID: a new id, whose events will carry uid. */
struct ucma_abi_create_id {
    UCMA_ABI_HEADER;
    __u64 uid;
    __u64 response;
    /** An enum rdma_port_space. */
    __u16 ps;
    /** An enum ibv_qp_type. */
    __u8 qp_type;
    __u8 reserved[5];
};

/** Answer to UCMA_CMD_CREATE_ID, UCMA_CMD_JOIN_IP_MCAST and UCMA_CMD_JOIN_MCAST: the kernel's number for it. */
struct ucma_abi_create_id_resp {
    __u32 id;
};

/** UCMA_CMD_DESTROY_ID and UCMA_CMD_LEAVE_MCAST. */
struct ucma_abi_destroy_id {
    UCMA_ABI_HEADER;
    __u64 response;
    __u32 id;
    __u32 reserved;
};

/** How many events of the id were handed out before it went. */
struct ucma_abi_destroy_id_resp {
    __u32 events_reported;
};

/** UCMA_CMD_BIND_IP, for IPv4 and IPv6. */
struct ucma_abi_bind_ip {
    UCMA_ABI_HEADER;
    __u64 response;
    struct sockaddr_in6 addr;
    __u32 id;
};

/** UCMA_CMD_BIND, for all families. */
struct ucma_abi_bind {
    UCMA_ABI_HEADER;
    __u32 id;
    __u16 addr_size;
    __u16 reserved;
    struct sockaddr_storage addr;
};

/** UCMA_CMD_RESOLVE_IP, for IPv4 and IPv6. */
struct ucma_abi_resolve_ip {
    UCMA_ABI_HEADER;
    struct sockaddr_in6 src_addr;
    struct sockaddr_in6 dst_addr;
    __u32 id;
    __u32 timeout_ms;
};

/** UCMA_CMD_RESOLVE_ADDR, for all families; a src_size of 0 means no source. */
struct ucma_abi_resolve_addr {
    UCMA_ABI_HEADER;
    __u32 id;
    __u32 timeout_ms;
    __u16 src_size;
    __u16 dst_size;
    __u32 reserved;
    struct sockaddr_storage src_addr;
    struct sockaddr_storage dst_addr;
};

/** UCMA_CMD_RESOLVE_ROUTE. */
struct ucma_abi_resolve_route {
    UCMA_ABI_HEADER;
    __u32 id;
    __u32 timeout_ms;
};

/** UCMA_CMD_QUERY, and UCMA_CMD_QUERY_ROUTE, which has no option. */
struct ucma_abi_query {
    UCMA_ABI_HEADER;
    __u64 response;
    __u32 id;
    __u32 option;
};

/** Answer to UCMA_CMD_QUERY_ROUTE. */
struct ucma_abi_query_route_resp {
    __be64 node_guid;
    struct ib_user_path_rec ib_route[2];
    struct sockaddr_in6 src_addr;
    struct sockaddr_in6 dst_addr;
    __u32 num_paths;
    __u8 port_num;
    __u8 reserved[3];
    __u32 ibdev_index;
    __u32 reserved1;
};

/** Answer to UCMA_QUERY_ADDR and UCMA_QUERY_GID. */
struct ucma_abi_query_addr_resp {
    __be64 node_guid;
    __u8 port_num;
    __u8 reserved;
    __be16 pkey;
    __u16 src_size;
    __u16 dst_size;
    struct sockaddr_storage src_addr;
    struct sockaddr_storage dst_addr;
    __u32 ibdev_index;
    __u32 reserved1;
};

/** Answer to UCMA_QUERY_PATH: num_paths paths, as many as there is room for. */
struct ucma_abi_query_path_resp {
    __u32 num_paths;
    __u32 reserved;
    __extension__ struct ibv_path_data path_data[0];
};

/** A connection's parameters, in commands and in events. */
struct ucma_abi_conn_param {
    __u32 qp_num;
    __u32 reserved;
    __u8 private_data[RDMA_MAX_PRIVATE_DATA];
    __u8 private_data_len;
    __u8 srq;
    __u8 responder_resources;
    __u8 initiator_depth;
    __u8 flow_control;
    __u8 retry_count;
    __u8 rnr_retry_count;
    /** Not 0 if the other fields count. */
    __u8 valid;
};

/** How to send datagrams to a peer, in events. */
struct ucma_abi_ud_param {
    __u32 qp_num;
    __u32 qkey;
    struct ib_uverbs_ah_attr ah_attr;
    __u8 private_data[RDMA_MAX_PRIVATE_DATA];
    __u8 private_data_len;
    __u8 reserved[7];
    /* The size is a multiple of 8, for 32-bit programs on a 64-bit kernel. */
    __u8 reserved2[4];
};

/** Options that both ends of a connection agree on, of one vendor. */
struct ucma_abi_ece {
    __u32 vendor_id;
    __u32 attr_mod;
};

/** UCMA_CMD_CONNECT. */
struct ucma_abi_connect {
    UCMA_ABI_HEADER;
    struct ucma_abi_conn_param conn_param;
    __u32 id;
    __u32 reserved;
    struct ucma_abi_ece ece;
};

/** UCMA_CMD_LISTEN. */
struct ucma_abi_listen {
    UCMA_ABI_HEADER;
    __u32 id;
    __u32 backlog;
};

/** UCMA_CMD_ACCEPT; uid is what later events of the id will carry. */
struct ucma_abi_accept {
    UCMA_ABI_HEADER;
    __u64 uid;
    struct ucma_abi_conn_param conn_param;
    __u32 id;
    __u32 reserved;
    struct ucma_abi_ece ece;
};

/** UCMA_CMD_REJECT. */
struct ucma_abi_reject {
    UCMA_ABI_HEADER;
    __u32 id;
    __u8 private_data_len;
    __u8 reason;
    __u8 reserved[2];
    __u8 private_data[RDMA_MAX_PRIVATE_DATA];
};

/** UCMA_CMD_DISCONNECT. */
struct ucma_abi_disconnect {
    UCMA_ABI_HEADER;
    __u32 id;
};

/** UCMA_CMD_INIT_QP_ATTR, answered by struct ib_uverbs_qp_attr; qp_state is an enum ibv_qp_state. */
struct ucma_abi_init_qp_attr {
    UCMA_ABI_HEADER;
    __u64 response;
    __u32 id;
    __u32 qp_state;
};

/** UCMA_CMD_NOTIFY; event is an enum ibv_event_type. */
struct ucma_abi_notify {
    UCMA_ABI_HEADER;
    __u32 id;
    __u32 event;
};

/** UCMA_CMD_JOIN_IP_MCAST, for IPv4 and IPv6, answered by struct ucma_abi_create_id_resp. */
struct ucma_abi_join_ip_mcast {
    UCMA_ABI_HEADER;
    __u64 response;
    __u64 uid;
    struct sockaddr_in6 addr;
    __u32 id;
};

/** UCMA_CMD_JOIN_MCAST, for all families, answered by struct ucma_abi_create_id_resp. */
struct ucma_abi_join_mcast {
    UCMA_ABI_HEADER;
    __u64 response;
    __u64 uid;
    __u32 id;
    __u16 addr_size;
    /** An enum rdma_cm_mc_join_flags. */
    __u16 join_flags;
    struct sockaddr_storage addr;
};

/** UCMA_CMD_GET_EVENT: the next event, or a wait for it. */
struct ucma_abi_get_event {
    UCMA_ABI_HEADER;
    __u64 response;
};

/** An event: the answer to UCMA_CMD_GET_EVENT. */
struct ucma_abi_event_resp {
    __u64 uid;
    __u32 id;
    /** An enum rdma_cm_event_type. */
    __u32 event;
    __u32 status;
    union {
        struct ucma_abi_conn_param conn;
        struct ucma_abi_ud_param ud;
        /** RDMA_CM_EVENT_USER: the argument, in the machine's byte order. */
        __u32 arg32[2];
    } param;
    struct ucma_abi_ece ece;
};

/** UCMA_CMD_SET_OPTION; the value is at the address optval. */
struct ucma_abi_set_option {
    UCMA_ABI_HEADER;
    __u64 optval;
    __u32 id;
    __u32 level;
    __u32 optname;
    __u32 optlen;
};

/** UCMA_CMD_MIGRATE_ID: the id comes here from the device opened as fd. */
struct ucma_abi_migrate_id {
    UCMA_ABI_HEADER;
    __u64 response;
    __u32 id;
    __u32 fd;
};

/** How many events of the id were handed out before it moved. */
struct ucma_abi_migrate_resp {
    __u32 events_reported;
};

/** A service by its identifier, its name, or both. */
struct ucma_abi_ib_service {
    __u64 service_id;
    __u8 service_name[UCMA_IB_SERVICE_NAME_SIZE];
    __u32 flags;
    __u32 reserved;
};

/** UCMA_CMD_RESOLVE_IB_SERVICE. */
struct ucma_abi_resolve_ib_service {
    UCMA_ABI_HEADER;
    __u32 id;
    struct ucma_abi_ib_service ibs;
};

/** A service record of the InfiniBand subnet administrator. */
struct ucma_user_service_rec {
    __be64 id;
    __u8 gid[16];
    __be16 pkey;
    __u8 reserved[2];
    __be32 lease;
    __u8 key[16];
    __u8 name[64];
    __u8 data_8[16];
    __be16 data_16[8];
    __be32 data_32[4];
    __be64 data_64[2];
};

/** Answer to UCMA_QUERY_IB_SERVICE: num_service_recs records, as many as there is room for. */
struct ucma_abi_query_ib_service_resp {
    __u32 num_service_recs;
    __extension__ struct ucma_user_service_rec recs[];
};

/** UCMA_CMD_WRITE_CM_EVENT. */
struct ucma_abi_write_cm_event {
    UCMA_ABI_HEADER;
    __u32 id;
    __u32 reserved;
    __u32 event;
    __u32 status;
    union {
        struct ucma_abi_conn_param conn;
        struct ucma_abi_ud_param ud;
        __u64 arg;
    } param;
};

#undef UCMA_ABI_HEADER

#endif /* RDMA_CMA_ABI_H */
