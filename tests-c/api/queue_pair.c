/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rdma_create_qp, rdma_create_qp_ex and rdma_destroy_qp. */
#include "connection.h"

static struct rdma_cm_id *id;

/* The library makes a queue and a channel for each side. */
static void with_queues_of_the_library(void)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct resources before;

	id = open_alone();
	before = count_resources();
	check_ok(rdma_create_qp(id, NULL, &attr));
	check(id->qp && id->qp->qp_type == IBV_QPT_RC && id->qp->pd == id->pd, "queue pair");
	check(id->send_cq && id->recv_cq && id->send_cq != id->recv_cq, "completion queues");
	check(id->send_cq_channel && id->recv_cq_channel && id->send_cq_channel != id->recv_cq_channel, "channels");
	check(id->qp->send_cq == id->send_cq && id->qp->recv_cq == id->recv_cq, "queues of the queue pair");
	check(id->send_cq->channel == id->send_cq_channel && id->recv_cq->channel == id->recv_cq_channel, "channels");
	check(id->send_cq->cq_context == id && id->recv_cq->cq_context == id, "context");
	observe("sizes %d and %d, state %s", id->send_cq->cqe, id->recv_cq->cqe, qp_state(id));
	observe("cap %u %u %u %u %u", attr.cap.max_send_wr, attr.cap.max_recv_wr, attr.cap.max_send_sge,
		attr.cap.max_recv_sge, attr.cap.max_inline_data);
	rdma_destroy_qp(id);
	check_nothing_left(id);
	check_resources(&before);
	close_alone(id);
}

static void with_queues_of_the_program(void)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct resources before;
	struct ibv_cq *cqs[2];

	id = open_alone();
	cqs[0] = ibv_create_cq(id->verbs, 8, NULL, NULL, 0);
	cqs[1] = ibv_create_cq(id->verbs, 8, NULL, NULL, 0);
	check(cqs[0] && cqs[1], "ibv_create_cq: %m");
	before = count_resources();
	attr.send_cq = cqs[0];
	attr.recv_cq = cqs[1];
	check_ok(rdma_create_qp(id, NULL, &attr));
	check(id->qp->send_cq == cqs[0] && id->qp->recv_cq == cqs[1], "queues of the queue pair");
	check(!id->send_cq && !id->recv_cq && !id->send_cq_channel && !id->recv_cq_channel, "the id has queues");
	rdma_destroy_qp(id);
	check_nothing_left(id);
	check_resources(&before);
	check_ok(ibv_destroy_cq(cqs[0]));
	check_ok(ibv_destroy_cq(cqs[1]));
	close_alone(id);
}

/* Of the side that is not given the library makes a queue, and takes it back with the queue pair. */
static void with_one_queue_of_the_program(bool send)
{
	struct resources before;
	struct ibv_cq *cq;

	id = open_alone();
	cq = ibv_create_cq(id->verbs, 8, NULL, NULL, 0);
	check(cq, "ibv_create_cq: %m");
	before = count_resources();
	for (int i = 0; i < 3; i++) {
		struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);

		attr.send_cq = send ? cq : NULL;
		attr.recv_cq = send ? NULL : cq;
		check_ok(rdma_create_qp(id, NULL, &attr));
		check(id->qp->send_cq == (send ? cq : id->send_cq), "send queue");
		check(id->qp->recv_cq == (send ? id->recv_cq : cq), "receive queue");
		check(send ? !id->send_cq && id->recv_cq && id->recv_cq_channel
			   : !id->recv_cq && id->send_cq && id->send_cq_channel, "queues of the id");
		rdma_destroy_qp(id);
		check_nothing_left(id);
		check_resources(&before);
	}
	check_ok(ibv_destroy_cq(cq));
	close_alone(id);
}

static void with_the_send_queue_of_the_program(void)
{
	with_one_queue_of_the_program(true);
}

static void with_the_receive_queue_of_the_program(void)
{
	with_one_queue_of_the_program(false);
}

/* A queue pair that only sends, or only receives, needs no queue for the other side. */
static void one_sided(bool send)
{
	struct resources before;

	id = open_alone();
	before = count_resources();
	for (int i = 0; i < 3; i++) {
		struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);

		attr.cap.max_send_wr = send ? 4 : 0;
		attr.cap.max_recv_wr = send ? 0 : 4;
		check_ok(rdma_create_qp(id, NULL, &attr));
		check(id->qp && id->qp->send_cq && id->qp->recv_cq, "no queue pair");
		check(send ? !!id->send_cq : !!id->recv_cq, "no completion queue");
		rdma_destroy_qp(id);
		check_nothing_left(id);
	}
	check_resources(&before);
	close_alone(id);
}

static void only_for_sending(void)
{
	one_sided(true);
}

static void only_for_receiving(void)
{
	one_sided(false);
}

/* Of the caller's struct only the sizes are written to: used for a second id it must not share the first one's. */
static void attributes_are_left_alone(void)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct rdma_cm_id *second;
	struct resources before;

	id = open_alone();
	second = open_client(id->channel, RDMA_PS_TCP, 7499);
	before = count_resources();
	attr.qp_context = &attr;
	attr.sq_sig_all = 1;
	check_ok(rdma_create_qp(id, NULL, &attr));
	check(!attr.send_cq && !attr.recv_cq && !attr.srq, "queues are written back");
	check(attr.qp_context == &attr && attr.sq_sig_all == 1 && attr.qp_type == IBV_QPT_RC, "other fields");
	check(id->qp->qp_context == &attr, "context of the queue pair");
	check_ok(rdma_create_qp(second, NULL, &attr));
	check(second->send_cq != id->send_cq && second->recv_cq != id->recv_cq, "shared queues");
	check(second->qp->send_cq == second->send_cq, "queues of the queue pair");
	rdma_destroy_qp(id);
	rdma_destroy_qp(second);
	check_resources(&before);
	check_ok(rdma_destroy_id(second));
	close_alone(id);
}

static void with_a_domain_of_the_program(void)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct resources before;
	struct ibv_pd *pd;

	id = open_alone();
	before = count_resources();
	pd = ibv_alloc_pd(id->verbs);
	check(pd, "ibv_alloc_pd: %m");
	check_ok(rdma_create_qp(id, pd, &attr));
	check(id->qp->pd == pd && id->pd == pd, "domain");
	rdma_destroy_qp(id);
	check_ok(ibv_dealloc_pd(pd));
	check_resources(&before);
	close_alone(id);
}

/* Of a bound id a queue pair can be made, too. */
static void bound_id(void)
{
	id = open_bound_id(open_channel());
	create_qp(id);
	observe("state %s", qp_state(id));
	rdma_destroy_qp(id);
	close_alone(id);
}

static struct ibv_qp_init_attr_ex extended_qp(uint32_t mask)
{
	return (struct ibv_qp_init_attr_ex){
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.comp_mask = mask,
	};
}

static void extended(void)
{
	struct ibv_qp_init_attr_ex attr = extended_qp(0);
	struct resources before;
	struct ibv_pd *pd;

	id = open_alone();
	before = count_resources();
	check_ok(rdma_create_qp_ex(id, &attr));
	check(id->qp->pd == id->pd && id->send_cq && id->recv_cq, "queue pair");
	rdma_destroy_qp(id);

	/* A bit without its field is as no bit. */
	attr = extended_qp(IBV_QP_INIT_ATTR_PD);
	check_ok(rdma_create_qp_ex(id, &attr));
	rdma_destroy_qp(id);

	pd = ibv_alloc_pd(id->verbs);
	check(pd, "ibv_alloc_pd: %m");
	attr = extended_qp(IBV_QP_INIT_ATTR_PD);
	attr.pd = pd;
	check_ok(rdma_create_qp_ex(id, &attr));
	check(id->qp->pd == pd && id->pd == pd, "domain");
	rdma_destroy_qp(id);
	check_nothing_left(id);
	check_ok(ibv_dealloc_pd(pd));
	check_resources(&before);
	close_alone(id);
}

static void extended_attributes_are_left_alone(void)
{
	struct ibv_qp_init_attr_ex attr = extended_qp(0);

	id = open_alone();
	check_ok(rdma_create_qp_ex(id, &attr));
	check(!attr.send_cq && !attr.recv_cq && !attr.pd && !attr.comp_mask, "written back");
	rdma_destroy_qp(id);
	close_alone(id);
}

static void null_pointers(void)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct ibv_qp_init_attr_ex attr_ex = extended_qp(0);

	id = open_alone();
	check_fails(rdma_create_qp(NULL, NULL, &attr), EINVAL);
	check_fails(rdma_create_qp(id, NULL, NULL), EINVAL);
	check_fails(rdma_create_qp_ex(NULL, &attr_ex), EINVAL);
	check_fails(rdma_create_qp_ex(id, NULL), EINVAL);
	rdma_destroy_qp(NULL);
	check_nothing_left(id);
	close_alone(id);
}

/* Many rounds leave nothing. */
static void many_rounds(void)
{
	struct resources before;

	id = open_alone();
	create_qp(id);
	rdma_destroy_qp(id);
	before = count_resources();
	for (int i = 0; i < 100; i++) {
		create_qp(id);
		rdma_destroy_qp(id);
	}
	check_resources(&before);
	close_alone(id);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(with_queues_of_the_library),
		TEST(with_queues_of_the_program),
		TEST(with_the_send_queue_of_the_program),
		TEST(with_the_receive_queue_of_the_program),
		TEST(only_for_sending),
		TEST(only_for_receiving),
		TEST(attributes_are_left_alone),
		TEST(with_a_domain_of_the_program),
		TEST(bound_id),
		TEST(extended),
		TEST(extended_attributes_are_left_alone),
		TEST(null_pointers),
		TEST(many_rounds),
	};

	return RUN_TESTS(tests, argc, argv);
}
