/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rdma_create_srq, rdma_create_srq_ex and rdma_destroy_srq. */
#include "connection.h"

#include <string.h>

static struct rdma_cm_id *id;

static struct ibv_srq_init_attr small_srq(void)
{
	return (struct ibv_srq_init_attr){ .attr = { .max_wr = 8, .max_sge = 1 } };
}

static void plain(void)
{
	struct ibv_srq_init_attr attr = small_srq();
	struct resources before;

	id = open_alone();
	before = count_resources();
	attr.srq_context = &attr;
	check_ok(rdma_create_srq(id, NULL, &attr));
	check(id->srq && id->srq->pd == id->pd && id->srq->srq_context == &attr, "shared queue");
	check(attr.srq_context == &attr, "context");
	observe("sizes %u %u %u", attr.attr.max_wr, attr.attr.max_sge, attr.attr.srq_limit);
	rdma_destroy_srq(id);
	check(!id->srq, "srq");
	check_resources(&before);
	close_alone(id);
}

/* The id's queue pair takes from it, and so do the helpers. */
static void used_by_the_queue_pair(void)
{
	struct ibv_srq_init_attr attr = small_srq();
	struct ibv_qp_init_attr qp_attr = small_qp(IBV_QPT_RC);
	struct connection connection = { 0 };
	struct resources before;
	char sent[16] = "shared", received[16];
	struct ibv_mr *sender, *receiver;
	struct ibv_wc completion;

	prepare(&connection);
	before = count_resources();
	request(&connection, NULL);
	check_ok(rdma_create_srq(connection.server, NULL, &attr));
	check_ok(rdma_create_qp(connection.server, NULL, &qp_attr));
	check(connection.server->qp->srq == connection.server->srq, "queue pair without the shared queue");
	receiver = rdma_reg_msgs(connection.server, received, sizeof(received));
	sender = rdma_reg_msgs(connection.client, sent, sizeof(sent));
	check(receiver && sender, "rdma_reg_msgs: %m");
	check_ok(rdma_post_recv(connection.server, &received, received, sizeof(received), receiver));
	establish(&connection);
	check_ok(rdma_post_send(connection.client, NULL, sent, sizeof(sent), sender, IBV_SEND_SIGNALED));
	check(rdma_get_send_comp(connection.client, &completion) == 1, "send");
	check(completion.status == IBV_WC_SUCCESS, "%s", ibv_wc_status_str(completion.status));
	check(rdma_get_recv_comp(connection.server, &completion) == 1, "receive");
	check(completion.status == IBV_WC_SUCCESS, "%s", ibv_wc_status_str(completion.status));
	check(completion.wr_id == (uintptr_t)&received && !strcmp(received, "shared"), "message");
	disconnect(&connection);
	check_ok(rdma_dereg_mr(sender));
	check_ok(rdma_dereg_mr(receiver));
	rdma_destroy_qp(connection.server);
	rdma_destroy_srq(connection.server);
	check(!connection.server->srq && !connection.server->recv_cq, "something is left");
	check_ok(rdma_destroy_id(connection.server));
	connection.server = NULL;
	check_resources(&before);
	dismantle(&connection);
}

/* The peer learns that it is shared. */
static void told_to_the_peer(void)
{
	struct ibv_srq_init_attr attr = small_srq();
	struct connection connection = { 0 };
	struct rdma_cm_event *event;

	prepare(&connection);
	rdma_destroy_qp(connection.client);
	check_ok(rdma_create_srq(connection.client, NULL, &attr));
	create_qp(connection.client);
	check_ok(rdma_connect(connection.client, NULL));
	event = next_event(connection.server_channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL);
	check(event->param.conn.srq == 1, "not shared");
	connection.server = event->id;
	check_ok(rdma_ack_cm_event(event));
	check_ok(rdma_reject(connection.server, NULL, 0));
	pass_event(connection.client_channel, RDMA_CM_EVENT_REJECTED, connection.client);
	rdma_destroy_qp(connection.client);
	rdma_destroy_srq(connection.client);
	dismantle(&connection);
}

static void with_a_domain_of_the_program(void)
{
	struct ibv_srq_init_attr attr = small_srq();
	struct ibv_pd *pd;

	id = open_alone();
	pd = ibv_alloc_pd(id->verbs);
	check(pd, "ibv_alloc_pd: %m");
	check_ok(rdma_create_srq(id, pd, &attr));
	check(id->srq->pd == pd, "domain");
	rdma_destroy_srq(id);
	check_ok(ibv_dealloc_pd(pd));
	close_alone(id);
}

static struct ibv_srq_init_attr_ex extended_srq(uint32_t mask)
{
	return (struct ibv_srq_init_attr_ex){
		.attr = { .max_wr = 8, .max_sge = 1 },
		.comp_mask = mask,
		.srq_type = IBV_SRQT_BASIC,
	};
}

static void extended(void)
{
	struct ibv_srq_init_attr_ex attr = extended_srq(IBV_SRQ_INIT_ATTR_TYPE);
	struct resources before;

	id = open_alone();
	before = count_resources();
	check_ok(rdma_create_srq_ex(id, &attr));
	check(id->srq && id->srq->pd == id->pd, "shared queue");
	rdma_destroy_srq(id);
	attr = extended_srq(IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD);
	attr.pd = id->pd;
	check_ok(rdma_create_srq_ex(id, &attr));
	rdma_destroy_srq(id);
	check_resources(&before);

	attr = extended_srq(IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD);
	check_ok(rdma_create_srq_ex(id, &attr));
	rdma_destroy_srq(id);

	/* The kind has to be named. */
	attr = extended_srq(0);
	check_fails(rdma_create_srq_ex(id, &attr), EINVAL);
	check(!id->srq, "srq");
	close_alone(id);
}

static void attributes_are_left_alone(void)
{
	struct ibv_srq_init_attr_ex attr = extended_srq(IBV_SRQ_INIT_ATTR_TYPE);

	id = open_alone();
	check_ok(rdma_create_srq_ex(id, &attr));
	check(!attr.pd && attr.comp_mask == IBV_SRQ_INIT_ATTR_TYPE, "written back");
	rdma_destroy_srq(id);
	close_alone(id);
}

static void queue_pair_attributes_are_left_alone(void)
{
	struct ibv_srq_init_attr attr = small_srq();
	struct ibv_qp_init_attr qp_attr = small_qp(IBV_QPT_RC);

	id = open_alone();
	check_ok(rdma_create_srq(id, NULL, &attr));
	check_ok(rdma_create_qp(id, NULL, &qp_attr));
	check(id->qp->srq == id->srq && !qp_attr.srq, "written back");
	rdma_destroy_qp(id);
	rdma_destroy_srq(id);
	close_alone(id);
}

/* Soft RoCE has no XRC. What the library made on the way is gone afterwards. */
static void of_a_kind_that_the_device_lacks(void)
{
	struct ibv_srq_init_attr_ex attr = extended_srq(IBV_SRQ_INIT_ATTR_TYPE);
	struct ibv_device_attr device;
	struct resources before;

	id = open_alone();
	check_ok(ibv_query_device(id->verbs, &device));
	if (device.device_cap_flags & IBV_DEVICE_XRC)
		skip_test("the device has it");
	before = count_resources();
	attr.srq_type = IBV_SRQT_XRC;
	check(rdma_create_srq_ex(id, &attr) == -1, "it succeeds");
	observe("%s", errno_name(errno));
	check(!id->srq && !id->recv_cq && !id->recv_cq_channel, "something is left");
	check_resources(&before);
	close_alone(id);
}

static void too_large(void)
{
	struct ibv_srq_init_attr attr = small_srq();
	struct resources before;

	id = open_alone();
	before = count_resources();
	attr.attr.max_sge = 10000;
	check(rdma_create_srq(id, NULL, &attr) == -1, "it succeeds");
	observe("%s", errno_name(errno));
	check(!id->srq, "srq");
	check_resources(&before);
	close_alone(id);
}

static void without_a_device(void)
{
	struct ibv_srq_init_attr attr = small_srq();
	struct ibv_srq_init_attr_ex attr_ex = extended_srq(IBV_SRQ_INIT_ATTR_TYPE);

	id = open_id(open_channel());
	check_fails(rdma_create_srq(id, NULL, &attr), EINVAL);
	check_fails(rdma_create_srq_ex(id, &attr_ex), EINVAL);
	check(!id->srq, "srq");
	close_alone(id);
}

static void twice(void)
{
	struct ibv_srq_init_attr attr = small_srq();
	struct resources before;

	id = open_alone();
	before = count_resources();
	check_ok(rdma_create_srq(id, NULL, &attr));
	check_fails(rdma_create_srq(id, NULL, &attr), EINVAL);
	rdma_destroy_srq(id);
	check_resources(&before);
	close_alone(id);
}

static void null_pointers(void)
{
	struct ibv_srq_init_attr attr = small_srq();
	struct ibv_srq_init_attr_ex attr_ex = extended_srq(IBV_SRQ_INIT_ATTR_TYPE);

	id = open_alone();
	check_fails(rdma_create_srq(NULL, NULL, &attr), EINVAL);
	check_fails(rdma_create_srq(id, NULL, NULL), EINVAL);
	check_fails(rdma_create_srq_ex(NULL, &attr_ex), EINVAL);
	check_fails(rdma_create_srq_ex(id, NULL), EINVAL);
	rdma_destroy_srq(NULL);
	/* Nothing to destroy is no error. */
	rdma_destroy_srq(id);
	close_alone(id);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(plain),
		TEST(used_by_the_queue_pair),
		TEST(told_to_the_peer),
		TEST(with_a_domain_of_the_program),
		TEST(extended),
		TEST(attributes_are_left_alone),
		TEST(queue_pair_attributes_are_left_alone),
		TEST(of_a_kind_that_the_device_lacks),
		TEST(too_large),
		TEST(without_a_device),
		TEST(twice),
		TEST(null_pointers),
	};

	return RUN_TESTS(tests, argc, argv);
}
