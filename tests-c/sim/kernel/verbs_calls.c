/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The calls of verbs_protocol.h, with the sizes of what goes in and comes out; and the list of objects for tests. */
#include "verbs.h"

#include <errno.h>
#include <string.h>

static const struct known {
	long (*run)(struct call *call);
	size_t in_size;
	bool longer;			/* what goes in may be */
	size_t out_size;
} calls[] = {
#define KNOWN(op, function, in, out) [(op) - SIM_VERBS] = { function, sizeof(in), false, out }
#define KNOWN_LONGER(op, function, in) [(op) - SIM_VERBS] = { function, sizeof(in), true, 0 }
	KNOWN(VERBS_DEVICES, call_devices, char[0], 0),
	KNOWN(VERBS_OPEN, call_open, uint32_t, sizeof(struct verbs_opened)),
	KNOWN(VERBS_CLOSE, call_close, struct verbs_name, 0),
	KNOWN(VERBS_QUERY_DEVICE, call_query_device, struct verbs_name, sizeof(struct ibv_device_attr)),
	KNOWN(VERBS_QUERY_PORT, call_query_port, struct verbs_place, sizeof(struct ibv_port_attr)),
	KNOWN(VERBS_QUERY_GID, call_query_gid, struct verbs_place, sizeof(struct verbs_gid)),
	KNOWN(VERBS_QUERY_PKEY, call_query_pkey, struct verbs_place, sizeof(uint16_t)),
	KNOWN(VERBS_HANDLES, call_handles, struct verbs_kind, 0),
	KNOWN(VERBS_DESTROY, call_destroy, struct verbs_name, sizeof(struct verbs_reported)),
	KNOWN(VERBS_CREATE_PD, call_create_pd, struct verbs_name, sizeof(uint32_t)),
	KNOWN(VERBS_CREATE_XRCD, call_create_xrcd, struct verbs_new_xrcd, sizeof(uint32_t)),
	KNOWN(VERBS_CREATE_MR, call_create_mr, struct verbs_new_mr, sizeof(struct verbs_made_mr)),
	KNOWN(VERBS_CHANGE_MR, call_change_mr, struct verbs_changed_mr, 0),
	KNOWN(VERBS_CREATE_AH, call_create_ah, struct verbs_new_ah, sizeof(uint32_t)),
	KNOWN(VERBS_CREATE_CHANNEL, call_create_channel, struct verbs_name, sizeof(uint32_t)),
	KNOWN(VERBS_CREATE_CQ, call_create_cq, struct verbs_new_cq, sizeof(uint32_t)),
	KNOWN(VERBS_RESIZE_CQ, call_resize_cq, struct verbs_resized_cq, 0),
	KNOWN(VERBS_ARM_CQ, call_arm_cq, struct verbs_armed_cq, 0),
	KNOWN(VERBS_CREATE_SRQ, call_create_srq, struct verbs_new_srq, sizeof(struct verbs_made_srq)),
	KNOWN(VERBS_MODIFY_SRQ, call_modify_srq, struct verbs_changed_srq, 0),
	KNOWN(VERBS_QUERY_SRQ, call_query_srq, struct verbs_name, sizeof(struct ibv_srq_attr)),
	KNOWN(VERBS_CREATE_QP, call_create_qp, struct verbs_new_qp, sizeof(struct verbs_made_qp)),
	KNOWN(VERBS_MODIFY_QP, call_modify_qp, struct verbs_changed_qp, 0),
	KNOWN(VERBS_QUERY_QP, call_query_qp, struct verbs_name, sizeof(struct verbs_queried_qp)),
	KNOWN(VERBS_SET_ECE, call_set_ece, struct verbs_ece, 0),
	KNOWN(VERBS_QUERY_ECE, call_query_ece, struct verbs_name, sizeof(struct ibv_ece)),
	KNOWN(VERBS_ATTACH, call_attach, struct verbs_group, 0),
	KNOWN(VERBS_DETACH, call_detach, struct verbs_group, 0),
	KNOWN_LONGER(VERBS_POST_SEND, call_post_send, struct verbs_send),
	KNOWN_LONGER(VERBS_POST_RECV, call_post_recv, struct verbs_recv),
	KNOWN(VERBS_GET_EVENT, call_get_event, struct verbs_name, sizeof(struct verbs_event)),
};

long verbs_call(struct client *client, uint32_t op, const void *in, size_t in_size, struct answer *answer)
{
	const struct known *known = op - SIM_VERBS < sizeof(calls) / sizeof(calls[0]) ? &calls[op - SIM_VERBS] : NULL;
	struct call call = { .in = in, .in_size = in_size, .client = client, .fd = -1 };
	long result;

	if (!known || !known->run)
		return -EOPNOTSUPP;
	if (in_size < known->in_size || (in_size > known->in_size && !known->longer))
		return -EINVAL;
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
	return result;
}
