/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Queue pairs: from their making to their end, without what they send. */
#include "verbs.h"

#include "loop.h"

#include <errno.h>
#include <string.h>

struct queue_pair *queue_pairs;

/* 24 bits; the upper ones tell a queue pair from an earlier one with the same handle. */
static uint32_t make_number(const struct object *object)
{
	return (object->generation & 0xf) << 20 | object->handle;
}

struct queue_pair *queue_pair_find(uint32_t number)
{
	struct queue_pair *qp = object_at(UVERBS_OBJECT_QP, number & 0xfffff);

	return qp && qp->number == number && !qp->object.context->gone ? qp : NULL;
}

bool verbs_has_queue_pair(const struct device *device, uint32_t number)
{
	const struct queue_pair *qp = queue_pair_find(number);

	return qp && qp->object.context->device == device;
}

static bool is_extended(enum ibv_qp_type type)
{
	return type == IBV_QPT_XRC_SEND || type == IBV_QPT_XRC_RECV;
}

static int check_new(const struct verbs_new_qp *wanted, const struct device *device)
{
	const struct ibv_qp_cap *cap = &wanted->cap;

	switch (wanted->type) {
	case IBV_QPT_RC:
		break;
	case IBV_QPT_UC:
	case IBV_QPT_UD:
		if (device->link == LINK_IWARP)
			return EOPNOTSUPP;
		break;
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		if (!device->has_xrc)
			return EINVAL;
		break;
	default:
		return EOPNOTSUPP;
	}
	if (cap->max_send_wr > DEVICE_MAX_QP_WR || cap->max_recv_wr > DEVICE_MAX_QP_WR ||
	    cap->max_send_sge > VERBS_MAX_SGE || cap->max_recv_sge > VERBS_MAX_SGE ||
	    cap->max_inline_data > VERBS_MAX_INLINE)
		return EINVAL;
	return 0;
}

/* Finds what it needs; false when that is not there. */
static bool find_needed(struct context *context, const struct verbs_new_qp *wanted, struct queue_pair *found)
{
	bool sends = wanted->type != IBV_QPT_XRC_RECV, receives = !is_extended(wanted->type);

	if (sends) {
		found->pd = object_find(context, UVERBS_OBJECT_PD, wanted->pd);
		found->send_cq = object_find(context, UVERBS_OBJECT_CQ, wanted->send_cq);
		if (!found->pd || !found->send_cq)
			return false;
	} else {
		found->xrcd = object_find(context, UVERBS_OBJECT_XRCD, wanted->xrcd);
		if (!found->xrcd)
			return false;
	}
	if (receives) {
		found->recv_cq = object_find(context, UVERBS_OBJECT_CQ, wanted->recv_cq);
		if (!found->recv_cq)
			return false;
		if (wanted->srq != VERBS_NONE) {
			found->srq = object_find(context, UVERBS_OBJECT_SRQ, wanted->srq);
			if (!found->srq || found->srq->xrcd)
				return false;
		}
	}
	return true;
}

CALL(call_create_qp)
{
	const struct verbs_new_qp *in = call->in;
	struct verbs_made_qp *out = call->out;
	struct context *context = context_find(call->client, in->context);
	struct queue_pair needed = { 0 }, *qp;
	int error;

	if (!context)
		return -errno;
	error = check_new(in, context->device);
	if (error)
		return -error;
	if (!find_needed(context, in, &needed))
		return -EINVAL;
	qp = object_new(context, UVERBS_OBJECT_QP, sizeof(*qp), in->cookie);
	if (!qp)
		return -errno;
	qp->number = make_number(&qp->object);
	qp->type = in->type;
	qp->signal_all = in->signal_all;
	qp->attr.cap = in->cap;
	/* Where descriptions of memory fit, as much data does, as on soft RoCE. */
	if (qp->attr.cap.max_inline_data < in->cap.max_send_sge * sizeof(struct ibv_sge))
		qp->attr.cap.max_inline_data = (uint32_t)(in->cap.max_send_sge * sizeof(struct ibv_sge));
	if (is_extended(qp->type) || needed.srq)
		qp->attr.cap.max_recv_wr = qp->attr.cap.max_recv_sge = 0;
	qp->receives.max_count = qp->attr.cap.max_recv_wr;
	qp->receives.max_sges = qp->attr.cap.max_recv_sge;
	qp->ece = (struct ibv_ece){ .vendor_id = DEVICE_ECE_VENDOR, .options = DEVICE_ECE_OPTIONS };
	qp->pd = object_use(needed.pd);
	qp->xrcd = object_use(needed.xrcd);
	qp->send_cq = object_use(needed.send_cq);
	qp->recv_cq = object_use(needed.recv_cq);
	qp->srq = object_use(needed.srq);
	qp->next = queue_pairs;
	queue_pairs = qp;
	*out = (struct verbs_made_qp){ qp->object.handle, qp->number, qp->attr.cap };
	return 0;
}

void queue_pair_forget_work(struct queue_pair *qp)
{
	struct send *send;

	stop_waiting(qp);
	receives_free(&qp->receives);
	while ((send = send_take(qp)))
		free(send);
}

void queue_pair_free(struct queue_pair *qp)
{
	struct queue_pair **link = &queue_pairs;

	queue_pair_forget_work(qp);
	while (*link != qp)
		link = &(*link)->next;
	*link = qp->next;
	object_leave(qp->pd);
	object_leave(qp->xrcd);
	object_leave(qp->send_cq);
	object_leave(qp->recv_cq);
	object_leave(qp->srq);
	object_free(&qp->object);
}

void queue_pair_flush(struct queue_pair *qp)
{
	struct receive *receive;
	struct send *send;

	stop_waiting(qp);
	while ((send = send_take(qp)))
		complete_send(qp, send, IBV_WC_WR_FLUSH_ERR);
	while ((receive = receive_take(&qp->receives))) {
		const struct ibv_wc completion = {
			.wr_id = receive->id,
			.status = IBV_WC_WR_FLUSH_ERR,
			.opcode = IBV_WC_RECV,
			.qp_num = qp->number,
		};

		completion_add(qp->recv_cq, &completion, false);
		free(receive);
	}
}

void queue_pair_fail(struct queue_pair *qp)
{
	if (qp->attr.qp_state == IBV_QPS_ERR)
		return;
	qp->attr.qp_state = IBV_QPS_ERR;
	queue_pair_flush(qp);
	if (qp->srq)
		object_event(&qp->object, IBV_EVENT_QP_LAST_WQE_REACHED);
}

bool is_good_path(const struct device *device, const struct ibv_ah_attr *path)
{
	if (!path->port_num || path->port_num > device->port_count)
		return false;
	if (!path->is_global)
		return device->link == LINK_INFINIBAND;
	return path->grh.sgid_index < GID_TABLE_SIZE &&
	       device->ports[path->port_num - 1].gids[path->grh.sgid_index].type != GID_NONE;
}

static bool is_good(const struct queue_pair *qp, const struct ibv_qp_attr *attr, uint32_t mask)
{
	const struct device *device = qp->object.context->device;
	uint8_t port = mask & IBV_QP_PORT ? attr->port_num : qp->attr.port_num;

	if ((mask & IBV_QP_PORT) && (!port || port > device->port_count))
		return false;
	if ((mask & IBV_QP_PKEY_INDEX) && (!port || attr->pkey_index >= PKEY_TABLE_SIZE ||
					   !device->ports[port - 1].pkeys[attr->pkey_index]))
		return false;
	if ((mask & IBV_QP_AV) && !is_good_path(device, &attr->ah_attr))
		return false;
	if ((mask & IBV_QP_PATH_MTU) && (attr->path_mtu < IBV_MTU_256 || attr->path_mtu > IBV_MTU_4096))
		return false;
	if ((mask & IBV_QP_DEST_QPN) && attr->dest_qp_num > 0xffffff)
		return false;
	return !((mask & IBV_QP_TIMEOUT) && attr->timeout > 31) &&
	       !((mask & IBV_QP_MIN_RNR_TIMER) && attr->min_rnr_timer > 31) &&
	       !((mask & IBV_QP_MAX_QP_RD_ATOMIC) && attr->max_rd_atomic > DEVICE_MAX_READS) &&
	       !((mask & IBV_QP_MAX_DEST_RD_ATOMIC) && attr->max_dest_rd_atomic > DEVICE_MAX_READS);
}

#define SET(bit, field)                              \
	do {                                         \
		if (mask & (bit))                    \
			now->field = attr->field;    \
	} while (0)

static void set_attributes(struct ibv_qp_attr *now, const struct ibv_qp_attr *attr, uint32_t mask)
{
	SET(IBV_QP_ACCESS_FLAGS, qp_access_flags);
	SET(IBV_QP_PKEY_INDEX, pkey_index);
	SET(IBV_QP_PORT, port_num);
	SET(IBV_QP_QKEY, qkey);
	SET(IBV_QP_AV, ah_attr);
	SET(IBV_QP_PATH_MTU, path_mtu);
	SET(IBV_QP_TIMEOUT, timeout);
	SET(IBV_QP_RETRY_CNT, retry_cnt);
	SET(IBV_QP_RNR_RETRY, rnr_retry);
	SET(IBV_QP_RQ_PSN, rq_psn);
	SET(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	SET(IBV_QP_ALT_PATH, alt_ah_attr);
	SET(IBV_QP_ALT_PATH, alt_port_num);
	SET(IBV_QP_ALT_PATH, alt_pkey_index);
	SET(IBV_QP_ALT_PATH, alt_timeout);
	SET(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
	SET(IBV_QP_SQ_PSN, sq_psn);
	SET(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	SET(IBV_QP_PATH_MIG_STATE, path_mig_state);
	SET(IBV_QP_DEST_QPN, dest_qp_num);
	/* Programs ask for more than three bits hold, and devices let them. */
	now->retry_cnt &= 7;
	now->rnr_retry &= 7;
}

static void enter(struct queue_pair *qp, enum ibv_qp_state state, bool tell_when_drained)
{
	struct ibv_qp_cap cap = qp->attr.cap;

	switch (state) {
	case IBV_QPS_RESET:
		queue_pair_forget_work(qp);
		memset(&qp->attr, 0, sizeof(qp->attr));
		qp->attr.cap = cap;
		qp->established = false;
		break;
	case IBV_QPS_ERR:
		queue_pair_fail(qp);
		break;
	case IBV_QPS_SQD:
		/* Nothing is ever on its way. */
		stop_waiting(qp);
		qp->attr.qp_state = state;
		if (tell_when_drained)
			object_event(&qp->object, IBV_EVENT_SQ_DRAINED);
		break;
	default:
		qp->attr.qp_state = state;
		queue_pair_run(qp);
	}
}

/* An RNIC's queue pairs are moved by the connection manager: programs set rights, and may only end one. */
static long modify_iwarp(struct queue_pair *qp, const struct verbs_changed_qp *in)
{
	enum ibv_qp_state to = in->mask & IBV_QP_STATE ? in->attr.qp_state : qp->attr.qp_state;

	if (!is_good(qp, &in->attr, in->mask & (IBV_QP_PORT | IBV_QP_PKEY_INDEX)))
		return -EINVAL;
	set_attributes(&qp->attr, &in->attr, in->mask);
	switch (to) {
	case IBV_QPS_RESET:
	case IBV_QPS_ERR:
		enter(qp, to, false);
		return 0;
	case IBV_QPS_SQD:
		verbs_iwarp_disconnect(qp->number);
		return 0;
	case IBV_QPS_INIT:
	case IBV_QPS_RTR:
		if (qp->attr.qp_state == IBV_QPS_RESET)
			qp->attr.qp_state = IBV_QPS_INIT;
		return qp->attr.qp_state == IBV_QPS_INIT ? 0 : -EINVAL;
	default:
		return qp->attr.qp_state == to ? 0 : -EINVAL;
	}
}

CALL(call_modify_qp)
{
	const struct verbs_changed_qp *in = call->in;
	struct context *context = context_find(call->client, in->qp.context);
	struct queue_pair *qp = context ? object_find(context, UVERBS_OBJECT_QP, in->qp.handle) : NULL;
	enum ibv_qp_state to;
	long result;

	if (!qp)
		return -errno;
	if (context->device->link == LINK_IWARP) {
		result = modify_iwarp(qp, in);
		run_waiting();
		return result;
	}
	if ((in->mask & IBV_QP_CUR_STATE) && in->attr.cur_qp_state != qp->attr.qp_state)
		return -EINVAL;
	to = in->mask & IBV_QP_STATE ? in->attr.qp_state : qp->attr.qp_state;
	if (check_transition(qp->type, qp->attr.qp_state, to, in->mask) || !is_good(qp, &in->attr, in->mask))
		return -EINVAL;
	set_attributes(&qp->attr, &in->attr, in->mask);
	if (in->mask & IBV_QP_STATE)
		enter(qp, to, (in->mask & IBV_QP_EN_SQD_ASYNC_NOTIFY) && in->attr.en_sqd_async_notify);
	run_waiting();
	return 0;
}

CALL(call_query_qp)
{
	const struct verbs_name *in = call->in;
	struct verbs_queried_qp *out = call->out;
	struct context *context = context_find(call->client, in->context);
	struct queue_pair *qp = context ? object_find(context, UVERBS_OBJECT_QP, in->handle) : NULL;

	if (!qp)
		return -errno;
	*out = (struct verbs_queried_qp){ qp->attr, qp->attr.cap, qp->signal_all };
	out->attr.cur_qp_state = qp->attr.qp_state;
	return 0;
}

bool verbs_iwarp_connect(uint32_t active, uint32_t passive, bool reads)
{
	struct queue_pair *ends[] = { queue_pair_find(active), queue_pair_find(passive) };

	if (!ends[0] || !ends[1] || ends[0]->attr.qp_state > IBV_QPS_RTR || ends[1]->attr.qp_state > IBV_QPS_RTR)
		return false;
	for (int i = 0; i < 2; i++) {
		ends[i]->attr.dest_qp_num = ends[!i]->number;
		ends[i]->attr.qp_state = IBV_QPS_RTS;
		ends[i]->must_wait = i == 1 && !reads;
	}
	return true;
}

void verbs_iwarp_disconnect(uint32_t number)
{
	struct queue_pair *qp = queue_pair_find(number);
	struct queue_pair *peer = qp ? queue_pair_find(qp->attr.dest_qp_num) : NULL;

	if (qp && qp->attr.qp_state == IBV_QPS_RTS)
		queue_pair_fail(qp);
	if (peer && peer->attr.dest_qp_num == number && peer->attr.qp_state == IBV_QPS_RTS)
		queue_pair_fail(peer);
}
