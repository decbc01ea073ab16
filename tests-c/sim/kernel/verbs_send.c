/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What queue pairs send: taking it, doing it in order, waiting for a peer, and telling how it went. */
#include "verbs.h"

#include "loop.h"

#include <errno.h>
#include <string.h>

enum { FOR_EVER = 7 };

static unsigned int waiting;

void stop_waiting(struct queue_pair *qp)
{
	if (qp->timer)
		cancel(qp->timer);
	qp->timer = NULL;
	if (qp->waits == IBV_WC_SUCCESS)
		return;
	qp->waits = IBV_WC_SUCCESS;
	waiting--;
}

struct send *send_take(struct queue_pair *qp)
{
	struct send *send = qp->first;

	if (!send)
		return NULL;
	qp->first = send->next;
	if (!qp->first)
		qp->last = NULL;
	qp->sends--;
	return send;
}

/* It stays the next one. */
static void send_return(struct queue_pair *qp, struct send *send)
{
	send->next = qp->first;
	qp->first = send;
	if (!qp->last)
		qp->last = send;
	qp->sends++;
}

void complete_send(struct queue_pair *qp, struct send *send, enum ibv_wc_status status)
{
	static const enum ibv_wc_opcode opcodes[] = {
		[IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
		[IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
		[IBV_WR_SEND] = IBV_WC_SEND,
		[IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND,
		[IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
		[IBV_WR_ATOMIC_CMP_AND_SWP] = IBV_WC_COMP_SWAP,
		[IBV_WR_ATOMIC_FETCH_AND_ADD] = IBV_WC_FETCH_ADD,
	};
	const struct ibv_wc completion = {
		.wr_id = send->wr.id,
		.status = status,
		.opcode = opcodes[send->wr.opcode],
		.byte_len = (uint32_t)send->length,
		.qp_num = qp->number,
	};

	if (status || qp->signal_all || (send->wr.flags & IBV_SEND_SIGNALED))
		completion_add(qp->send_cq, &completion, false);
	free(send);
}

bool spans_of_send(struct spans *spans, const struct queue_pair *qp, struct send *send, unsigned int access)
{
	if (send->wr.flags & IBV_SEND_INLINE) {
		spans_of_own(spans, send->sge, send->wr.bytes);
		return true;
	}
	return spans_of_sges(spans, qp->pd, send->sge, send->wr.sges, access);
}

/* The first send waited too long. */
static void give_up(void *arg)
{
	struct queue_pair *qp = arg;
	enum ibv_wc_status status = qp->waits;

	qp->timer = NULL;
	complete_send(qp, send_take(qp), status);
	queue_pair_fail(qp);
}

/* Time for all attempts, in ms, rounded up; 0: for ever. */
static uint64_t patience(const struct queue_pair *qp, enum ibv_wc_status reason, const struct queue_pair *peer)
{
	uint64_t us;

	if (reason == IBV_WC_RNR_RETRY_EXC_ERR) {
		/* The peer's code for the time between attempts: 0.02, 0.03, 0.04, 0.06, … ms, and the longest is 0. */
		unsigned int code = peer->attr.min_rnr_timer ? peer->attr.min_rnr_timer : 32;

		us = code % 2 ? (15ULL << (code / 2)) : (10ULL << (code / 2));
		return qp->attr.rnr_retry == FOR_EVER ? 0 : us * qp->attr.rnr_retry / 1000 + 1;
	}
	us = (4096ULL << qp->attr.timeout) / 1000;
	return qp->attr.timeout ? us * (qp->attr.retry_cnt + 1U) / 1000 + 1 : 0;
}

static void wait_for(struct queue_pair *qp, enum ibv_wc_status reason, const struct queue_pair *peer)
{
	uint64_t ms;

	if (qp->waits == reason)
		return;
	stop_waiting(qp);
	qp->waits = reason;
	waiting++;
	ms = patience(qp, reason, peer);
	if (ms)
		qp->timer = after(ms < INT32_MAX ? (unsigned int)ms : INT32_MAX, give_up, qp);
}

/* An unreliable connection's messages get lost, and it does not matter. */
static enum sent send_unreliable(struct queue_pair *qp, struct send *send, struct queue_pair *peer,
				 enum ibv_wc_status *status)
{
	enum sent sent = send_connected(qp, send, peer, status);

	return sent == SEND_FAILED && *status == IBV_WC_LOC_PROT_ERR ? SEND_FAILED : SENT;
}

/* False when the first send has to wait. */
static bool send_first(struct queue_pair *qp)
{
	struct send *send = send_take(qp);
	struct queue_pair *peer = queue_pair_find(qp->attr.dest_qp_num);
	enum ibv_wc_status status = IBV_WC_SUCCESS;
	enum sent sent;

	if (qp->type == IBV_QPT_UD)
		sent = send_datagram(qp, send, &status);
	else if (qp->type == IBV_QPT_UC)
		sent = send_unreliable(qp, send, peer, &status);
	else
		sent = send_connected(qp, send, peer, &status);
	if (sent == WAITS_FOR_RECEIVE && !qp->attr.rnr_retry) {
		status = IBV_WC_RNR_RETRY_EXC_ERR;
		sent = SEND_FAILED;
	}
	if (sent == WAITS_FOR_PEER || sent == WAITS_FOR_RECEIVE) {
		send_return(qp, send);
		wait_for(qp, sent == WAITS_FOR_PEER ? IBV_WC_RETRY_EXC_ERR : IBV_WC_RNR_RETRY_EXC_ERR, peer);
		return false;
	}
	stop_waiting(qp);
	complete_send(qp, send, status);
	if (sent == SEND_FAILED && qp->type == IBV_QPT_UD && qp->attr.qp_state == IBV_QPS_RTS)
		fail_sends(qp);
	else if (sent == SEND_FAILED)
		queue_pair_fail(qp);
	return true;
}

void queue_pair_run(struct queue_pair *qp)
{
	while (qp->first && qp->attr.qp_state == IBV_QPS_RTS && !qp->object.context->gone) {
		if (qp->must_wait) {
			/* As long as it takes. */
			if (!qp->waits) {
				qp->waits = IBV_WC_GENERAL_ERR;
				waiting++;
			}
			return;
		}
		if (!send_first(qp))
			return;
	}
}

void run_waiting(void)
{
	for (struct queue_pair *qp = queue_pairs; qp && waiting; qp = qp->next)
		if (qp->waits)
			queue_pair_run(qp);
}

static bool may_send(const struct queue_pair *qp, uint32_t opcode)
{
	enum {
		MESSAGES = 1 << IBV_WR_SEND,
		WITH_DATA = 1 << IBV_WR_SEND_WITH_IMM,
		WRITES = 1 << IBV_WR_RDMA_WRITE | 1 << IBV_WR_RDMA_WRITE_WITH_IMM,
		READS = 1 << IBV_WR_RDMA_READ,
		ATOMICS = 1 << IBV_WR_ATOMIC_CMP_AND_SWP | 1 << IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	unsigned int known;

	if (qp->object.context->device->link == LINK_IWARP)
		known = MESSAGES | 1 << IBV_WR_RDMA_WRITE | READS;
	else if (qp->type == IBV_QPT_UD)
		known = MESSAGES | WITH_DATA;
	else if (qp->type == IBV_QPT_UC)
		known = MESSAGES | WITH_DATA | WRITES;
	else if (qp->type == IBV_QPT_XRC_RECV)
		known = 0;
	else
		known = MESSAGES | WITH_DATA | WRITES | READS | ATOMICS;
	return opcode < 32 && (known >> opcode & 1);
}

static long check_send(const struct queue_pair *qp, const struct verbs_send *wr, size_t size)
{
	bool reads = wr->opcode >= IBV_WR_RDMA_READ;

	if (wr->flags & IBV_SEND_INLINE) {
		if (reads || wr->bytes > qp->attr.cap.max_inline_data || size != wr->bytes)
			return -EINVAL;
	} else if (wr->sges > qp->attr.cap.max_send_sge || size != wr->sges * sizeof(struct ibv_sge)) {
		return -EINVAL;
	}
	if (!may_send(qp, wr->opcode) || qp->attr.qp_state < IBV_QPS_RTS)
		return -EINVAL;
	return qp->sends >= qp->attr.cap.max_send_wr ? -ENOMEM : 0;
}

CALL(call_post_send)
{
	const struct verbs_send *in = call->in;
	size_t size = call->in_size - sizeof(*in);
	struct context *context = context_find(call->client, in->qp.context);
	struct queue_pair *qp = context ? object_find(context, UVERBS_OBJECT_QP, in->qp.handle) : NULL;
	struct address_handle *ah = NULL;
	struct send *send;
	long error;

	if (!qp)
		return -errno;
	error = check_send(qp, in, size);
	if (error)
		return error;
	if (qp->type == IBV_QPT_UD && !(ah = object_find(context, UVERBS_OBJECT_AH, in->ah)))
		return -EINVAL;
	send = take(sizeof(*send) + size);
	send->wr = *in;
	memcpy(send->sge, in + 1, size);
	send->length = in->bytes;
	if (!(in->flags & IBV_SEND_INLINE))
		for (uint32_t i = 0; i < in->sges; i++)
			send->length += send->sge[i].length;
	if (ah)
		send->path = ah->attr;
	if (qp->last)
		qp->last->next = send;
	else
		qp->first = send;
	qp->last = send;
	qp->sends++;
	if (qp->attr.qp_state == IBV_QPS_ERR)
		queue_pair_flush(qp);
	else if (qp->attr.qp_state == IBV_QPS_SQE)
		fail_sends(qp);
	else
		queue_pair_run(qp);
	run_waiting();
	return 0;
}
