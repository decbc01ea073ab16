/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages of connected queue pairs: what the peer allows, where its data goes, and who learns of an error. */
#include "verbs.h"

#include <string.h>

/* A message on its way. */
struct message {
	struct queue_pair *from;
	struct queue_pair *to;
	struct send *send;
	struct shared_queue *srq;	/* where it takes a receive, if not from the peer's own */
	const struct object *pd;	/* whose memory the peer offers */
	struct spans local;
	enum ibv_wc_status status;	/* for the sender */
};

static bool is_up(const struct queue_pair *qp)
{
	const struct device *device = qp->object.context->device;
	uint8_t port = qp->attr.port_num;

	return !port || device->ports[port - 1].state == IBV_PORT_ACTIVE;
}

/* Whether the path leads to a port of the device. */
bool path_leads_to(const struct ibv_ah_attr *path, const struct device *device)
{
	for (unsigned int i = 0; i < device->port_count; i++) {
		const struct port *port = &device->ports[i];

		if (port->state != IBV_PORT_ACTIVE)
			continue;
		if (!path->is_global && path->dlid == port->lid)
			return true;
		for (unsigned int j = 0; path->is_global && j < GID_TABLE_SIZE; j++)
			if (port->gids[j].type != GID_NONE && !memcmp(port->gids[j].raw, &path->grh.dgid, 16))
				return true;
	}
	return false;
}

static bool is_connected(const struct queue_pair *qp, const struct queue_pair *peer)
{
	enum ibv_qp_type wanted = qp->type == IBV_QPT_XRC_SEND ? IBV_QPT_XRC_RECV : qp->type;
	const struct device *device = qp->object.context->device, *other = peer->object.context->device;

	if (peer->type != wanted || peer->attr.dest_qp_num != qp->number || !can_receive(peer) ||
	    device->link != other->link || !is_up(qp) || !is_up(peer))
		return false;
	return device->link == LINK_IWARP || path_leads_to(&qp->attr.ah_attr, other);
}

/* The sender learns of it by its completion. */
static enum sent refuse(struct message *message, enum ibv_wc_status status)
{
	message->status = status;
	return SEND_FAILED;
}

/* The peer did not ask for this: it fails too, and learns of it by an event. */
static enum sent refuse_request(struct message *message, enum ibv_wc_status status, enum ibv_event_type event)
{
	if (message->to->type != IBV_QPT_UC) {
		queue_pair_fail(message->to);
		object_event(&message->to->object, event);
	}
	return refuse(message, status);
}

static void complete_receive(struct message *message, struct receive *receive, enum ibv_wc_status status)
{
	const struct verbs_send *wr = &message->send->wr;
	bool written = wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	bool immediate = written || wr->opcode == IBV_WR_SEND_WITH_IMM;
	struct ibv_wc completion = {
		.wr_id = receive->id,
		.status = status,
		.opcode = written ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV,
		.byte_len = (uint32_t)message->send->length,
		.qp_num = message->to->number,
		.src_qp = message->from->number,
		.wc_flags = immediate ? IBV_WC_WITH_IMM : 0,
	};
	struct completion_queue *queue = message->srq && message->srq->cq ? message->srq->cq : message->to->recv_cq;

	if (immediate)
		completion.imm_data = wr->immediate;
	completion_add(queue, &completion, wr->flags & IBV_SEND_SOLICITED);
	free(receive);
	if (message->srq)
		shared_queue_taken(message->srq);
}

/* The receive is spoiled, and the peer with it. */
static enum sent spoil(struct message *message, struct receive *receive, enum ibv_wc_status theirs,
		       enum ibv_wc_status ours)
{
	complete_receive(message, receive, theirs);
	queue_pair_fail(message->to);
	return refuse(message, ours);
}

static struct receive_queue *receives_of(struct message *message)
{
	return message->srq ? &message->srq->receives : &message->to->receives;
}

static enum sent send_message(struct message *message)
{
	struct receive *receive = receive_take(receives_of(message));
	struct spans place;

	if (!receive)
		return WAITS_FOR_RECEIVE;
	if (!spans_of_sges(&place, message->pd, receive->sge, receive->sges, IBV_ACCESS_LOCAL_WRITE))
		return spoil(message, receive, IBV_WC_LOC_PROT_ERR, IBV_WC_REM_OP_ERR);
	if (place.length < message->send->length)
		return spoil(message, receive, IBV_WC_LOC_LEN_ERR, IBV_WC_REM_INV_REQ_ERR);
	switch (spans_copy(&place, &message->local)) {
	case NO_SOURCE:
		return spoil(message, receive, IBV_WC_REM_ABORT_ERR, IBV_WC_LOC_PROT_ERR);
	case NO_TARGET:
		return spoil(message, receive, IBV_WC_LOC_PROT_ERR, IBV_WC_REM_OP_ERR);
	case COPIED:
		break;
	}
	complete_receive(message, receive, IBV_WC_SUCCESS);
	return SENT;
}

static bool find_remote(struct message *message, struct spans *remote, unsigned int access)
{
	const struct verbs_send *wr = &message->send->wr;

	return spans_of_key(remote, message->pd, wr->address, message->send->length, wr->key, access);
}

/* What the peer's queue pair must allow. An RNIC's allows all: only its memory has rights. */
static unsigned int rights_needed(const struct send *send, const struct device *device)
{
	if (device->link == LINK_IWARP)
		return 0;
	switch (send->wr.opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return IBV_ACCESS_REMOTE_WRITE;
	case IBV_WR_RDMA_READ:
		return IBV_ACCESS_REMOTE_READ;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return IBV_ACCESS_REMOTE_ATOMIC;
	default:
		return 0;
	}
}

static enum sent write_memory(struct message *message)
{
	struct receive *receive = NULL;
	struct spans remote;

	if (message->send->length && !find_remote(message, &remote, IBV_ACCESS_REMOTE_WRITE))
		return refuse_request(message, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
	if (message->send->wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
		receive = receive_take(receives_of(message));
		if (!receive)
			return WAITS_FOR_RECEIVE;
	}
	switch (message->send->length ? spans_copy(&remote, &message->local) : COPIED) {
	case NO_SOURCE:
		free(receive);
		return refuse(message, IBV_WC_LOC_PROT_ERR);
	case NO_TARGET:
		free(receive);
		return refuse_request(message, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
	case COPIED:
		break;
	}
	if (receive)
		complete_receive(message, receive, IBV_WC_SUCCESS);
	return SENT;
}

static enum sent read_memory(struct message *message)
{
	struct spans remote;

	if (message->send->length && !find_remote(message, &remote, IBV_ACCESS_REMOTE_READ))
		return refuse_request(message, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
	switch (message->send->length ? spans_copy(&message->local, &remote) : COPIED) {
	case NO_SOURCE:
		return refuse_request(message, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
	case NO_TARGET:
		return refuse(message, IBV_WC_LOC_PROT_ERR);
	case COPIED:
		break;
	}
	return SENT;
}

/* No other call happens meanwhile. */
static enum sent change_memory(struct message *message)
{
	const struct verbs_send *wr = &message->send->wr;
	uint64_t before, now;
	struct spans remote, value;

	if (wr->address % sizeof(before) || message->send->length != sizeof(before))
		return refuse_request(message, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
	if (!find_remote(message, &remote, IBV_ACCESS_REMOTE_ATOMIC))
		return refuse_request(message, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
	spans_of_own(&value, &before, sizeof(before));
	if (spans_copy(&value, &remote) != COPIED)
		return refuse_request(message, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
	if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		now = before + wr->compare_add;
	else
		now = before == wr->compare_add ? wr->swap : before;
	if (spans_copy(&message->local, &value) != COPIED)
		return refuse(message, IBV_WC_LOC_PROT_ERR);
	spans_of_own(&value, &now, sizeof(now));
	if (spans_copy(&remote, &value) != COPIED)
		return refuse_request(message, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
	return SENT;
}

/* Where an extended connection's message goes, its sender says. */
static bool find_shared_queue(struct message *message)
{
	struct xrc_domain *ours = message->to->xrcd, *theirs;

	message->srq = object_at(UVERBS_OBJECT_SRQ, message->send->wr.remote_srqn);
	theirs = message->srq ? message->srq->xrcd : NULL;
	if (!theirs)
		return false;
	message->pd = message->srq->pd;
	return theirs == ours || (ours->inode && theirs->device == ours->device && theirs->inode == ours->inode);
}

static unsigned int access_needed(const struct queue_pair *qp, const struct send *send)
{
	if (send->wr.opcode < IBV_WR_RDMA_READ)
		return 0;
	/* An RNIC's peer writes what was to be read. */
	return qp->object.context->device->link == LINK_IWARP ? IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE :
								IBV_ACCESS_LOCAL_WRITE;
}

static enum sent deliver(struct message *message)
{
	bool asks = message->send->wr.opcode >= IBV_WR_RDMA_READ;
	unsigned int rights = rights_needed(message->send, message->to->object.context->device);

	if (asks && !message->from->attr.max_rd_atomic && message->from->object.context->device->link != LINK_IWARP)
		return refuse(message, IBV_WC_LOC_QP_OP_ERR);
	if (asks && !message->to->attr.max_dest_rd_atomic && message->from->object.context->device->link != LINK_IWARP)
		return refuse_request(message, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
	if ((message->to->attr.qp_access_flags & rights) != rights)
		return refuse_request(message, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
	switch (message->send->wr.opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return write_memory(message);
	case IBV_WR_RDMA_READ:
		return read_memory(message);
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return change_memory(message);
	default:
		return send_message(message);
	}
}

enum sent send_connected(struct queue_pair *qp, struct send *send, struct queue_pair *peer, enum ibv_wc_status *status)
{
	struct message message = { .from = qp, .to = peer, .send = send };
	enum sent sent;

	if (send->length > DEVICE_MAX_MESSAGE)
		message.status = IBV_WC_LOC_LEN_ERR;
	else if (!spans_of_send(&message.local, qp, send, access_needed(qp, send)))
		message.status = IBV_WC_LOC_PROT_ERR;
	else if (!peer || !is_connected(qp, peer))
		return WAITS_FOR_PEER;
	if (message.status) {
		*status = message.status;
		return SEND_FAILED;
	}
	if (peer->attr.qp_state == IBV_QPS_RTR && !peer->established)
		object_event(&peer->object, IBV_EVENT_COMM_EST);
	peer->established = true;
	peer->must_wait = false;
	message.pd = peer->pd;
	message.srq = peer->srq;
	if (message.srq)
		message.pd = message.srq->pd;
	if (peer->type == IBV_QPT_XRC_RECV && !find_shared_queue(&message))
		sent = refuse_request(&message, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
	else
		sent = deliver(&message);
	*status = message.status;
	return sent;
}
