/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Extended reliable connections: many receivers behind one queue pair. */
#include "pair.h"

static struct end first, second;
static struct ibv_xrcd *domain;
static struct ibv_srq *queue;

static void to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = EVERYTHING };

	check_ok(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
}

static void replace(struct end *end, struct ibv_qp_init_attr_ex *init)
{
	check_ok(ibv_destroy_qp(end->qp));
	end->qp = ibv_create_qp_ex(end->context, init);
	check(end->qp, "ibv_create_qp_ex: %m");
	to_init(end->qp);
}

/* Soft RoCE has no such connections. */
static void need_extended_connections(void)
{
	struct ibv_device_attr device;

	check_ok(ibv_query_device(first.context, &device));
	if (!(device.device_cap_flags & IBV_DEVICE_XRC))
		skip_test("no extended connections");
}

static void open_ends(void)
{
	struct ibv_xrcd_init_attr domain_attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = 0100,
	};
	struct ibv_srq_init_attr_ex queue_attr = {
		.attr = { .max_wr = DEPTH, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
	};
	struct ibv_qp_init_attr_ex sender = {
		.cap = { DEPTH, 0, 1, 0, 0 }, .qp_type = IBV_QPT_XRC_SEND, .comp_mask = IBV_QP_INIT_ATTR_PD,
	};
	struct ibv_qp_init_attr_ex receiver = { .qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD };
	struct contact contact;

	open_end(&first, IBV_QPT_RC, false);
	need_extended_connections();
	open_end(&second, IBV_QPT_RC, false);
	domain = ibv_open_xrcd(second.context, &domain_attr);
	check(domain, "ibv_open_xrcd: %m");
	queue_attr.pd = second.pd;
	queue_attr.xrcd = domain;
	queue_attr.cq = second.cq;
	queue = ibv_create_srq_ex(second.context, &queue_attr);
	check(queue, "ibv_create_srq_ex: %m");
	sender.send_cq = first.cq;
	sender.pd = first.pd;
	replace(&first, &sender);
	receiver.xrcd = domain;
	replace(&second, &receiver);
	contact = contact_of(&second);
	make_ready(&first, &contact);
	contact = contact_of(&first);
	make_ready_to_receive(&second, &contact);
	memset(first.memory, 'a', MEMORY);
	memset(second.memory, 'b', MEMORY);
}

static void close_ends(void)
{
	check_ok(ibv_destroy_qp(second.qp));
	second.qp = NULL;
	check_ok(ibv_destroy_srq(queue));
	check_ok(ibv_close_xrcd(domain));
	close_pair(&first, &second);
}

static void send(void)
{
	struct ibv_sge sge, place;
	struct ibv_send_wr wr = request(&sge, IBV_WR_SEND, 1);
	struct ibv_recv_wr receive = { .wr_id = 2, .sg_list = &place, .num_sge = 1 }, *bad;

	open_ends();
	place = piece(&second, 0, 100);
	check_ok(ibv_post_srq_recv(queue, &receive, &bad));
	sge = piece(&first, 0, 10);
	check_ok(ibv_get_srq_num(queue, &wr.qp_type.xrc.remote_srqn));
	post(&first, &wr);
	complete(first.cq, 1, IBV_WC_SUCCESS);
	check(complete(second.cq, 2, IBV_WC_SUCCESS).byte_len == 10, "length");
	check(!memcmp(second.memory, "aaaaaaaaaab", 11), "other data");
	close_ends();
}

static void another_queue_is_refused(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(&sge, IBV_WR_SEND, 1);

	open_ends();
	sge = piece(&first, 0, 10);
	wr.qp_type.xrc.remote_srqn = 0x123456;
	post(&first, &wr);
	complete(first.cq, 1, IBV_WC_REM_INV_REQ_ERR);
	check_event(&second, IBV_EVENT_COMM_EST);
	check_event(&second, IBV_EVENT_QP_REQ_ERR);
	close_ends();
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(send),
		TEST(another_queue_is_refused),
	};

	return RUN_TESTS(tests, argc, argv);
}
