/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Work requests. */
#include "inside.h"

#include <string.h>

/* Collects data that goes along; false if that is more than any device takes. */
static bool gather(const struct ibv_send_wr *wr, unsigned char data[VERBS_MAX_INLINE], uint32_t *bytes)
{
	*bytes = 0;
	for (int i = 0; i < wr->num_sge; i++) {
		const struct ibv_sge *sge = &wr->sg_list[i];

		if (sge->length > VERBS_MAX_INLINE - *bytes)
			return false;
		memcpy(data + *bytes, (const void *)(uintptr_t)sge->addr, sge->length);
		*bytes += sge->length;
	}
	return true;
}

static void fill(struct verbs_send *send, const struct ibv_qp *qp, const struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_RDMA_READ:
		send->address = wr->wr.rdma.remote_addr;
		send->key = wr->wr.rdma.rkey;
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		send->address = wr->wr.atomic.remote_addr;
		send->key = wr->wr.atomic.rkey;
		send->compare_add = wr->wr.atomic.compare_add;
		send->swap = wr->wr.atomic.swap;
		break;
	default:
		break;
	}
	if (qp->qp_type == IBV_QPT_UD) {
		send->ah = HANDLE(wr->wr.ud.ah);
		send->remote_qpn = wr->wr.ud.remote_qpn;
		send->remote_qkey = wr->wr.ud.remote_qkey;
	}
	if (qp->qp_type == IBV_QPT_XRC_SEND)
		send->remote_srqn = wr->qp_type.xrc.remote_srqn;
}

static int send_one(struct ibv_qp *qp, const struct ibv_send_wr *wr)
{
	unsigned char data[VERBS_MAX_INLINE];
	struct verbs_send send = {
		.qp = name_of(qp->context, qp->handle),
		.id = wr->wr_id,
		.opcode = wr->opcode,
		.flags = wr->send_flags,
		.immediate = wr->imm_data,
	};
	size_t answer_size;

	if (wr->num_sge < 0 || wr->num_sge > VERBS_MAX_SGE)
		return EINVAL;
	fill(&send, qp, wr);
	if (!(wr->send_flags & IBV_SEND_INLINE)) {
		send.sges = (uint32_t)wr->num_sge;
		return sim_call_parts(VERBS_POST_SEND, &send, sizeof(send), wr->sg_list,
				      send.sges * sizeof(struct ibv_sge), NULL, 0, &answer_size) < 0 ? errno : 0;
	}
	if (!gather(wr, data, &send.bytes))
		return EINVAL;
	return sim_call_parts(VERBS_POST_SEND, &send, sizeof(send), data, send.bytes, NULL, 0, &answer_size) < 0 ?
		       errno : 0;
}

int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	for (; wr; wr = wr->next) {
		int error = send_one(qp, wr);

		if (error) {
			*bad = wr;
			return error;
		}
	}
	return 0;
}

static int receive_all(struct verbs_name queue, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	for (; wr; wr = wr->next) {
		struct verbs_recv receive = { .queue = queue, .id = wr->wr_id, .sges = (uint32_t)wr->num_sge };
		size_t answer_size;
		int error = 0;

		if (wr->num_sge < 0 || wr->num_sge > VERBS_MAX_SGE)
			error = EINVAL;
		else if (sim_call_parts(VERBS_POST_RECV, &receive, sizeof(receive), wr->sg_list,
					receive.sges * sizeof(struct ibv_sge), NULL, 0, &answer_size) < 0)
			error = errno;
		if (error) {
			*bad = wr;
			return error;
		}
	}
	return 0;
}

int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return receive_all(name_of(qp->context, qp->handle), wr, bad);
}

int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return receive_all(name_of(srq->context, srq->handle), wr, bad);
}
