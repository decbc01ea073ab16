/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events as programs get them. */
#include "cm.h"

#include "memory.h"

#include <errno.h>
#include <string.h>

static struct cm_event *new_event(struct cm_id *id, enum cm_event_kind kind, int status)
{
	struct cm_event *event = take(sizeof(*event));

	event->id = id;
	event->resp.uid = id->uid;
	event->resp.id = id->number;
	event->resp.event = kind;
	event->resp.status = (uint32_t)status;
	return event;
}

/* A connection that the program has not answered has no name that it knows, and so no events. */
static void queue_unless_nameless(struct cm_id *id, struct cm_event *event)
{
	if (id->uid)
		cm_queue(id->file, event);
	else
		free(event);
}

void cm_tell(struct cm_id *id, enum cm_event_kind kind, int status, const struct cm_message *message)
{
	struct cm_event *event = new_event(id, kind, status);

	if (message) {
		event->resp.param.conn = message->conn;
		event->resp.ece = message->ece;
	}
	queue_unless_nameless(id, event);
}

void cm_tell_datagram(struct cm_id *id, enum cm_event_kind kind, int status, const struct rdma_ucm_ud_param *ud)
{
	struct cm_event *event = new_event(id, kind, status);

	if (ud)
		event->resp.param.ud = *ud;
	queue_unless_nameless(id, event);
}

void cm_tell_multicast(struct cm_multicast *multicast, enum cm_event_kind kind, int status,
		       const struct rdma_ucm_ud_param *ud)
{
	struct cm_event *event = new_event(multicast->id, kind, status);

	event->multicast = multicast;
	event->resp.uid = multicast->uid;
	event->resp.id = multicast->number;
	if (ud)
		event->resp.param.ud = *ud;
	queue_unless_nameless(multicast->id, event);
}

int cm_tell_request(struct cm_id *listener, struct cm_id *new_id, const struct cm_message *message)
{
	struct cm_event *event;

	if (!listener->backlog)
		return -ENOMEM;
	listener->backlog--;
	number_cm_id(new_id);
	new_id->listener = listener;
	event = new_event(listener, CM_CONNECT_REQUEST, 0);
	event->resp.id = new_id->number;
	event->new_id = new_id;
	if (new_id->qp_type == QP_TYPE_UD) {
		memcpy(event->resp.param.ud.private_data, message->conn.private_data, message->conn.private_data_len);
		event->resp.param.ud.private_data_len = message->conn.private_data_len;
	} else {
		event->resp.param.conn = message->conn;
	}
	event->resp.ece = message->ece;
	cm_queue(listener->file, event);
	return 0;
}

long cm_write_event(struct cm_call *call)
{
	const struct rdma_ucm_write_cm_event *write = call->command;
	struct cm_event *event;
	struct cm_id *id = call->id;

	if (write->event != CM_USER && write->event != CM_INTERNAL)
		return -EINVAL;
	/* A request that is not answered has no name that its program knows. */
	if (!id->uid)
		return -EINVAL;
	event = new_event(id, write->event, (int)write->status);
	memcpy(&event->resp.param, &write->param.arg, sizeof(write->param.arg));
	cm_queue(id->file, event);
	return 0;
}
