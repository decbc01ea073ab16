/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rdma_listen. */
#include "connection.h"

#include <arpa/inet.h>
#include <limits.h>
#include <poll.h>

static void at_a_bound_port(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_id(channel);

	check_ok(rdma_bind_addr(id, device_address(AF_INET, 7470)));
	check_ok(rdma_listen(id, 1));
	check(port_of(id) == 7470 && id->verbs, "port %d", port_of(id));
	observe("port number %d space %#x", id->port_num, (unsigned int)id->ps);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void at_a_port_of_the_kernels_choice(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *first = open_listener(channel, RDMA_PS_TCP);
	struct rdma_cm_id *second = open_listener(channel, RDMA_PS_TCP);

	check(port_of(first) && port_of(second) && port_of(first) != port_of(second), "ports");
	check_ok(rdma_destroy_id(first));
	check_ok(rdma_destroy_id(second));
	rdma_destroy_event_channel(channel);
}

/* Listens everywhere, and knows its port afterwards. */
static void without_an_address(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_id(channel);

	check_ok(rdma_listen(id, 0));
	check(port_of(id), "no port");
	check(!id->verbs, "a device");
	observe("family %d", rdma_get_local_addr(id)->sa_family);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void with_any_backlog(void)
{
	static const int sizes[] = { INT_MIN, -1, 0, 1, 128, INT_MAX };
	struct rdma_event_channel *channel = open_channel();

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct rdma_cm_id *id = open_bound_id(channel);

		check_ok(rdma_listen(id, sizes[i]));
		check_ok(rdma_destroy_id(id));
	}
	rdma_destroy_event_channel(channel);
}

static void twice(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_listener(channel, RDMA_PS_TCP);
	uint16_t port = port_of(id);

	check_fails(rdma_listen(id, 1), EINVAL);
	check(port_of(id) == port, "another port");
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void resolved_id(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_client(channel, RDMA_PS_TCP, 7471);

	check_fails(rdma_listen(id, 1), EINVAL);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void port_in_use(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *listener = open_listener(channel, RDMA_PS_TCP);
	struct rdma_cm_id *id = open_id(channel);

	check_fails(rdma_bind_addr(id, device_address(AF_INET, port_of(listener))), EADDRINUSE);
	/* The port is free when the listener has gone. */
	uint16_t port = port_of(listener);

	check_ok(rdma_destroy_id(listener));
	check_ok(rdma_bind_addr(id, device_address(AF_INET, port)));
	check_ok(rdma_listen(id, 1));
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static struct sockaddr_in everywhere(uint16_t port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
}

/* The wildcard and the addresses share one list of ports. */
static void port_in_use_at_an_address(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *listener = open_listener(channel, RDMA_PS_TCP);
	struct rdma_cm_id *id = open_id(channel);
	struct sockaddr_in address = everywhere(port_of(listener));

	check_fails(rdma_bind_addr(id, (struct sockaddr *)&address), EADDRINUSE);
	check_ok(rdma_destroy_id(id));
	check_ok(rdma_destroy_id(listener));
	rdma_destroy_event_channel(channel);
}

static void port_in_use_everywhere(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *listener = open_id(channel), *id = open_id(channel);
	struct sockaddr_in address = everywhere(0);

	check_ok(rdma_bind_addr(listener, (struct sockaddr *)&address));
	check_ok(rdma_listen(listener, 1));
	check_fails(rdma_bind_addr(id, device_address(AF_INET, port_of(listener))), EADDRINUSE);
	check_ok(rdma_destroy_id(id));
	check_ok(rdma_destroy_id(listener));
	rdma_destroy_event_channel(channel);
}

/* What does not fit into the backlog comes later: the client's kernel asks again. */
static void full_backlog(void)
{
	enum { BACKLOG = 2, CLIENTS = 4 };
	struct rdma_event_channel *server_channel = open_channel(), *client_channel = open_channel();
	struct rdma_cm_id *listener = open_bound_id(server_channel), *clients[CLIENTS], *servers[CLIENTS];

	check_ok(rdma_listen(listener, BACKLOG));
	for (int i = 0; i < CLIENTS; i++) {
		clients[i] = open_client(client_channel, RDMA_PS_TCP, port_of(listener));
		create_qp(clients[i]);
		check_ok(rdma_connect(clients[i], NULL));
	}
	sleep_ms(500);
	for (int i = 0; i < BACKLOG; i++)
		servers[i] = take_request(server_channel, listener);
	check_empty(server_channel);
	for (int i = BACKLOG; i < CLIENTS; i++)
		servers[i] = take_request(server_channel, listener);
	for (int i = 0; i < CLIENTS; i++) {
		check_ok(rdma_reject(servers[i], NULL, 0));
		check_ok(rdma_destroy_id(servers[i]));
		check(pass_event(client_channel, RDMA_CM_EVENT_REJECTED, NULL) == refusal_status(clients[0], 28), "status");
	}
	for (int i = 0; i < CLIENTS; i++) {
		rdma_destroy_qp(clients[i]);
		check_ok(rdma_destroy_id(clients[i]));
	}
	check_ok(rdma_destroy_id(listener));
	rdma_destroy_event_channel(client_channel);
	rdma_destroy_event_channel(server_channel);
}

/* A request that nobody took is refused when the listener goes. */
static void destroyed_with_a_request_pending(void)
{
	struct connection connection = { 0 };
	struct pollfd pending;

	prepare(&connection);
	check_ok(rdma_connect(connection.client, NULL));
	pending = (struct pollfd){ .fd = connection.server_channel->fd, .events = POLLIN };
	check(poll(&pending, 1, 15000) == 1, "no request");
	check_ok(rdma_destroy_id(connection.listener));
	connection.listener = NULL;
	observe("status %d", pass_event(connection.client_channel, RDMA_CM_EVENT_REJECTED, connection.client));
	check_empty(connection.server_channel);
	dismantle(&connection);
}

static void null_id(void)
{
	check_fails(rdma_listen(NULL, 1), EINVAL);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(at_a_bound_port),
		TEST(at_a_port_of_the_kernels_choice),
		TEST(without_an_address),
		TEST(with_any_backlog),
		TEST(twice),
		TEST(resolved_id),
		TEST(port_in_use),
		TEST(port_in_use_at_an_address),
		TEST(port_in_use_everywhere),
		SLOW_TEST(full_backlog, 60),
		TEST(destroyed_with_a_request_pending),
		TEST(null_id),
	};

	return RUN_TESTS(tests, argc, argv);
}
