/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What rdma_connect and rdma_accept refuse, and what is left then. */
#include "connection.h"

/* The most that the device can do; more is refused, and nothing is sent. */
static void depth_limits(void)
{
	struct connection connection = { 0 };
	struct rdma_conn_param param = { 0 };
	struct ibv_device_attr device;

	prepare(&connection);
	check_ok(ibv_query_device(connection.client->verbs, &device));
	/* Both are one byte, of which the highest value says "the most". */
	if (device.max_qp_rd_atom < 254) {
		param.responder_resources = (uint8_t)(device.max_qp_rd_atom + 1);
		check_fails(rdma_connect(connection.client, &param), EINVAL);
	}
	if (device.max_qp_init_rd_atom < 254) {
		param.responder_resources = 0;
		param.initiator_depth = (uint8_t)(device.max_qp_init_rd_atom + 1);
		check_fails(rdma_connect(connection.client, &param), EINVAL);
	}
	param.responder_resources = RDMA_MAX_RESP_RES;
	param.initiator_depth = RDMA_MAX_INIT_DEPTH;
	request(&connection, &param);
	create_qp(connection.server);
	if (device.max_qp_init_rd_atom < 254) {
		param.responder_resources = 0;
		param.initiator_depth = (uint8_t)(device.max_qp_init_rd_atom + 1);
		check_fails(rdma_accept(connection.server, &param), EINVAL);
	}
	establish(&connection);
	disconnect(&connection);
	dismantle(&connection);
}

static void connect_at_a_wrong_time(void)
{
	struct rdma_conn_param param = { .qp_num = 1 };
	struct connection connection = { 0 };
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_bound_id(channel);

	check_fails(rdma_connect(id, &param), EINVAL);
	check_ok(rdma_resolve_addr(id, NULL, device_address(AF_INET, 7499), 2000));
	pass_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED, id);
	check_fails(rdma_connect(id, &param), EINVAL);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);

	prepare(&connection);
	check_fails(rdma_connect(connection.listener, &param), EINVAL);
	request(&connection, NULL);
	check_fails(rdma_connect(connection.client, NULL), EINVAL);
	check_fails(rdma_connect(connection.server, &param), EINVAL);
	establish(&connection);
	check_fails(rdma_connect(connection.client, NULL), EINVAL);
	disconnect(&connection);
	check_fails(rdma_connect(connection.client, NULL), EINVAL);
	dismantle(&connection);
}

static void accept_at_a_wrong_time(void)
{
	struct rdma_conn_param param = { .qp_num = 1 };
	struct connection connection = { 0 };

	prepare(&connection);
	check_fails(rdma_accept(connection.listener, &param), EINVAL);
	check_fails(rdma_accept(connection.client, NULL), EINVAL);
	dismantle(&connection);
	establish(&connection);
	check_fails(rdma_accept(connection.server, NULL), EINVAL);
	dismantle(&connection);
}

/* An id that is not resolved knows no device. */
static void connect_without_a_device(void)
{
	struct rdma_conn_param param = { .responder_resources = RDMA_MAX_RESP_RES };
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_id(channel);

	check_fails(rdma_connect(id, &param), EINVAL);
	check_fails(rdma_connect(id, NULL), EINVAL);
	resolve(id, 7499);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void accept_without_a_device(void)
{
	struct rdma_conn_param param = { .responder_resources = RDMA_MAX_RESP_RES };
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_id(channel);

	check_fails(rdma_accept(id, &param), EINVAL);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

/* Without a queue pair its number has to come from the parameters. */
static void connect_without_a_queue_pair(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_client(channel, RDMA_PS_TCP, 7499);

	check_fails(rdma_connect(id, NULL), EINVAL);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void accept_without_a_queue_pair(void)
{
	struct connection connection = { 0 };

	prepare(&connection);
	request(&connection, NULL);
	check_fails(rdma_accept(connection.server, NULL), EINVAL);
	/* The request is still there. */
	establish(&connection);
	disconnect(&connection);
	dismantle(&connection);
}

static void null_pointers(void)
{
	struct rdma_conn_param param = { 0 };

	check_fails(rdma_connect(NULL, &param), EINVAL);
	check_fails(rdma_connect(NULL, NULL), EINVAL);
	check_fails(rdma_accept(NULL, &param), EINVAL);
	check_fails(rdma_establish(NULL), EINVAL);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(depth_limits),
		TEST(connect_at_a_wrong_time),
		TEST(accept_at_a_wrong_time),
		TEST(connect_without_a_device),
		TEST(accept_without_a_device),
		TEST(connect_without_a_queue_pair),
		TEST(accept_without_a_queue_pair),
		TEST(null_pointers),
	};

	return RUN_TESTS(tests, argc, argv);
}
