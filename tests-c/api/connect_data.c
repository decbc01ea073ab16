/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Connect data of an endpoint's addresses, and its limits. */
#include "connection.h"

#include <string.h>

static uint8_t connect_data[4096];

/* A client of this connect data and private data, and what its listener sees of them. */
static void connect_with(size_t connect_length, uint8_t private_length, bool fits)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct rdma_event_channel *channel = open_channel(), *client_channel = open_channel();
	struct rdma_cm_id *listener = open_listener(channel, RDMA_PS_TCP), *id = NULL;
	struct rdma_addrinfo *list = endpoint_addresses(port_of(listener), 0);
	uint8_t private_data[255];
	struct rdma_conn_param param = { .private_data = private_data, .private_data_len = private_length };
	struct rdma_cm_event *event;
	const uint8_t *bytes;

	memset(connect_data, 'c', sizeof(connect_data));
	memset(private_data, 'p', sizeof(private_data));
	list->ai_connect = connect_data;
	list->ai_connect_len = connect_length;
	check_ok(rdma_create_ep(&id, list, NULL, &attr));
	list->ai_connect = NULL;
	list->ai_connect_len = 0;
	rdma_freeaddrinfo(list);
	check_ok(rdma_migrate_id(id, client_channel));
	if (!fits) {
		check_fails(rdma_connect(id, &param), EINVAL);
		check_empty(channel);
	} else {
		check_ok(rdma_connect(id, &param));
		event = next_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL);
		bytes = event->param.conn.private_data;
		for (size_t i = 0; i < event->param.conn.private_data_len; i++)
			check(bytes[i] == (i < connect_length ? 'c' : i < connect_length + private_length ? 'p' : 0),
			      "byte %zu is %#x", i, bytes[i]);
		struct rdma_cm_id *server = event->id;

		check_ok(rdma_ack_cm_event(event));
		check_ok(rdma_destroy_id(server));
		pass_event(client_channel, RDMA_CM_EVENT_REJECTED, id);
	}
	rdma_destroy_ep(id);
	check_ok(rdma_destroy_id(listener));
	rdma_destroy_event_channel(channel);
	rdma_destroy_event_channel(client_channel);
}

/* It stands before the private data. */
static void connect_data_and_private_data(void)
{
	connect_with(8, 8, true);
	connect_with(56, 0, true);
	connect_with(40, 16, true);
}

static void too_much_for_the_kernel(void)
{
	connect_with(40, 17, false);
	connect_with(57, 0, false);
}

static void too_much_for_the_command(void)
{
	connect_with(36, 255, false);
	connect_with(255, 1, false);
	connect_with(256, 0, false);
}

static void far_too_much_connect_data(void)
{
	connect_with(4096, 0, false);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(connect_data_and_private_data),
		TEST(too_much_for_the_kernel, .needs = "data-limits"),
		TEST(too_much_for_the_command),
		TEST(far_too_much_connect_data),
	};

	return RUN_TESTS(tests, argc, argv);
}
