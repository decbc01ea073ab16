/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pair.h"

enum { SOON_MS = 5000, QKEY = 0x1234 };

/* On Ethernet the network address, which follows the one that each port has. */
static int gid_index;

uint8_t peer_timeout;

static void open_device(struct end *end)
{
	struct ibv_port_attr port;
	int count;
	struct ibv_device **list = ibv_get_device_list(&count);

	check(list && count >= 1, "no device: %m");
	end->context = ibv_open_device(list[0]);
	check(end->context, "ibv_open_device: %m");
	check_ok(ibv_query_port(end->context, 1, &port));
	gid_index = port.link_layer == IBV_LINK_LAYER_ETHERNET;
	ibv_free_device_list(list);
}

void open_end(struct end *end, enum ibv_qp_type type, bool shared)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = DEPTH, .max_sge = 2 } };
	struct ibv_qp_init_attr init = { .qp_type = type, .cap = { DEPTH, DEPTH, 4, 2, 64 } };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = EVERYTHING, .qkey = QKEY };
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	open_device(end);
	end->pd = ibv_alloc_pd(end->context);
	check(end->pd, "ibv_alloc_pd: %m");
	end->channel = ibv_create_comp_channel(end->context);
	check(end->channel, "ibv_create_comp_channel: %m");
	end->cq = ibv_create_cq(end->context, 4 * DEPTH, end, end->channel, 0);
	check(end->cq, "ibv_create_cq: %m");
	end->mr = ibv_reg_mr(end->pd, end->memory, MEMORY, EVERYTHING);
	check(end->mr, "ibv_reg_mr: %m");
	end->srq = shared ? ibv_create_srq(end->pd, &srq) : NULL;
	check(!shared || end->srq, "ibv_create_srq: %m");
	init.send_cq = init.recv_cq = end->cq;
	init.srq = end->srq;
	end->qp = ibv_create_qp(end->pd, &init);
	check(end->qp, "ibv_create_qp: %m");
	mask |= type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	check_ok(ibv_modify_qp(end->qp, &attr, mask));
}

void close_end(struct end *end)
{
	if (end->qp)
		check_ok(ibv_destroy_qp(end->qp));
	if (end->srq)
		check_ok(ibv_destroy_srq(end->srq));
	check_ok(ibv_dereg_mr(end->mr));
	check_ok(ibv_destroy_cq(end->cq));
	check_ok(ibv_destroy_comp_channel(end->channel));
	check_ok(ibv_dealloc_pd(end->pd));
	check_ok(ibv_close_device(end->context));
}

struct contact contact_of(const struct end *end)
{
	struct contact contact = { end->qp->qp_num, end->mr->rkey, (uintptr_t)end->memory, { { 0 } } };

	check_ok(ibv_query_gid(end->context, 1, gid_index, &contact.gid));
	return contact;
}

struct ibv_ah_attr path_to(const struct contact *peer)
{
	return (struct ibv_ah_attr){
		.is_global = 1,
		.port_num = 1,
		.grh = { .dgid = peer->gid, .sgid_index = (uint8_t)gid_index, .hop_limit = 64 },
	};
}

void make_ready_to_receive(struct end *end, const struct contact *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.ah_attr = path_to(peer),
		.dest_qp_num = peer->qpn,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 12,
	};

	int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;

	/* The sending end of an extended connection answers nothing. */
	if (end->qp->qp_type != IBV_QPT_XRC_SEND)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	check_ok(ibv_modify_qp(end->qp, &attr, mask));
}

void make_ready(struct end *end, const struct contact *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .timeout = peer_timeout, .retry_cnt = 3, .rnr_retry = 3, .max_rd_atomic = 4,
	};

	make_ready_to_receive(end, peer);
	check_ok(ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
						       IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

void open_pair(struct end *first, struct end *second, bool shared)
{
	struct contact contact;

	open_end(first, IBV_QPT_RC, false);
	open_end(second, IBV_QPT_RC, shared);
	contact = contact_of(second);
	make_ready(first, &contact);
	contact = contact_of(first);
	make_ready(second, &contact);
	memset(first->memory, 'a', MEMORY);
	memset(second->memory, 'b', MEMORY);
}

void close_pair(struct end *first, struct end *second)
{
	close_end(first);
	close_end(second);
}

struct ibv_sge piece(const struct end *end, size_t offset, uint32_t length)
{
	return (struct ibv_sge){ (uintptr_t)end->memory + offset, length, end->mr->lkey };
}

void post_receive(struct end *end, uint64_t id, size_t offset, uint32_t length)
{
	struct ibv_sge sge = piece(end, offset, length);
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 }, *bad;

	check_ok(end->srq ? ibv_post_srq_recv(end->srq, &wr, &bad) : ibv_post_recv(end->qp, &wr, &bad));
}

struct ibv_send_wr request(struct ibv_sge *sge, enum ibv_wr_opcode opcode, uint64_t id)
{
	return (struct ibv_send_wr){
		.wr_id = id, .sg_list = sge, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED,
	};
}

struct ibv_send_wr remote_request(const struct end *there, struct ibv_sge *sge, enum ibv_wr_opcode opcode, size_t offset)
{
	struct ibv_send_wr wr = request(sge, opcode, 1);

	wr.wr.rdma.remote_addr = (uintptr_t)there->memory + offset;
	wr.wr.rdma.rkey = there->mr->rkey;
	return wr;
}

void post(struct end *end, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	check_ok(ibv_post_send(end->qp, wr, &bad));
}

struct ibv_wc complete(struct ibv_cq *cq, uint64_t id, enum ibv_wc_status status)
{
	uint64_t limit = now_ms() + SOON_MS * time_scale();
	struct ibv_wc completion;

	while (!ibv_poll_cq(cq, 1, &completion))
		check(now_ms() < limit, "no completion %llu", (unsigned long long)id);
	check(completion.wr_id == id, "completion %llu, not %llu", (unsigned long long)completion.wr_id,
	      (unsigned long long)id);
	check(completion.status == status, "completion %llu: %s, not %s", (unsigned long long)id,
	      ibv_wc_status_str(completion.status), ibv_wc_status_str(status));
	return completion;
}

void check_no_completion(struct ibv_cq *cq)
{
	struct ibv_wc completion;

	check(!ibv_poll_cq(cq, 1, &completion), "completion %llu: %s", (unsigned long long)completion.wr_id,
	      ibv_wc_status_str(completion.status));
}

enum ibv_qp_state state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	check_ok(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	return attr.qp_state;
}

void check_event(struct end *end, enum ibv_event_type type)
{
	struct ibv_async_event event;

	check_ok(ibv_get_async_event(end->context, &event));
	check(event.event_type == type, "event %s, not %s", ibv_event_type_str(event.event_type), ibv_event_type_str(type));
	ibv_ack_async_event(&event);
}
