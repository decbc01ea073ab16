/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is written to the connection manager's node: a header, and a command. */
#include "cm_command.h"

#include "cm.h"
#include "faults.h"
#include "memory.h"

#include <errno.h>
#include <string.h>

enum { COMMAND_MAX = 4096 };

struct command {
	const char *name;
	cm_command *run;
	size_t size;
	size_t room;	/* that the user must have for the answer */
};

#define COMMAND(number, function, in, out) \
	[RDMA_USER_CM_CMD_##number] = { #number, function, sizeof(struct in), out }

static const struct command commands[] = {
	COMMAND(CREATE_ID, cm_create_id, rdma_ucm_create_id, sizeof(struct rdma_ucm_create_id_resp)),
	COMMAND(DESTROY_ID, cm_destroy_id, rdma_ucm_destroy_id, sizeof(struct rdma_ucm_destroy_id_resp)),
	COMMAND(BIND_IP, cm_bind_ip, rdma_ucm_bind_ip, 0),
	COMMAND(RESOLVE_IP, cm_resolve_ip, rdma_ucm_resolve_ip, 0),
	COMMAND(RESOLVE_ROUTE, cm_resolve_route, rdma_ucm_resolve_route, 0),
	COMMAND(QUERY_ROUTE, cm_query_route, rdma_ucm_query,
		offsetof(struct rdma_ucm_query_route_resp, ibdev_index)),
	COMMAND(CONNECT, cm_connect, rdma_ucm_connect, 0),
	COMMAND(LISTEN, cm_listen, rdma_ucm_listen, 0),
	COMMAND(ACCEPT, cm_accept, rdma_ucm_accept, 0),
	COMMAND(REJECT, cm_reject, rdma_ucm_reject, 0),
	COMMAND(DISCONNECT, cm_disconnect, rdma_ucm_disconnect, 0),
	COMMAND(INIT_QP_ATTR, cm_init_qp_attr, rdma_ucm_init_qp_attr, sizeof(struct ib_uverbs_qp_attr)),
	COMMAND(GET_EVENT, cm_get_event, rdma_ucm_get_event, 0),
	COMMAND(SET_OPTION, cm_set_option, rdma_ucm_set_option, 0),
	COMMAND(NOTIFY, cm_notify, rdma_ucm_notify, 0),
	COMMAND(JOIN_IP_MCAST, cm_join_ip_multicast, rdma_ucm_join_ip_mcast, sizeof(struct rdma_ucm_create_id_resp)),
	COMMAND(LEAVE_MCAST, cm_leave_multicast, rdma_ucm_destroy_id, sizeof(struct rdma_ucm_destroy_id_resp)),
	COMMAND(MIGRATE_ID, cm_migrate_id, rdma_ucm_migrate_id, sizeof(struct rdma_ucm_migrate_resp)),
	COMMAND(QUERY, cm_query, rdma_ucm_query, 0),
	COMMAND(BIND, cm_bind, rdma_ucm_bind, 0),
	COMMAND(RESOLVE_ADDR, cm_resolve_addr, rdma_ucm_resolve_addr, 0),
	COMMAND(JOIN_MCAST, cm_join_multicast, rdma_ucm_join_mcast, sizeof(struct rdma_ucm_create_id_resp)),
	COMMAND(RESOLVE_IB_SERVICE, cm_resolve_ib_service, rdma_ucm_resolve_ib_service, 0),
	COMMAND(WRITE_CM_EVENT, cm_write_event, rdma_ucm_write_cm_event, 0),
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

int cm_command_number(const char *name)
{
	for (int i = 0; i < COMMAND_COUNT; i++)
		if (commands[i].name && !strcasecmp(commands[i].name, name))
			return i;
	return -1;
}

void cm_answer(struct cm_reply *reply, uint64_t address, const void *data, size_t size, size_t room)
{
	reply->address = address;
	reply->size = size < room ? size : room;
	require(reply->size <= sizeof(reply->data), "a reply's size");
	memcpy(reply->data, data, reply->size);
}

static long run_command(struct cm_file *file, const struct rdma_ucm_cmd_hdr *header, const unsigned char *bytes,
			size_t size, struct cm_reply *reply)
{
	static unsigned char padded[COMMAND_MAX] __attribute__((aligned(8)));
	const struct command *command;
	size_t said = header->in;

	if (header->cmd >= COMMAND_COUNT || !is_command_known(header->cmd))
		return -EINVAL;
	command = &commands[header->cmd];
	if (said > size)
		return -EINVAL;
	if (!command->run)
		return -ENOSYS;
	if (header->out < command->room)
		return -ENOSPC;
	memset(padded, 0, command->size);
	memcpy(padded, bytes, said < command->size ? said : command->size);
	reply->extra = bytes + said;
	reply->extra_size = size - said;
	return command->run(file, padded, header->out, reply);
}

static long run_with_faults(struct cm_file *file, const unsigned char *bytes, size_t size, struct cm_reply *reply,
			    uint32_t *delay_ms)
{
	struct rdma_ucm_cmd_hdr header;
	struct fault fault = { 0 };
	long result;

	if (size < sizeof(header))
		return -EINVAL;
	memcpy(&header, bytes, sizeof(header));
	/* Waiting for an event is one command, however often the program asks whether there is one. */
	if (header.cmd != RDMA_USER_CM_CMD_GET_EVENT || file->events)
		fault = next_fault(header.cmd);
	*delay_ms = fault.delay_ms;
	if (fault.error)
		return -fault.error;
	result = run_command(file, &header, bytes + sizeof(header), size - sizeof(header), reply);
	if (result || reply->again)
		return result;
	change_answer(header.cmd, reply->data, reply->size);
	run_consequences(file->host, file, header.cmd);
	return fault.taken;
}

long cm_command_call(struct client *client, const void *in, size_t in_size, struct answer *answer)
{
	static struct cm_reply reply;
	const struct sim_cm_command *command = in;
	struct sim_cm_answer head = { 0 };
	struct cm_file *file, *other;
	long result;

	if (in_size < sizeof(*command))
		return -EPROTO;
	file = find_cm_file(command->file);
	if (!file)
		return -EBADF;
	/* A child has its parent's files, but not its parent's rights to them. */
	if (file->owner != client->pid)
		return -EACCES;
	other = find_cm_file(command->other_file);
	reply.address = reply.size = 0;
	reply.again = false;
	reply.other = other;
	result = run_with_faults(file, (const unsigned char *)(command + 1), in_size - sizeof(*command), &reply,
				 &answer->delay_ms);
	head.address = reply.address;
	head.again = reply.again;
	head.used = cm_settle(file);
	if (other && other != file)
		head.used_other = cm_settle(other);
	answer_bytes(answer, &head, sizeof(head));
	if (result >= 0)
		answer_bytes(answer, reply.data, reply.size);
	return result;
}
