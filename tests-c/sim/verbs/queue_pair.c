/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Queue pairs and shared receive queues. */
#include "inside.h"

#include <stdlib.h>

struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	enum { KNOWN = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ };
	struct sim_srq *srq = calloc(1, sizeof(*srq));
	struct verbs_new_srq wanted = {
		.context = number_of(context),
		.type = attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE ? attr->srq_type : IBV_SRQT_BASIC,
		.attr = attr->attr,
		.xrcd = VERBS_NONE,
		.cq = VERBS_NONE,
		.cookie = (uintptr_t)srq,
	};
	struct verbs_made_srq made;

	if (!srq)
		return NULL;
	if ((attr->comp_mask & ~(uint32_t)KNOWN) || !(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD)) {
		free(srq);
		errno = attr->comp_mask & ~(uint32_t)KNOWN ? EOPNOTSUPP : EINVAL;
		return NULL;
	}
	wanted.pd = attr->pd->handle;
	if (attr->comp_mask & IBV_SRQ_INIT_ATTR_XRCD)
		wanted.xrcd = ((struct sim_xrcd *)attr->xrcd)->handle;
	if (attr->comp_mask & IBV_SRQ_INIT_ATTR_CQ)
		wanted.cq = attr->cq->handle;
	if (ASK(VERBS_CREATE_SRQ, &wanted, &made)) {
		free(srq);
		return NULL;
	}
	attr->attr = made.attr;
	srq->number = made.number;
	srq->srq.context = context;
	srq->srq.srq_context = attr->srq_context;
	srq->srq.pd = attr->pd;
	srq->srq.handle = made.handle;
	pthread_mutex_init(&srq->srq.mutex, NULL);
	pthread_cond_init(&srq->srq.cond, NULL);
	return &srq->srq;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct ibv_srq_init_attr_ex extended = {
		.srq_context = attr->srq_context,
		.attr = attr->attr,
		.comp_mask = IBV_SRQ_INIT_ATTR_PD,
		.pd = pd,
	};
	struct ibv_srq *srq = create_srq_ex(pd->context, &extended);

	if (srq)
		attr->attr = extended.attr;
	return srq;
}

int get_srq_num(struct ibv_srq *srq, uint32_t *number)
{
	*number = ((struct sim_srq *)srq)->number;
	return 0;
}

int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	struct verbs_changed_srq wanted = { name_of(srq->context, srq->handle), *attr, (uint32_t)mask };

	return TELL(VERBS_MODIFY_SRQ, &wanted);
}

int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	struct verbs_name name = name_of(srq->context, srq->handle);

	return ASK(VERBS_QUERY_SRQ, &name, attr);
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	struct verbs_reported reported;
	int error = destroy(srq->context, srq->handle, &reported);

	if (error)
		return error;
	wait_acknowledged(&srq->mutex, &srq->cond, &srq->events_completed, reported.async);
	pthread_mutex_destroy(&srq->mutex);
	pthread_cond_destroy(&srq->cond);
	free(srq);
	return 0;
}

struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	enum { KNOWN = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD };
	bool sends = attr->qp_type != IBV_QPT_XRC_RECV, receives = sends && attr->qp_type != IBV_QPT_XRC_SEND;
	struct ibv_qp *qp = calloc(1, sizeof(*qp));
	struct verbs_new_qp wanted = {
		.context = number_of(context),
		.pd = VERBS_NONE,
		.xrcd = VERBS_NONE,
		/* As the real library, which does not look whether there are any. */
		.send_cq = sends ? attr->send_cq->handle : VERBS_NONE,
		.recv_cq = receives ? attr->recv_cq->handle : VERBS_NONE,
		.srq = HANDLE(attr->srq),
		.type = attr->qp_type,
		.signal_all = (uint32_t)!!attr->sq_sig_all,
		.cap = attr->cap,
		.cookie = (uintptr_t)qp,
	};
	struct verbs_made_qp made;

	if (!qp)
		return NULL;
	if (attr->comp_mask & ~(uint32_t)KNOWN) {
		free(qp);
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (attr->comp_mask & IBV_QP_INIT_ATTR_PD) {
		wanted.pd = HANDLE(attr->pd);
		qp->pd = attr->pd;
	}
	if (attr->comp_mask & IBV_QP_INIT_ATTR_XRCD)
		wanted.xrcd = attr->xrcd ? ((struct sim_xrcd *)attr->xrcd)->handle : VERBS_NONE;
	if (ASK(VERBS_CREATE_QP, &wanted, &made)) {
		free(qp);
		return NULL;
	}
	attr->cap = made.cap;
	qp->context = context;
	qp->qp_context = attr->qp_context;
	qp->send_cq = attr->send_cq;
	qp->recv_cq = attr->recv_cq;
	qp->srq = attr->srq;
	qp->handle = made.handle;
	qp->qp_num = made.number;
	qp->state = IBV_QPS_RESET;
	qp->qp_type = attr->qp_type;
	pthread_mutex_init(&qp->mutex, NULL);
	pthread_cond_init(&qp->cond, NULL);
	return qp;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex extended = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct ibv_qp *qp = create_qp_ex(pd->context, &extended);

	if (qp)
		attr->cap = extended.cap;
	return qp;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct verbs_changed_qp wanted = { name_of(qp->context, qp->handle), (uint32_t)mask, *attr };
	int error = TELL(VERBS_MODIFY_QP, &wanted);

	if (!error && (mask & IBV_QP_STATE))
		qp->state = attr->qp_state;
	return error;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	struct verbs_name name = name_of(qp->context, qp->handle);
	struct verbs_queried_qp queried;
	int error = ASK(VERBS_QUERY_QP, &name, &queried);

	(void)mask;
	if (error)
		return error;
	*attr = queried.attr;
	*init = (struct ibv_qp_init_attr){
		.qp_context = qp->qp_context,
		.send_cq = qp->send_cq,
		.recv_cq = qp->recv_cq,
		.srq = qp->srq,
		.cap = queried.cap,
		.qp_type = qp->qp_type,
		.sq_sig_all = (int)queried.signal_all,
	};
	qp->state = attr->qp_state;
	return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	struct verbs_reported reported;
	int error = destroy(qp->context, qp->handle, &reported);

	if (error)
		return error;
	wait_acknowledged(&qp->mutex, &qp->cond, &qp->events_completed, reported.async);
	pthread_mutex_destroy(&qp->mutex);
	pthread_cond_destroy(&qp->cond);
	free(qp);
	return 0;
}

int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	struct verbs_ece wanted = { name_of(qp->context, qp->handle), *ece };

	return ece->comp_mask ? failed(EOPNOTSUPP) : TELL(VERBS_SET_ECE, &wanted);
}

int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	struct verbs_name name = name_of(qp->context, qp->handle);

	return ASK(VERBS_QUERY_ECE, &name, ece);
}
