/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Places for messages to come: those of queue pairs, and shared queues of them. */
#include "verbs.h"

#include <errno.h>
#include <string.h>

/* 0, or a negative errno. */
static int receive_add(struct receive_queue *queue, const struct verbs_recv *wr)
{
	struct receive *receive;

	if (wr->sges > queue->max_sges)
		return -EINVAL;
	if (queue->count >= queue->max_count)
		return -ENOMEM;
	receive = take(sizeof(*receive) + wr->sges * sizeof(struct ibv_sge));
	receive->id = wr->id;
	receive->sges = wr->sges;
	memcpy(receive->sge, wr + 1, wr->sges * sizeof(struct ibv_sge));
	if (queue->last)
		queue->last->next = receive;
	else
		queue->first = receive;
	queue->last = receive;
	queue->count++;
	return 0;
}

struct receive *receive_take(struct receive_queue *queue)
{
	struct receive *receive = queue->first;

	if (!receive)
		return NULL;
	queue->first = receive->next;
	if (!queue->first)
		queue->last = NULL;
	queue->count--;
	return receive;
}

void receives_free(struct receive_queue *queue)
{
	struct receive *receive;

	while ((receive = receive_take(queue)))
		free(receive);
}

static int post_to_queue_pair(struct queue_pair *qp, const struct verbs_recv *wr)
{
	int error;

	if (qp->srq || qp->attr.qp_state == IBV_QPS_RESET)
		return -EINVAL;
	error = receive_add(&qp->receives, wr);
	if (!error && qp->attr.qp_state == IBV_QPS_ERR)
		queue_pair_flush(qp);
	return error;
}

CALL(call_post_recv)
{
	const struct verbs_recv *in = call->in;
	struct context *context = context_find(call->client, in->queue.context);
	struct shared_queue *srq;
	struct queue_pair *qp;
	int error;

	if (!context)
		return -errno;
	if (in->sges > VERBS_MAX_SGE || call->in_size != sizeof(*in) + in->sges * sizeof(struct ibv_sge))
		return -EINVAL;
	qp = object_find(context, UVERBS_OBJECT_QP, in->queue.handle);
	srq = object_find(context, UVERBS_OBJECT_SRQ, in->queue.handle);
	if (!qp && !srq)
		return -EINVAL;
	error = qp ? post_to_queue_pair(qp, in) : receive_add(&srq->receives, in);
	run_waiting();
	return error;
}

CALL(call_create_srq)
{
	const struct verbs_new_srq *in = call->in;
	struct verbs_made_srq *out = call->out;
	struct context *context = context_find(call->client, in->context);
	struct object *pd = context ? object_find(context, UVERBS_OBJECT_PD, in->pd) : NULL;
	struct xrc_domain *xrcd = NULL;
	struct completion_queue *cq = NULL;
	struct shared_queue *srq;

	if (!pd)
		return -errno;
	if (in->type == IBV_SRQT_XRC && context->device->has_xrc) {
		xrcd = object_find(context, UVERBS_OBJECT_XRCD, in->xrcd);
		cq = object_find(context, UVERBS_OBJECT_CQ, in->cq);
		if (!xrcd || !cq)
			return -EINVAL;
	} else if (in->type != IBV_SRQT_BASIC) {
		return -EOPNOTSUPP;
	}
	if (!in->attr.max_wr || in->attr.max_wr > DEVICE_MAX_QP_WR || in->attr.max_sge > VERBS_MAX_SGE)
		return -EINVAL;
	srq = object_new(context, UVERBS_OBJECT_SRQ, sizeof(*srq), in->cookie);
	if (!srq)
		return -errno;
	srq->pd = object_use(pd);
	srq->xrcd = object_use(xrcd);
	srq->cq = object_use(cq);
	srq->receives.max_count = in->attr.max_wr;
	srq->receives.max_sges = in->attr.max_sge ? in->attr.max_sge : 1;
	*out = (struct verbs_made_srq){ .handle = srq->object.handle, .number = srq->object.handle, .attr = in->attr };
	out->attr.max_sge = srq->receives.max_sges;
	return 0;
}

/* As the limit is passed, which is told once. */
void shared_queue_taken(struct shared_queue *srq)
{
	if (srq->receives.count >= srq->limit)
		return;
	srq->limit = 0;
	object_event(&srq->object, IBV_EVENT_SRQ_LIMIT_REACHED);
}

CALL(call_modify_srq)
{
	const struct verbs_changed_srq *in = call->in;
	struct context *context = context_find(call->client, in->srq.context);
	struct shared_queue *srq = context ? object_find(context, UVERBS_OBJECT_SRQ, in->srq.handle) : NULL;
	uint32_t size;

	if (!srq)
		return -errno;
	if (in->mask & ~(uint32_t)(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT))
		return -EINVAL;
	size = in->mask & IBV_SRQ_MAX_WR ? in->attr.max_wr : srq->receives.max_count;
	if (!size || size > DEVICE_MAX_QP_WR || size < srq->receives.count)
		return -EINVAL;
	if ((in->mask & IBV_SRQ_LIMIT) && in->attr.srq_limit > size)
		return -EINVAL;
	srq->receives.max_count = size;
	if (in->mask & IBV_SRQ_LIMIT)
		srq->limit = in->attr.srq_limit;
	return 0;
}

CALL(call_query_srq)
{
	const struct verbs_name *in = call->in;
	struct context *context = context_find(call->client, in->context);
	struct shared_queue *srq = context ? object_find(context, UVERBS_OBJECT_SRQ, in->handle) : NULL;

	if (!srq)
		return -errno;
	*(struct ibv_srq_attr *)call->out = (struct ibv_srq_attr){
		.max_wr = srq->receives.max_count,
		.max_sge = srq->receives.max_sges,
		.srq_limit = srq->limit,
	};
	return 0;
}

void shared_queue_free(struct shared_queue *srq)
{
	receives_free(&srq->receives);
	object_leave(srq->pd);
	object_leave(srq->xrcd);
	object_leave(srq->cq);
	object_free(&srq->object);
}
