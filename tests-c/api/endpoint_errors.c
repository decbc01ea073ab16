/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Endpoints that cannot be made, and wrong arguments. */
#include "connection.h"

static void failing_endpoints(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE | RAI_NUMERICHOST, .ai_port_space = RDMA_PS_TCP };
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *listener = open_listener(channel, RDMA_PS_TCP), *id;
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct resources before = count_resources();
	struct rdma_addrinfo *list;

	/* The port is in use. */
	list = endpoint_addresses(port_of(listener), RAI_PASSIVE);
	check_fails(rdma_create_ep(&id, list, NULL, NULL), EADDRINUSE);
	rdma_freeaddrinfo(list);
	/* The address is of another host. */
	check_ok(rdma_getaddrinfo("10.99.0.99", "7471", &hints, &list));
	check_fails(rdma_create_ep(&id, list, NULL, NULL), EADDRNOTAVAIL);
	rdma_freeaddrinfo(list);
	/* A queue pair that cannot be. */
	list = endpoint_addresses(7499, 0);
	attr.cap.max_send_sge = 10000;
	check(rdma_create_ep(&id, list, NULL, &attr) == -1, "it succeeds");
	observe("%s", errno_name(errno));
	rdma_freeaddrinfo(list);
	check_resources(&before);
	check_ok(rdma_destroy_id(listener));
	rdma_destroy_event_channel(channel);
}

static void unreachable_endpoint(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_NUMERICHOST, .ai_port_space = RDMA_PS_TCP };
	struct rdma_addrinfo *list;
	struct rdma_cm_id *id;

	check_ok(rdma_getaddrinfo("192.0.2.1", "7471", &hints, &list));
	check(rdma_create_ep(&id, list, NULL, NULL) == -1, "it succeeds");
	observe("%s", errno_name(errno));
	rdma_freeaddrinfo(list);
}

static void get_request_of_others(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *listener = open_listener(channel, RDMA_PS_TCP), *id = NULL;

	check_fails(rdma_get_request(listener, &id), EINVAL);
	check(!id, "an id");
	check_ok(rdma_destroy_id(listener));
	rdma_destroy_event_channel(channel);
}

static void null_pointers(void)
{
	struct rdma_addrinfo *list = endpoint_addresses(7499, 0);
	struct rdma_cm_id *id;

	check_fails(rdma_create_ep(NULL, list, NULL, NULL), EINVAL);
	check_fails(rdma_create_ep(&id, NULL, NULL, NULL), EINVAL);
	check_fails(rdma_get_request(NULL, &id), EINVAL);
	rdma_destroy_ep(NULL);
	rdma_freeaddrinfo(list);
	id = open_id_of(NULL, RDMA_PS_TCP);
	check_fails(rdma_get_request(id, NULL), EINVAL);
	rdma_destroy_ep(id);
}

/* A list without the address that is needed. */
static void empty_addresses(void)
{
	struct rdma_addrinfo none = { .ai_port_space = RDMA_PS_TCP, .ai_qp_type = IBV_QPT_RC, .ai_family = AF_INET };
	struct rdma_cm_id *id;

	check_fails(rdma_create_ep(&id, &none, NULL, NULL), EINVAL);
	none.ai_flags = RAI_PASSIVE;
	check_fails(rdma_create_ep(&id, &none, NULL, NULL), EINVAL);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(failing_endpoints),
		TEST(unreachable_endpoint),
		TEST(get_request_of_others),
		TEST(null_pointers),
		TEST(empty_addresses),
	};

	return RUN_TESTS(tests, argc, argv);
}
