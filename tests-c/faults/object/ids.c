/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ids.h"

#include "inject.h"

#include <rdma/rdma_user_cm.h>
#include <string.h>

/* Which the kernel's header has no name for; rdma_cma.h cannot be had beside it. */
enum { CONNECT_REQUEST = 4 };

static int ids[FAULTS_FDS];

/* The command of a message, or -1; of its struct as much as there is. */
static int command_of(const void *message, size_t size, void *body, size_t body_size)
{
	struct rdma_ucm_cmd_hdr header;

	if (size < sizeof(header))
		return -1;
	memcpy(&header, message, sizeof(header));
	memset(body, 0, body_size);
	size -= sizeof(header);
	memcpy(body, (const char *)message + sizeof(header), size < body_size ? size : body_size);
	return (int)header.cmd;
}

static int *ids_of(int fd)
{
	static int unknown;

	return fd >= 0 && fd < FAULTS_FDS ? &ids[fd] : &unknown;
}

bool faults_is_end(const void *message, size_t size)
{
	struct rdma_ucm_destroy_id body;
	int command = command_of(message, size, &body, sizeof(body));

	return command == RDMA_USER_CM_CMD_DESTROY_ID || command == RDMA_USER_CM_CMD_LEAVE_MCAST;
}

void faults_count_command(int fd, const void *message, size_t size)
{
	union {
		struct rdma_ucm_get_event get;
		struct rdma_ucm_migrate_id migrate;
	} body;
	const struct rdma_ucm_event_resp *event;

	switch (command_of(message, size, &body, sizeof(body))) {
	case RDMA_USER_CM_CMD_CREATE_ID:
		++*ids_of(fd);
		break;
	case RDMA_USER_CM_CMD_DESTROY_ID:
		--*ids_of(fd);
		break;
	case RDMA_USER_CM_CMD_GET_EVENT:
		event = (const void *)(uintptr_t)body.get.response;
		*ids_of(fd) += event->event == CONNECT_REQUEST;
		break;
	case RDMA_USER_CM_CMD_MIGRATE_ID:
		++*ids_of(fd);
		--*ids_of((int)body.migrate.fd);
		break;
	}
}

void faults_forget_ids(int fd)
{
	*ids_of(fd) = 0;
}

REPLACES int faults_ids(int fd)
{
	return *ids_of(fd);
}
