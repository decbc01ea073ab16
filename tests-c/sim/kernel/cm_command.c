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
	bool has_id;
	size_t id_at;	/* the number of the id that it is about */
};

#define COMMAND(number, function, in, out) \
	[RDMA_USER_CM_CMD_##number] = { #number, function, sizeof(struct in), out, false, 0 }
#define ID_COMMAND(number, function, in, out) \
	[RDMA_USER_CM_CMD_##number] = { #number, function, sizeof(struct in), out, true, offsetof(struct in, id) }

static const struct command commands[] = {
	COMMAND(CREATE_ID, cm_create_id, rdma_ucm_create_id, sizeof(struct rdma_ucm_create_id_resp)),
	COMMAND(DESTROY_ID, cm_destroy_id, rdma_ucm_destroy_id, sizeof(struct rdma_ucm_destroy_id_resp)),
	ID_COMMAND(BIND_IP, cm_bind_ip, rdma_ucm_bind_ip, 0),
	ID_COMMAND(RESOLVE_IP, cm_resolve_ip, rdma_ucm_resolve_ip, 0),
	ID_COMMAND(RESOLVE_ROUTE, cm_resolve_route, rdma_ucm_resolve_route, 0),
	ID_COMMAND(QUERY_ROUTE, cm_query_route, rdma_ucm_query,
		offsetof(struct rdma_ucm_query_route_resp, ibdev_index)),
	ID_COMMAND(CONNECT, cm_connect, rdma_ucm_connect, 0),
	ID_COMMAND(LISTEN, cm_listen, rdma_ucm_listen, 0),
	ID_COMMAND(ACCEPT, cm_accept, rdma_ucm_accept, 0),
	ID_COMMAND(REJECT, cm_reject, rdma_ucm_reject, 0),
	ID_COMMAND(DISCONNECT, cm_disconnect, rdma_ucm_disconnect, 0),
	ID_COMMAND(INIT_QP_ATTR, cm_init_qp_attr, rdma_ucm_init_qp_attr, sizeof(struct ib_uverbs_qp_attr)),
	COMMAND(GET_EVENT, cm_get_event, rdma_ucm_get_event, 0),
	ID_COMMAND(SET_OPTION, cm_set_option, rdma_ucm_set_option, 0),
	ID_COMMAND(NOTIFY, cm_notify, rdma_ucm_notify, 0),
	ID_COMMAND(JOIN_IP_MCAST, cm_join_ip_multicast, rdma_ucm_join_ip_mcast, sizeof(struct rdma_ucm_create_id_resp)),
	COMMAND(LEAVE_MCAST, cm_leave_multicast, rdma_ucm_destroy_id, sizeof(struct rdma_ucm_destroy_id_resp)),
	COMMAND(MIGRATE_ID, cm_migrate_id, rdma_ucm_migrate_id, sizeof(struct rdma_ucm_migrate_resp)),
	ID_COMMAND(QUERY, cm_query, rdma_ucm_query, 0),
	ID_COMMAND(BIND, cm_bind, rdma_ucm_bind, 0),
	ID_COMMAND(RESOLVE_ADDR, cm_resolve_addr, rdma_ucm_resolve_addr, 0),
	ID_COMMAND(JOIN_MCAST, cm_join_multicast, rdma_ucm_join_mcast, sizeof(struct rdma_ucm_create_id_resp)),
	ID_COMMAND(RESOLVE_IB_SERVICE, cm_resolve_ib_service, rdma_ucm_resolve_ib_service, 0),
	ID_COMMAND(WRITE_CM_EVENT, cm_write_event, rdma_ucm_write_cm_event, 0),
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

int cm_command_number(const char *name)
{
	for (int i = 0; i < COMMAND_COUNT; i++)
		if (commands[i].name && !strcasecmp(commands[i].name, name))
			return i;
	return -1;
}

void cm_answer(struct cm_call *call, uint64_t address, const void *data, size_t size)
{
	call->address = address;
	call->size = size < call->room ? size : call->room;
	require(call->size <= sizeof(call->data), "a reply's size");
	memcpy(call->data, data, call->size);
}

static long run_command(struct cm_call *call, const struct rdma_ucm_cmd_hdr *header, const unsigned char *bytes,
			size_t size)
{
	static unsigned char padded[COMMAND_MAX] __attribute__((aligned(8)));
	const struct command *command;
	size_t said = header->in;
	uint32_t number;
	long error;

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
	call->command = padded;
	call->extra = bytes + said;
	call->extra_size = size - said;
	call->room = header->out;
	if (command->has_id) {
		memcpy(&number, padded + command->id_at, sizeof(number));
		call->id = get_cm_id(call->file, number, &error);
		if (!call->id)
			return error;
	}
	return command->run(call);
}

static long run_with_faults(struct cm_call *call, const unsigned char *bytes, size_t size, uint32_t *delay_ms)
{
	struct rdma_ucm_cmd_hdr header;
	struct fault fault = { 0 };
	long result;

	if (size < sizeof(header))
		return -EINVAL;
	memcpy(&header, bytes, sizeof(header));
	/* Waiting for an event is one command, however often the program asks whether there is one. */
	if (header.cmd != RDMA_USER_CM_CMD_GET_EVENT || call->file->events)
		fault = next_fault(header.cmd);
	*delay_ms = fault.delay_ms;
	if (fault.error)
		return -fault.error;
	result = run_command(call, &header, bytes + sizeof(header), size - sizeof(header));
	if (result || call->again)
		return result;
	change_answer(header.cmd, call->data, call->size);
	run_consequences(call->file->host, call->file, header.cmd);
	return fault.taken;
}

long cm_command_call(struct client *client, const void *in, size_t in_size, struct answer *answer)
{
	static struct cm_call call;
	const struct sim_cm_command *command = in;
	struct sim_cm_answer head = { 0 };
	long result;

	if (in_size < sizeof(*command))
		return -EPROTO;
	call.file = find_cm_file(command->file);
	if (!call.file)
		return -EBADF;
	/* A child has its parent's files, but not its parent's rights to them. */
	if (call.file->owner != client->pid)
		return -EACCES;
	call.other = find_cm_file(command->other_file);
	call.address = call.size = 0;
	call.again = false;
	result = run_with_faults(&call, (const unsigned char *)(command + 1), in_size - sizeof(*command),
				 &answer->delay_ms);
	head.address = call.address;
	head.again = call.again;
	head.used = cm_settle(call.file);
	if (call.other && call.other != call.file)
		head.used_other = cm_settle(call.other);
	answer_bytes(answer, &head, sizeof(head));
	if (result >= 0)
		answer_bytes(answer, call.data, call.size);
	return result;
}
