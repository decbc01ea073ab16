/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the stand-in for libibverbs and the kernel process say to each other. Structs of verbs.h that hold no pointers go
 * as they are. A context is named by its number, which is like a descriptor: a forked child may use it. Objects are
 * named by their context and their handle.
 */
#ifndef SIM_VERBS_PROTOCOL_H
#define SIM_VERBS_PROTOCOL_H

#include <infiniband/verbs.h>
#include <stdint.h>

enum {
	VERBS_DEVICES = 0x100,	/* out: verbs_device[]; returns how many there are */
	VERBS_OPEN,		/* in: index of the device; out: verbs_opened; descriptor of asynchronous events */
	VERBS_CLOSE,		/* in: verbs_name */
	VERBS_QUERY_DEVICE,	/* in: verbs_name; out: ibv_device_attr */
	VERBS_QUERY_PORT,	/* in: verbs_place; out: ibv_port_attr */
	VERBS_QUERY_GID,	/* in: verbs_place; out: verbs_gid */
	VERBS_QUERY_PKEY,	/* in: verbs_place; out: uint16_t, big endian */
	VERBS_HANDLES,		/* in: verbs_kind; out: uint32_t[]; returns how many were written */
	VERBS_DESTROY,		/* in: verbs_name; out: verbs_reported */
	VERBS_CREATE_PD,	/* in: verbs_name, handle unused; out: handle. So do the others out: handle */
	VERBS_CREATE_XRCD,	/* in: verbs_new_xrcd */
	VERBS_CREATE_MR,	/* in: verbs_new_mr; out: verbs_made_mr */
	VERBS_CHANGE_MR,	/* in: verbs_changed_mr */
	VERBS_CREATE_AH,	/* in: verbs_new_ah */
	VERBS_CREATE_CHANNEL,	/* in: verbs_name, handle unused; descriptor of completion events */
	VERBS_CREATE_CQ,	/* in: verbs_new_cq; descriptor of the memory of verbs_ring */
	VERBS_RESIZE_CQ,	/* in: verbs_resized_cq; as VERBS_CREATE_CQ */
	VERBS_ARM_CQ,		/* in: verbs_armed_cq */
	VERBS_CREATE_SRQ,	/* in: verbs_new_srq; out: verbs_made_srq */
	VERBS_MODIFY_SRQ,	/* in: verbs_changed_srq */
	VERBS_QUERY_SRQ,	/* in: verbs_name; out: ibv_srq_attr */
	VERBS_CREATE_QP,	/* in: verbs_new_qp; out: verbs_made_qp */
	VERBS_MODIFY_QP,	/* in: verbs_changed_qp */
	VERBS_QUERY_QP,		/* in: verbs_name; out: verbs_queried_qp */
	VERBS_SET_ECE,		/* in: verbs_ece */
	VERBS_QUERY_ECE,	/* in: verbs_name; out: ibv_ece */
	VERBS_ATTACH,		/* in: verbs_group */
	VERBS_DETACH,		/* in: verbs_group */
	VERBS_POST_SEND,	/* in: verbs_send, with verbs_send.sges ibv_sge or verbs_send.bytes bytes behind it */
	VERBS_POST_RECV,	/* in: verbs_recv, with its ibv_sge behind it; to a queue pair or a shared queue */
	VERBS_GET_EVENT,	/* in: verbs_name, of a channel; out: verbs_event. EAGAIN if there is none */
	VERBS_OPS_END,
};

enum {
	VERBS_MAX_SGE = 32,
	VERBS_MAX_INLINE = 1024,
};

struct verbs_device {
	char name[IBV_SYSFS_NAME_MAX];
	uint32_t index;		/* as in ibv_get_device_index() */
	uint32_t number;	/* of its node */
	uint64_t guid;		/* big endian */
	int32_t node_type;
	int32_t transport;
};

struct verbs_opened {
	uint32_t context;
	uint32_t completion_vectors;
};

/* The handle of a context's channel of asynchronous events. */
#define VERBS_ASYNC_EVENTS UINT32_MAX
/* No object. */
#define VERBS_NONE UINT32_MAX

struct verbs_name {
	uint32_t context;
	uint32_t handle;
};

struct verbs_place {
	uint32_t context;
	uint32_t port;
	uint32_t index;
};

struct verbs_gid {
	union ibv_gid gid;
	uint32_t type;		/* enum ibv_gid_type */
	uint32_t interface;
};

struct verbs_kind {
	uint32_t context;
	uint32_t kind;		/* enum uverbs_default_objects */
};

/* How many events of an object its process has been given. */
struct verbs_reported {
	uint32_t completion;
	uint32_t async;
};

/* With inode 0: a domain of its own. */
struct verbs_new_xrcd {
	uint32_t context;
	int32_t flags;		/* of open(2) */
	uint64_t device;
	uint64_t inode;
};

struct verbs_new_mr {
	uint32_t context;
	uint32_t pd;
	uint64_t address;
	uint64_t length;
	uint64_t iova;
	uint32_t access;
	uint32_t reserved;
};

struct verbs_made_mr {
	uint32_t handle;
	uint32_t key;		/* the local one and the remote one */
};

struct verbs_changed_mr {
	struct verbs_new_mr now;
	uint32_t handle;
	uint32_t flags;		/* enum ibv_rereg_mr_flags */
};

struct verbs_new_ah {
	uint32_t context;
	uint32_t pd;
	struct ibv_ah_attr attr;
};

struct verbs_new_cq {
	uint32_t context;
	uint32_t channel;	/* or VERBS_NONE */
	uint32_t size;
	uint32_t vector;
	uint64_t cookie;	/* what events of it say */
};

struct verbs_resized_cq {
	struct verbs_name cq;
	uint32_t size;
};

struct verbs_armed_cq {
	struct verbs_name cq;
	uint32_t solicited_only;
};

/*
 * Completions lie in memory that both sides map. The kernel process writes entries and `written`; the program reads them
 * and counts in `read`. Positions grow for ever; an entry's place is its position modulo `size`.
 */
struct verbs_ring {
	uint32_t size;
	uint32_t written;
	uint32_t read;
	uint32_t reserved;
	struct ibv_wc entries[];
};

struct verbs_new_srq {
	uint32_t context;
	uint32_t pd;
	uint32_t xrcd;		/* or VERBS_NONE, as the queue, if it is a basic one */
	uint32_t cq;
	uint32_t type;		/* enum ibv_srq_type */
	struct ibv_srq_attr attr;
	uint64_t cookie;
};

struct verbs_made_srq {
	uint32_t handle;
	uint32_t number;
	struct ibv_srq_attr attr;
};

struct verbs_changed_srq {
	struct verbs_name srq;
	struct ibv_srq_attr attr;
	uint32_t mask;
};

/* Objects that a queue pair of its type does not have are VERBS_NONE. */
struct verbs_new_qp {
	uint32_t context;
	uint32_t pd;
	uint32_t xrcd;
	uint32_t send_cq;
	uint32_t recv_cq;
	uint32_t srq;
	uint32_t type;		/* enum ibv_qp_type */
	uint32_t signal_all;
	struct ibv_qp_cap cap;
	uint64_t cookie;
};

struct verbs_made_qp {
	uint32_t handle;
	uint32_t number;
	struct ibv_qp_cap cap;
};

struct verbs_changed_qp {
	struct verbs_name qp;
	uint32_t mask;
	struct ibv_qp_attr attr;
};

struct verbs_queried_qp {
	struct ibv_qp_attr attr;
	struct ibv_qp_cap cap;
	uint32_t signal_all;
};

struct verbs_ece {
	struct verbs_name qp;
	struct ibv_ece ece;
};

struct verbs_group {
	struct verbs_name qp;
	union ibv_gid gid;
	uint32_t lid;
};

struct verbs_send {
	struct verbs_name qp;
	uint64_t id;
	uint32_t opcode;	/* enum ibv_wr_opcode */
	uint32_t flags;		/* enum ibv_send_flags */
	uint32_t immediate;
	uint32_t sges;
	uint32_t bytes;		/* of data that goes along, with IBV_SEND_INLINE */
	uint32_t key;
	uint64_t address;
	uint64_t compare_add;
	uint64_t swap;
	uint32_t ah;
	uint32_t remote_qpn;
	uint32_t remote_qkey;
	uint32_t remote_srqn;
};

struct verbs_recv {
	struct verbs_name queue;
	uint64_t id;
	uint32_t sges;
	uint32_t reserved;
};

struct verbs_event {
	uint64_t cookie;	/* of the object, or the number of the port */
	uint32_t type;		/* enum ibv_event_type, of an asynchronous event */
	uint32_t reserved;
};

#endif
