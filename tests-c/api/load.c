/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Many connections, one after another and at once: what they took is given back. */
#include "connection.h"

#include <stdio.h>
#include <sys/resource.h>

enum { AT_ONCE = 200, MOST_GROWTH_KB = 512 };

static void check_memory(long before)
{
	long now = resident_kb();

	check(now <= before + MOST_GROWTH_KB, "the memory grew from %ld to %ld kB", before, now);
}

static void connect_once(struct rdma_event_channel *server_channel, struct rdma_event_channel *client_channel,
			 struct rdma_cm_id *listener)
{
	struct connection connection = {
		.server_channel = server_channel,
		.client_channel = client_channel,
		.listener = listener,
		.client = open_client(client_channel, RDMA_PS_TCP, port_of(listener)),
	};

	create_qp(connection.client);
	establish(&connection);
	disconnect(&connection);
	rdma_destroy_qp(connection.client);
	check_ok(rdma_destroy_id(connection.client));
	rdma_destroy_qp(connection.server);
	check_ok(rdma_destroy_id(connection.server));
}

static void one_after_another(void)
{
	unsigned long count = number_from_env("TEST_CONNECTIONS", 2000), warm = count / 10;
	struct rdma_event_channel *server_channel = open_channel(), *client_channel = open_channel();
	struct rdma_cm_id *listener = open_listener(server_channel, RDMA_PS_TCP);
	struct resources before = { 0 };
	long memory = 0;

	for (unsigned long i = 0; i < count; i++) {
		if (i == warm) {
			before = count_resources();
			memory = resident_kb();
		}
		connect_once(server_channel, client_channel, listener);
		if (i % 200 == 199)
			observe("%lu", i + 1);
	}
	check_resources(&before);
	check_memory(memory);
	check_ok(rdma_destroy_id(listener));
	rdma_destroy_event_channel(server_channel);
	rdma_destroy_event_channel(client_channel);
}

/* Acknowledges an event of this kind for each connection. */
static void pass_all(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	for (int i = 0; i < AT_ONCE; i++)
		pass_event(channel, type, NULL);
}

static void connect_all(struct rdma_event_channel *server_channel, struct rdma_event_channel *client_channel,
			struct rdma_cm_id *listener)
{
	static struct rdma_cm_id *clients[AT_ONCE], *servers[AT_ONCE];

	for (int i = 0; i < AT_ONCE; i++) {
		clients[i] = open_client(client_channel, RDMA_PS_TCP, port_of(listener));
		create_qp(clients[i]);
	}
	for (int i = 0; i < AT_ONCE; i++)
		check_ok(rdma_connect(clients[i], NULL));
	for (int i = 0; i < AT_ONCE; i++) {
		servers[i] = take_request(server_channel, listener);
		create_qp(servers[i]);
	}
	for (int i = 0; i < AT_ONCE; i++)
		check_ok(rdma_accept(servers[i], NULL));
	pass_all(client_channel, RDMA_CM_EVENT_ESTABLISHED);
	pass_all(server_channel, RDMA_CM_EVENT_ESTABLISHED);
	observe("connected");
	for (int i = 0; i < AT_ONCE; i++) {
		rdma_destroy_qp(clients[i]);
		check_ok(rdma_destroy_id(clients[i]));
	}
	pass_all(server_channel, RDMA_CM_EVENT_DISCONNECTED);
	for (int i = 0; i < AT_ONCE; i++) {
		rdma_destroy_qp(servers[i]);
		check_ok(rdma_destroy_id(servers[i]));
	}
	observe("ended");
}

static void all_at_once(void)
{
	struct rdma_event_channel *server_channel, *client_channel;
	struct resources before = { 0 };
	struct rdma_cm_id *listener;
	struct rlimit limit;
	long memory = 0;

	/* Each queue pair has two channels for completions. */
	check(!getrlimit(RLIMIT_NOFILE, &limit), "getrlimit: %m");
	limit.rlim_cur = limit.rlim_max;
	check(!setrlimit(RLIMIT_NOFILE, &limit), "setrlimit: %m");
	server_channel = open_channel();
	client_channel = open_channel();
	listener = open_listener(server_channel, RDMA_PS_TCP);
	for (int i = 0; i < 3; i++) {
		if (i == 1) {
			before = count_resources();
			memory = resident_kb();
		}
		connect_all(server_channel, client_channel, listener);
	}
	check_resources(&before);
	check_memory(memory);
	check_ok(rdma_destroy_id(listener));
	rdma_destroy_event_channel(server_channel);
	rdma_destroy_event_channel(client_channel);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		SLOW_TEST(one_after_another, 600),
		SLOW_TEST(all_at_once, 300),
	};

	return RUN_TESTS(tests, argc, argv);
}
