/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Connections: a request, an answer, a last word; and how they end. Messages arrive at once. */
#include "cm.h"

#include "verbs_hooks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Reasons for a rejection. */
enum { REJECT_TIMEOUT = 4, REJECT_NO_SERVICE = 8, REJECT_STALE = 10, REJECT_CONSUMER = 28, REJECT_VENDOR_OPTION = 35 };

enum { TIMEWAIT_MS = 200 };

/* enum ib_event_type */
enum { EVENT_COMM_EST = 4, EVENT_PATH_MIG = 6 };

static bool is_iwarp(const struct cm_id *id)
{
	return id->device && id->device->link == LINK_IWARP;
}

/* A message is as long as its format; what is said may be shorter, except where the format is iWARP's. */
static void set_data(const struct cm_id *id, struct rdma_ucm_conn_param *to, const void *data, uint8_t size,
		     unsigned int format)
{
	memset(to->private_data, 0, sizeof(to->private_data));
	memcpy(to->private_data, data, size);
	to->private_data_len = (uint8_t)(is_iwarp(id) ? size : format);
}

static unsigned int request_data(const struct cm_id *id)
{
	unsigned int format = id->qp_type == QP_TYPE_UD ? DATAGRAM_REQUEST_DATA : REQUEST_DATA;

	return id->src.ss_family == AF_IB ? format : format - ADDRESS_DATA;
}

static void reject(struct cm_id *id, int reason, const void *data, uint8_t size)
{
	struct cm_message message = { 0 };
	struct cm_id *peer = id->peer;

	id->handshake = HANDSHAKE_OVER;
	if (!peer)
		return;
	set_data(id, &message.conn, data, size, REFUSAL_DATA);
	peer->handshake = HANDSHAKE_OVER;
	peer->peer = id->peer = NULL;
	cm_stop_waiting(peer);
	cm_tell(peer, CM_REJECTED, is_iwarp(id) ? -ECONNREFUSED : reason, &message);
}

static void request_fails(struct cm_id *id, enum cm_event_kind kind, int status)
{
	struct cm_message message = { 0 };

	id->handshake = HANDSHAKE_OVER;
	if (kind == CM_REJECTED)
		set_data(id, &message.conn, "", 0, REFUSAL_DATA);
	cm_tell(id, kind, status, &message);
}

static void end_connection(struct cm_id *id);

/* What the one side says of its depths is the other way round for the other side. */
static struct cm_message as_heard(const struct cm_id *from)
{
	struct cm_message message = from->sent;

	message.conn.responder_resources = from->sent.conn.initiator_depth;
	message.conn.initiator_depth = from->sent.conn.responder_resources;
	message.conn.valid = 0;
	message.conn.qkey = 0;
	return message;
}

/* The id here that is connected with the same queue pair already: the other side must have forgotten about that. */
static struct cm_id *find_stale(const struct cm_id *asking, const struct device *device)
{
	for (struct cm_id *id = cm_ids; id; id = id->next)
		if (id->device == device && id->handshake == HANDSHAKE_ESTABLISHED && id->peer &&
		    id->peer->device == asking->device && id->received.conn.qp_num == asking->sent.conn.qp_num)
			return id;
	return NULL;
}

static void ask(void *arg)
{
	struct cm_id *id = arg, *listener, *new_id, *stale;
	struct device *device;
	uint8_t port;
	bool is_used = false;

	id->timer = NULL;
	device = find_destination(id, &port);
	stale = device && !is_iwarp(id) ? find_stale(id, device) : NULL;
	if (stale) {
		request_fails(id, CM_REJECTED, REJECT_STALE);
		end_connection(stale);
		return;
	}
	listener = device ? find_listener(service_id_of(id, &id->dst), id, device, &is_used) : NULL;
	if (listener) {
		new_id = new_requested_id(id, listener, device, port);
		new_id->received = as_heard(id);
		set_data(id, &new_id->received.conn, id->sent.conn.private_data, id->sent.conn.private_data_len,
			 request_data(id));
		new_id->rq_psn = id->sq_psn;
		new_id->sq_psn = (uint32_t)random() & 0xffffff;
		if (!cm_tell_request(listener, new_id, &new_id->received)) {
			id->peer = new_id;
			return;
		}
		/* Not refused but unheard, so that it can come again. */
		new_id->peer = NULL;
		end_cm_id(new_id);
	} else if (device) {
		request_fails(id, CM_REJECTED, is_iwarp(id) ? -ECONNREFUSED : is_used ? REJECT_CONSUMER
										      : REJECT_NO_SERVICE);
		return;
	}
	if (++id->tries < REQUEST_TRIES)
		cm_wait(id, REQUEST_PAUSE_MS, ask);
	else
		request_fails(id, CM_UNREACHABLE, -ETIMEDOUT);
}

long cm_connect(struct cm_call *call)
{
	const struct rdma_ucm_connect *connect = call->command;
	struct cm_id *id = call->id;

	if (!connect->conn_param.valid)
		return -EINVAL;
	if (id->state != CM_IS_ROUTE_RESOLVED)
		return -EINVAL;
	if (!is_iwarp(id) && connect->conn_param.private_data_len > request_data(id))
		return -EINVAL;
	/* There the connection manager itself connects queue pairs. */
	if (is_iwarp(id) && !verbs_has_queue_pair(id->device, connect->conn_param.qp_num))
		return -EINVAL;
	id->state = CM_CONNECT;
	id->handshake = HANDSHAKE_ASKED;
	id->sent.conn = connect->conn_param;
	id->sent.ece = connect->ece;
	id->sq_psn = (uint32_t)random() & 0xffffff;
	id->tries = 0;
	cm_wait(id, 0, id->qp_type == QP_TYPE_UD ? ask_by_datagram : ask);
	return 0;
}

static void establish(struct cm_id *id, const struct cm_message *message)
{
	id->handshake = HANDSHAKE_ESTABLISHED;
	cm_tell(id, CM_ESTABLISHED, 0, message);
}

/* The answer to a request. The last word is the asking side's, where it is InfiniBand's way. */
static long answer(struct cm_id *id, const struct rdma_ucm_accept *accept)
{
	struct cm_id *peer = id->peer;

	if (id->handshake != HANDSHAKE_REQUESTED || !peer)
		return -EINVAL;
	if (!is_iwarp(id) && accept->conn_param.private_data_len > ANSWER_DATA)
		return -EINVAL;
	if (is_iwarp(id) && !(verbs_has_queue_pair(id->device, accept->conn_param.qp_num) &&
			      verbs_iwarp_connect(peer->sent.conn.qp_num, accept->conn_param.qp_num,
						  peer->sent.conn.initiator_depth)))
		return -EINVAL;
	id->sent.conn = accept->conn_param;
	id->sent.ece = accept->ece;
	id->handshake = HANDSHAKE_ANSWERED;
	id->uid = accept->uid;
	peer->received = as_heard(id);
	peer->received.conn.retry_count = 0;
	peer->rq_psn = id->sq_psn;
	set_data(id, &peer->received.conn, accept->conn_param.private_data, accept->conn_param.private_data_len,
		 ANSWER_DATA);
	if (is_iwarp(id)) {
		establish(peer, &peer->received);
		establish(id, NULL);
		return 0;
	}
	peer->handshake = HANDSHAKE_GOT_ANSWER;
	cm_tell(peer, CM_CONNECT_RESPONSE, 0, &peer->received);
	return 0;
}

static long say_last_word(struct cm_id *id)
{
	struct cm_id *peer = id->peer;

	if (id->handshake != HANDSHAKE_GOT_ANSWER || !peer)
		return -EINVAL;
	id->handshake = HANDSHAKE_ESTABLISHED;
	/* It may have learned so by the first data. */
	if (peer->handshake == HANDSHAKE_ANSWERED)
		establish(peer, NULL);
	return 0;
}

static bool can_be_refused(const struct cm_id *id)
{
	return id->handshake == HANDSHAKE_ASKED || id->handshake == HANDSHAKE_REQUESTED ||
	       id->handshake == HANDSHAKE_ANSWERED || id->handshake == HANDSHAKE_GOT_ANSWER;
}

long cm_accept(struct cm_call *call)
{
	const struct rdma_ucm_accept *accept = call->command;
	struct cm_id *id = call->id;
	long error;

	if (id->state != CM_CONNECT)
		return -EINVAL;
	if (id->qp_type == QP_TYPE_UD) {
		error = answer_by_datagram(id, 0, &accept->conn_param, &accept->ece);
		if (!error && accept->conn_param.valid)
			id->uid = accept->uid;
		if (error)
			answer_by_datagram(id, 2, NULL, NULL);
		return error;
	}
	error = accept->conn_param.valid ? answer(id, accept) : say_last_word(id);
	if (error && can_be_refused(id))
		reject(id, REJECT_CONSUMER, "", 0);
	return error;
}

long cm_reject(struct cm_call *call)
{
	const struct rdma_ucm_reject *refuse = call->command;
	int reason = refuse->reason ? refuse->reason : REJECT_CONSUMER;
	struct cm_id *id = call->id;

	if (reason != REJECT_CONSUMER && reason != REJECT_VENDOR_OPTION)
		return -EINVAL;
	if (id->qp_type == QP_TYPE_UD) {
		struct rdma_ucm_conn_param conn = { .private_data_len = refuse->private_data_len };

		memcpy(conn.private_data, refuse->private_data, sizeof(conn.private_data));
		return answer_by_datagram(id, 2, &conn, NULL);
	}
	if (!can_be_refused(id) || (!is_iwarp(id) && refuse->private_data_len > REFUSAL_DATA))
		return -EINVAL;
	reject(id, reason, refuse->private_data, refuse->private_data_len);
	return 0;
}

static void tell_wait_is_over(void *arg)
{
	struct cm_id *id = arg;

	id->timer = NULL;
	cm_tell(id, CM_TIMEWAIT_EXIT, 0, NULL);
}

static void tell_disconnected(struct cm_id *id)
{
	if (id->state != CM_CONNECT)
		return;
	id->state = CM_DISCONNECT;
	cm_tell(id, CM_DISCONNECTED, 0, NULL);
}

/* Both sides have said that the connection ends. */
static void finish(struct cm_id *id)
{
	id->handshake = HANDSHAKE_OVER;
	if (!is_iwarp(id))
		cm_wait(id, TIMEWAIT_MS, tell_wait_is_over);
}

static void end_connection(struct cm_id *id)
{
	struct cm_id *peer = id->peer;

	if (is_iwarp(id) && id->handshake == HANDSHAKE_ESTABLISHED)
		verbs_iwarp_disconnect(id->sent.conn.qp_num);
	if (id->handshake == HANDSHAKE_ESTABLISHED) {
		id->handshake = HANDSHAKE_ENDING;
		if (!peer)
			return;
		peer->handshake = HANDSHAKE_ENDED;
		tell_disconnected(peer);
		if (!is_iwarp(id))
			return;
		tell_disconnected(id);
		finish(peer);
		finish(id);
	} else if (id->handshake == HANDSHAKE_ENDED) {
		finish(id);
		if (peer && peer->handshake == HANDSHAKE_ENDING) {
			tell_disconnected(peer);
			finish(peer);
		}
	}
}

long cm_disconnect(struct cm_call *call)
{
	struct cm_id *id = call->id;

	if (!id->device || (!id->handshake && id->state != CM_LISTEN))
		return -EINVAL;
	end_connection(id);
	return 0;
}

long cm_notify(struct cm_call *call)
{
	const struct rdma_ucm_notify *notify = call->command;
	struct cm_id *id = call->id;

	if (!id->device || !id->handshake)
		return -EINVAL;
	if (is_iwarp(id))
		return 0;
	if (notify->event == EVENT_PATH_MIG)
		return id->handshake == HANDSHAKE_ESTABLISHED ? 0 : -EINVAL;
	if (notify->event != EVENT_COMM_EST)
		return -EINVAL;
	if (id->handshake == HANDSHAKE_ESTABLISHED)
		return -EISCONN;
	if (id->handshake != HANDSHAKE_ANSWERED)
		return -EINVAL;
	establish(id, NULL);
	return 0;
}

void hang_up(struct cm_id *id)
{
	struct cm_id *peer = id->peer;

	if (id->qp_type == QP_TYPE_UD) {
		if (peer && id->handshake == HANDSHAKE_REQUESTED)
			answer_by_datagram(id, 2, NULL, NULL);
	} else if (can_be_refused(id)) {
		reject(id, id->handshake == HANDSHAKE_ASKED ? REJECT_TIMEOUT : REJECT_CONSUMER, "", 0);
	} else {
		end_connection(id);
	}
	cm_stop_waiting(id);
	id->handshake = HANDSHAKE_OVER;
	if (id->peer)
		id->peer->peer = NULL;
	id->peer = NULL;
}
