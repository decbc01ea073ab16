/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The machine's own header, and what it lacks if it is older than Linux 6.18: services of the subnet administrator and
 * user events. tests/uapi_layout.rs compares the result with the kernel's young header.
 */
#ifndef SIM_NEWER_RDMA_USER_CM_H
#define SIM_NEWER_RDMA_USER_CM_H

#include_next <rdma/rdma_user_cm.h>

#ifndef RDMA_USER_CM_IB_SERVICE_NAME_SIZE

#define RDMA_USER_CM_CMD_RESOLVE_IB_SERVICE (RDMA_USER_CM_CMD_JOIN_MCAST + 1)
#define RDMA_USER_CM_CMD_WRITE_CM_EVENT (RDMA_USER_CM_CMD_JOIN_MCAST + 2)
#define RDMA_USER_CM_QUERY_IB_SERVICE (RDMA_USER_CM_QUERY_GID + 1)
#define RDMA_USER_CM_IB_SERVICE_FLAG_ID 1
#define RDMA_USER_CM_IB_SERVICE_FLAG_NAME 2
#define RDMA_USER_CM_IB_SERVICE_NAME_SIZE 64

struct ib_user_service_rec {
	__be64 id;
	__u8 gid[16];
	__be16 pkey;
	__u8 reserved[2];
	__be32 lease;
	__u8 key[16];
	__u8 name[RDMA_USER_CM_IB_SERVICE_NAME_SIZE];
	__u8 data_8[16];
	__be16 data_16[8];
	__be32 data_32[4];
	__be64 data_64[2];
};

struct rdma_ucm_query_ib_service_resp {
	__u32 num_service_recs, reserved;
	struct ib_user_service_rec recs[];
};

struct rdma_ucm_ib_service {
	__aligned_u64 service_id;
	__u8 service_name[RDMA_USER_CM_IB_SERVICE_NAME_SIZE];
	__u32 flags, reserved;
};

struct rdma_ucm_resolve_ib_service {
	__u32 id, reserved;
	struct rdma_ucm_ib_service ibs;
};

struct rdma_ucm_write_cm_event {
	__u32 id, reserved, event, status;
	union {
		struct rdma_ucm_conn_param conn;
		struct rdma_ucm_ud_param ud;
		__u64 arg;
	} param;
};

#endif
#endif
