/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Queue pairs that cannot be made: what fails leaves neither objects nor pointers. */
#include "connection.h"

static struct rdma_cm_id *id;

static void for_nothing(void)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct resources before;

	id = open_alone();
	before = count_resources();
	attr.cap.max_send_wr = 0;
	attr.cap.max_recv_wr = 0;
	check_fails(rdma_create_qp(id, NULL, &attr), EINVAL);
	check_nothing_left(id);
	check_resources(&before);
	close_alone(id);
}

/* What fails leaves neither objects nor pointers. */
static void failing_attributes_are_left_alone(void)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct resources before;

	id = open_alone();
	before = count_resources();
	attr.cap.max_send_sge = 10000;
	check(rdma_create_qp(id, NULL, &attr) == -1, "it succeeds");
	observe("%s", errno_name(errno));
	check_nothing_left(id);
	check(!attr.send_cq && !attr.recv_cq, "queues are written back");
	attr = small_qp(IBV_QPT_RC);
	attr.cap.max_recv_wr = 100000000;
	check(rdma_create_qp(id, NULL, &attr) == -1, "it succeeds");
	observe("%s", errno_name(errno));
	check_nothing_left(id);
	check_resources(&before);
	create_qp(id);
	rdma_destroy_qp(id);
	close_alone(id);
}

static void twice(void)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct resources before;
	struct ibv_qp *qp;

	id = open_alone();
	create_qp(id);
	before = count_resources();
	qp = id->qp;
	check_fails(rdma_create_qp(id, NULL, &attr), EINVAL);
	check(id->qp == qp, "another queue pair");
	check_resources(&before);
	rdma_destroy_qp(id);
	create_qp(id);
	rdma_destroy_qp(id);
	close_alone(id);
}

static void without_a_device(void)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);

	id = open_id(open_channel());
	check_fails(rdma_create_qp(id, NULL, &attr), EINVAL);
	check_nothing_left(id);
	close_alone(id);
}

static void wrong_type(void)
{
	struct ibv_qp_init_attr attr = small_qp((enum ibv_qp_type)77);
	struct resources before;

	id = open_alone();
	before = count_resources();
	check(rdma_create_qp(id, NULL, &attr) == -1, "it succeeds");
	observe("%s", errno_name(errno));
	check_nothing_left(id);
	check_resources(&before);
	close_alone(id);
}

/* A protection domain of another context. */
static void domain_of_another_context(void)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct ibv_context *context;
	struct ibv_device **list;
	struct ibv_pd *pd;

	id = open_alone();
	list = ibv_get_device_list(NULL);
	check(list && list[0], "no device");
	context = ibv_open_device(list[0]);
	check(context, "ibv_open_device: %m");
	pd = ibv_alloc_pd(context);
	check(pd, "ibv_alloc_pd: %m");
	check_fails(rdma_create_qp(id, pd, &attr), EINVAL);
	check_nothing_left(id);
	check_ok(ibv_dealloc_pd(pd));
	check_ok(ibv_close_device(context));
	ibv_free_device_list(list);
	close_alone(id);
}

/* Nothing to destroy is no error. */
static void destroyed_without_a_queue_pair(void)
{
	id = open_alone();
	rdma_destroy_qp(id);
	check_nothing_left(id);
	create_qp(id);
	rdma_destroy_qp(id);
	rdma_destroy_qp(id);
	check_nothing_left(id);
	close_alone(id);
}

static void says_what_the_device_has(void)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);

	start_diagnostics("error");
	id = open_alone();
	attr.cap.max_send_wr = 100000000;
	check(rdma_create_qp(id, NULL, &attr) == -1, "it succeeds");
	check_diagnosed("max_send_wr: 100000000");
	check_diagnosed("requests in a queue");
	close_alone(id);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(for_nothing),
		TEST(failing_attributes_are_left_alone),
		TEST(twice),
		TEST(without_a_device),
		TEST(wrong_type),
		TEST(domain_of_another_context),
		TEST(destroyed_without_a_queue_pair),
		TEST(says_what_the_device_has),
	};

	return RUN_TESTS(tests, argc, argv);
}
