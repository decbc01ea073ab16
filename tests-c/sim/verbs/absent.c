/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the simulated devices do not have, and what needs nothing done. The real functions would look into the device. */
#include "inside.h"

static void *absent(void)
{
	errno = EOPNOTSUPP;
	return NULL;
}

int ibv_fork_init(void)
{
	return 0;
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
	return IBV_FORK_UNNEEDED;
}

struct ibv_context *ibv_import_device(int fd)
{
	(void)fd;
	return absent();
}

struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t handle)
{
	(void)context;
	(void)handle;
	return absent();
}

struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t handle)
{
	(void)pd;
	(void)handle;
	return absent();
}

struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t handle)
{
	(void)context;
	(void)handle;
	return absent();
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access)
{
	(void)pd;
	(void)offset;
	(void)length;
	(void)iova;
	(void)fd;
	(void)access;
	return absent();
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	(void)qp;
	return absent();
}

/* Younger than some headers. */
__attribute__((visibility("default"))) int ibv_query_port_speed(struct ibv_context *context, uint32_t port, uint64_t *speed);

int ibv_query_port_speed(struct ibv_context *context, uint32_t port, uint64_t *speed)
{
	(void)context;
	(void)port;
	(void)speed;
	return failed(EOPNOTSUPP);
}

int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode opcode, uint32_t flags)
{
	(void)qp;
	(void)opcode;
	(void)flags;
	return 0;
}
