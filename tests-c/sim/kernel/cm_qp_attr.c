/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a queue pair is to be set to, on the way to a connection. */
#include "cm.h"

#include <errno.h>

enum { STATE_INIT = 1, STATE_RTR, STATE_RTS, STATE_ERR = 6 };

enum {
	MASK_STATE = 1 << 0,
	MASK_ACCESS = 1 << 3,
	MASK_PKEY_INDEX = 1 << 4,
	MASK_PORT = 1 << 5,
	MASK_QKEY = 1 << 6,
	MASK_AV = 1 << 7,
	MASK_PATH_MTU = 1 << 8,
	MASK_TIMEOUT = 1 << 9,
	MASK_RETRY = 1 << 10,
	MASK_RNR_RETRY = 1 << 11,
	MASK_RQ_PSN = 1 << 12,
	MASK_MAX_QP_RD = 1 << 13,
	MASK_MIN_RNR_TIMER = 1 << 15,
	MASK_SQ_PSN = 1 << 16,
	MASK_MAX_DEST_RD = 1 << 17,
	MASK_DEST_QPN = 1 << 20,
};

enum { ACCESS_REMOTE_WRITE = 2, ACCESS_REMOTE_READ = 4, ACCESS_REMOTE_ATOMIC = 8, ACCESS_FLUSH = 0x300 };

/* What a side may do: of the request, the asking one, of the answer, both. */
static uint8_t responder_resources(const struct cm_id *id)
{
	return id->handshake == HANDSHAKE_REQUESTED ? id->received.conn.responder_resources
						    : id->sent.conn.responder_resources;
}

static uint8_t initiator_depth(const struct cm_id *id)
{
	return id->handshake == HANDSHAKE_REQUESTED ? id->received.conn.initiator_depth
						    : id->sent.conn.initiator_depth;
}

/* Before anything was asked, and for datagrams. */
static void prepare(const struct cm_id *id, struct ib_uverbs_qp_attr *attr)
{
	attr->port_num = id->port;
	if (id->qp_type == QP_TYPE_UD) {
		attr->qkey = CM_QKEY;
		attr->qp_attr_mask = MASK_STATE | MASK_PKEY_INDEX | MASK_PORT | MASK_QKEY;
	} else {
		attr->qp_attr_mask = MASK_STATE | MASK_PKEY_INDEX | MASK_PORT | MASK_ACCESS;
	}
}

static void to_init(const struct cm_id *id, struct ib_uverbs_qp_attr *attr)
{
	prepare(id, attr);
	attr->qp_access_flags = ACCESS_REMOTE_WRITE;
	if (responder_resources(id))
		attr->qp_access_flags |= ACCESS_REMOTE_READ | ACCESS_REMOTE_ATOMIC | ACCESS_FLUSH;
}

static bool is_reliable(const struct cm_id *id)
{
	return id->qp_type != QP_TYPE_UC;
}

static void to_rtr(const struct cm_id *id, struct ib_uverbs_qp_attr *attr)
{
	attr->qp_attr_mask = MASK_STATE | MASK_AV | MASK_PATH_MTU | MASK_DEST_QPN | MASK_RQ_PSN;
	fill_ah_attr(id, id->dgid, &attr->ah_attr);
	attr->path_mtu = id->paths[0].rec.mtu;
	attr->dest_qp_num = id->received.conn.qp_num;
	attr->rq_psn = id->rq_psn;
	if (!is_reliable(id))
		return;
	attr->qp_attr_mask |= MASK_MAX_DEST_RD | MASK_MIN_RNR_TIMER;
	attr->max_dest_rd_atomic = responder_resources(id);
}

static void to_rts(const struct cm_id *id, struct ib_uverbs_qp_attr *attr)
{
	bool asked = id->handshake == HANDSHAKE_REQUESTED || id->received.conn.retry_count;

	attr->qp_attr_mask = MASK_STATE | MASK_SQ_PSN;
	attr->sq_psn = id->sq_psn;
	if (!is_reliable(id))
		return;
	attr->qp_attr_mask |= MASK_TIMEOUT | MASK_RETRY | MASK_RNR_RETRY | MASK_MAX_QP_RD;
	attr->timeout = id->has_ack_timeout ? id->ack_timeout : (uint8_t)(id->paths[0].rec.packet_life_time + 1);
	/* The asking side's numbers count, except for the one that the answer has too. */
	attr->retry_cnt = asked ? id->received.conn.retry_count : id->sent.conn.retry_count;
	attr->rnr_retry = id->received.conn.rnr_retry_count;
	attr->max_rd_atomic = initiator_depth(id);
}

static int iwarp(const struct cm_id *id, uint32_t state, struct ib_uverbs_qp_attr *attr)
{
	if (!id->handshake || state == STATE_INIT) {
		attr->qp_attr_mask = MASK_STATE | MASK_ACCESS;
		attr->qp_access_flags = id->handshake ? ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ : 0;
	} else if (state != STATE_RTR && state != STATE_RTS) {
		return -EINVAL;
	}
	attr->qp_attr_mask |= MASK_PORT;
	attr->port_num = id->port;
	return 0;
}

static int infiniband(const struct cm_id *id, uint32_t state, struct ib_uverbs_qp_attr *attr)
{
	if (id->qp_type == QP_TYPE_UD || !id->handshake) {
		prepare(id, attr);
		return 0;
	}
	if (id->handshake >= HANDSHAKE_ENDING)
		return -EINVAL;
	if (state == STATE_INIT) {
		to_init(id, attr);
		return 0;
	}
	if (id->handshake == HANDSHAKE_ASKED)
		return -EINVAL;
	if (state == STATE_RTR)
		to_rtr(id, attr);
	else if (state == STATE_RTS)
		to_rts(id, attr);
	else
		return -EINVAL;
	return 0;
}

long cm_init_qp_attr(struct cm_call *call)
{
	const struct rdma_ucm_init_qp_attr *init = call->command;
	struct ib_uverbs_qp_attr attr = { .qp_state = init->qp_state };
	struct cm_id *id = call->id;
	long error;

	if (init->qp_state > STATE_ERR)
		return -EINVAL;
	if (!id->device)
		return -EINVAL;
	error = id->device->link == LINK_IWARP ? iwarp(id, init->qp_state, &attr) : infiniband(id, init->qp_state, &attr);
	if (!error)
		cm_answer(call, init->response, &attr, sizeof(attr));
	return error;
}
