/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The calls of verbs_protocol.h, with the sizes of what goes in and comes out; and the list of objects for tests. */
#include "faults.h"
#include "verbs.h"
#include "verbs_hooks.h"

#include <errno.h>
#include <string.h>

static const struct known {
	const char *name;		/* of the function that makes it; NULL: several do, or none */
	long (*run)(struct call *call);
	size_t in_size;
	bool longer;			/* what goes in may be */
	size_t out_size;
} calls[] = {
#define KNOWN(op, name, function, in, out) [(op) - SIM_VERBS] = { name, function, sizeof(in), false, out }
#define KNOWN_LONGER(op, name, function, in) [(op) - SIM_VERBS] = { name, function, sizeof(in), true, 0 }
	KNOWN(VERBS_DEVICES, NULL, call_devices, char[0], 0),
	KNOWN(VERBS_OPEN, "ibv_open_device", call_open, uint32_t, sizeof(struct verbs_opened)),
	KNOWN(VERBS_CLOSE, NULL, call_close, struct verbs_name, 0),
	KNOWN(VERBS_QUERY_DEVICE, "ibv_query_device", call_query_device, struct verbs_name, sizeof(struct ibv_device_attr)),
	KNOWN(VERBS_QUERY_PORT, "ibv_query_port", call_query_port, struct verbs_place, sizeof(struct ibv_port_attr)),
	KNOWN(VERBS_QUERY_GID, "ibv_query_gid", call_query_gid, struct verbs_place, sizeof(struct verbs_gid)),
	KNOWN(VERBS_QUERY_PKEY, "ibv_query_pkey", call_query_pkey, struct verbs_place, sizeof(uint16_t)),
	KNOWN(VERBS_HANDLES, NULL, call_handles, struct verbs_kind, 0),
	KNOWN(VERBS_DESTROY, NULL, call_destroy, struct verbs_name, sizeof(struct verbs_reported)),
	KNOWN(VERBS_CREATE_PD, "ibv_alloc_pd", call_create_pd, struct verbs_name, sizeof(uint32_t)),
	KNOWN(VERBS_CREATE_XRCD, "ibv_open_xrcd", call_create_xrcd, struct verbs_new_xrcd, sizeof(uint32_t)),
	KNOWN(VERBS_CREATE_MR, "ibv_reg_mr", call_create_mr, struct verbs_new_mr, sizeof(struct verbs_made_mr)),
	KNOWN(VERBS_CHANGE_MR, "ibv_rereg_mr", call_change_mr, struct verbs_changed_mr, 0),
	KNOWN(VERBS_CREATE_AH, "ibv_create_ah", call_create_ah, struct verbs_new_ah, sizeof(uint32_t)),
	KNOWN(VERBS_CREATE_CHANNEL, "ibv_create_comp_channel", call_create_channel, struct verbs_name, sizeof(uint32_t)),
	KNOWN(VERBS_CREATE_CQ, "ibv_create_cq", call_create_cq, struct verbs_new_cq, sizeof(uint32_t)),
	KNOWN(VERBS_RESIZE_CQ, "ibv_resize_cq", call_resize_cq, struct verbs_resized_cq, 0),
	KNOWN(VERBS_ARM_CQ, "ibv_req_notify_cq", call_arm_cq, struct verbs_armed_cq, 0),
	KNOWN(VERBS_CREATE_SRQ, "ibv_create_srq", call_create_srq, struct verbs_new_srq, sizeof(struct verbs_made_srq)),
	KNOWN(VERBS_MODIFY_SRQ, "ibv_modify_srq", call_modify_srq, struct verbs_changed_srq, 0),
	KNOWN(VERBS_QUERY_SRQ, "ibv_query_srq", call_query_srq, struct verbs_name, sizeof(struct ibv_srq_attr)),
	KNOWN(VERBS_CREATE_QP, "ibv_create_qp", call_create_qp, struct verbs_new_qp, sizeof(struct verbs_made_qp)),
	KNOWN(VERBS_MODIFY_QP, "ibv_modify_qp", call_modify_qp, struct verbs_changed_qp, 0),
	KNOWN(VERBS_QUERY_QP, "ibv_query_qp", call_query_qp, struct verbs_name, sizeof(struct verbs_queried_qp)),
	KNOWN(VERBS_SET_ECE, "ibv_set_ece", call_set_ece, struct verbs_ece, 0),
	KNOWN(VERBS_QUERY_ECE, "ibv_query_ece", call_query_ece, struct verbs_name, sizeof(struct ibv_ece)),
	KNOWN(VERBS_ATTACH, "ibv_attach_mcast", call_attach, struct verbs_group, 0),
	KNOWN(VERBS_DETACH, "ibv_detach_mcast", call_detach, struct verbs_group, 0),
	KNOWN_LONGER(VERBS_POST_SEND, "ibv_post_send", call_post_send, struct verbs_send),
	KNOWN_LONGER(VERBS_POST_RECV, "ibv_post_recv", call_post_recv, struct verbs_recv),
	KNOWN(VERBS_GET_EVENT, NULL, call_get_event, struct verbs_name, sizeof(struct verbs_event)),
};

enum { CALL_COUNT = sizeof(calls) / sizeof(calls[0]) };

int verbs_call_number(const char *name)
{
	for (int i = 0; i < CALL_COUNT; i++)
		if (calls[i].name && !strcmp(calls[i].name, name))
			return SIM_VERBS + i;
	return -1;
}

long verbs_call(struct client *client, uint32_t op, const void *in, size_t in_size, struct answer *answer)
{
	const struct known *known = op - SIM_VERBS < CALL_COUNT ? &calls[op - SIM_VERBS] : NULL;
	struct call call = { .in = in, .in_size = in_size, .client = client, .fd = -1 };
	struct fault fault;
	long result;

	if (!known || !known->run)
		return -EOPNOTSUPP;
	if (in_size < known->in_size || (in_size > known->in_size && !known->longer))
		return -EINVAL;
	fault = next_fault(op);
	answer->delay_ms = fault.delay_ms;
	if (fault.error)
		return -fault.error;
	call.out = answer->data;
	call.out_size = sizeof(answer->data);
	call.used = known->out_size;
	memset(answer->data, 0, known->out_size);
	result = known->run(&call);
	if (result < 0)
		return result;
	answer->size = call.used;
	if (call.fd >= 0)
		answer->fds[answer->fd_count++] = call.fd;
	run_consequences(client->host, NULL, op);
	return result;
}
