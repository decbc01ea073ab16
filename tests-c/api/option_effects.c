/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What rdma_set_option changes on the queue pair and the path. */
#include "connection.h"

enum { EXPONENT = 19, CLASS = 0x68 };

static unsigned int timeout_of(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	check_ok(ibv_query_qp(id->qp, &attr, IBV_QP_TIMEOUT, &init));
	return attr.timeout;
}

static void ack_timeout(void)
{
	struct connection connection = { 0 };
	uint8_t exponent = EXPONENT;

	prepare(&connection);
	check_ok(rdma_set_option(connection.client, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &exponent, 1));
	request(&connection, NULL);
	exponent++;
	check_ok(rdma_set_option(connection.server, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &exponent, 1));
	establish(&connection);
	check(timeout_of(connection.client) == EXPONENT, "client's is %u", timeout_of(connection.client));
	check(timeout_of(connection.server) == EXPONENT + 1, "server's is %u", timeout_of(connection.server));
	disconnect(&connection);
	dismantle(&connection);
}

static void type_of_service(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_id(channel);
	struct ibv_port_attr port;
	uint8_t class = CLASS;

	check_ok(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &class, 1));
	resolve(id, 7471);
	check_ok(ibv_query_port(id->verbs, id->port_num, &port));
	/* On InfiniBand it asks for a class of service, and the answer is the subnet administrator's. */
	if (port.link_layer == IBV_LINK_LAYER_INFINIBAND)
		skip_test("not a RoCE device");
	check(id->route.path_rec->traffic_class == CLASS, "class %#x", id->route.path_rec->traffic_class);
	close_pair(channel, id);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = { TEST(ack_timeout, .needs = "ack-timeout set_option"), TEST(type_of_service, .needs = "paths set_option") };

	return RUN_TESTS(tests, argc, argv);
}
