/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Connections between two hosts, and their devices that go away. */
#include "hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kernel's own part of a removal, once nothing holds the device. */
enum { REMOVAL_MS = 5000 };

static void connect_over(const char *to)
{
	struct connection connection = { 0 };

	prepare_over(&connection, to, 0);
	establish(&connection);
	check(!strcmp(ibv_get_device_name(connection.server->verbs->device), west.device), "on another device");
	disconnect(&connection);
	dismantle(&connection);
}

static void connect_ipv4(void)
{
	connect_over(west.address);
}

static void connect_ipv6(void)
{
	connect_over(west.address6);
}

static void reject(void)
{
	struct connection connection = { 0 };
	struct rdma_cm_event *event;

	prepare_over(&connection, west.address, 0);
	request(&connection, NULL);
	check_ok(rdma_reject(connection.server, "no", 3));
	event = next_event(connection.client_channel, RDMA_CM_EVENT_REJECTED, connection.client);
	observe("status %d", event->status);
	check(event->param.conn.private_data_len >= 3 && !memcmp(event->param.conn.private_data, "no", 3), "private data");
	check_ok(rdma_ack_cm_event(event));
	dismantle(&connection);
}

static void refused(void)
{
	struct connection connection = { 0 };

	prepare_over(&connection, west.address, NO_PORT);
	check_ok(rdma_connect(connection.client, NULL));
	observe("status %d", pass_event(connection.client_channel, RDMA_CM_EVENT_REJECTED, connection.client));
	dismantle(&connection);
}

static void nobody_at_the_address(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_id_on(&east, channel);

	check_ok(rdma_resolve_addr(id, NULL, address("10.88.0.99", NO_PORT), 1000));
	observe("status %d", pass_event(channel, RDMA_CM_EVENT_ADDR_ERROR, id));
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

/* How long rdma_create_ep looks for an address that nobody has. */
static void look_for_nobody(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_NUMERICHOST, .ai_port_space = RDMA_PS_TCP }, *list;
	struct rdma_cm_id *id = open_id_on(&east, NULL);

	check_ok(rdma_destroy_id(id));
	check_ok(rdma_getaddrinfo("10.88.0.98", "7471", &hints, &list));
	check_fails(rdma_create_ep(&id, list, NULL, NULL), ETIMEDOUT);
	rdma_freeaddrinfo(list);
}

static void look_for_nobody_with_a_limit(void)
{
	check_ok(setenv("RDMACM_RESOLVE_TIMEOUT_MS", "200", 1));
	look_for_nobody();
}

static void time_of_an_endpoint(void)
{
	uint64_t start = now_ms(), usual;

	run_child(look_for_nobody);
	usual = now_ms() - start;
	check(usual >= 1900, "without a limit it takes %llu ms", (unsigned long long)usual);
	start = now_ms();
	run_child(look_for_nobody_with_a_limit);
	check(now_ms() - start + 1000 < usual, "%llu ms, and %llu with the limit", (unsigned long long)usual,
	      (unsigned long long)(now_ms() - start));
}

static void add_device(const struct host *host)
{
	char command[128];

	snprintf(command, sizeof(command), "ip netns exec %s bash /work/lab/guest/host-device.sh %s", host->name, host->name);
	check(!run_command(command), "the device does not come back");
}

/* One may still be leaving because of the case before. */
static void add_devices(void)
{
	add_device(&east);
	add_device(&west);
}

static void *remove_device(void *host)
{
	char command[64];

	snprintf(command, sizeof(command), "rdma link del %s", ((const struct host *)host)->device);
	check(!run_command(command), "rdma link del failed");
	return NULL;
}

static pthread_t start_removal(const struct host *host)
{
	return start_thread(remove_device, (void *)host);
}

/*
 * With the last of its ids destroyed the library lets go of the device within a second, and with that the removal ends.
 * The process can go on with the device that comes back.
 */
static void check_removal(pthread_t remover, const struct host *host)
{
	check_devices_are_let_go(0);
	check(thread_ends(remover, REMOVAL_MS), "the removal still waits after %d ms", REMOVAL_MS);
	add_device(host);
	connect_over(west.address);
}

static void removal_under_a_resolved_id(void)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	pthread_t remover;

	add_devices();
	channel = open_channel();
	id = open_client_on(&east, channel, west.address, NO_PORT);
	remover = start_removal(&east);
	observe("status %d", pass_event(channel, RDMA_CM_EVENT_DEVICE_REMOVAL, id));
	check_ok(rdma_destroy_id(id));
	check_empty(channel);
	rdma_destroy_event_channel(channel);
	check_removal(remover, &east);
}

static void removal_under_a_connection(void)
{
	struct connection connection = { 0 };
	pthread_t remover;

	add_devices();
	prepare_over(&connection, west.address, 0);
	establish(&connection);
	remover = start_removal(&east);
	pass_event(connection.client_channel, RDMA_CM_EVENT_DEVICE_REMOVAL, connection.client);
	/* The other host keeps its device, and can go on with it. */
	dismantle(&connection);
	check_removal(remover, &east);
}

static void removal_under_a_server(void)
{
	struct connection connection = { 0 };
	pthread_t remover;

	add_devices();
	prepare_over(&connection, west.address, 0);
	establish(&connection);
	remover = start_removal(&west);
	/* One for the listener and one for the connection, in either order. */
	pass_event(connection.server_channel, RDMA_CM_EVENT_DEVICE_REMOVAL, NULL);
	pass_event(connection.server_channel, RDMA_CM_EVENT_DEVICE_REMOVAL, NULL);
	dismantle(&connection);
	check_removal(remover, &west);
}

static void removal_under_a_wildcard_listener(void)
{
	struct rdma_event_channel *channel, *client_channel;
	struct rdma_cm_id *listener, *client;
	pthread_t remover;

	add_devices();
	channel = open_channel();
	listener = open_listener_on(&west, channel, "0.0.0.0");
	remover = start_removal(&west);
	check(thread_ends(remover, REMOVAL_MS), "the removal still waits after %d ms", REMOVAL_MS);
	check_empty(channel);
	add_device(&west);
	/* The listener serves the device that came back. */
	client_channel = open_channel();
	client = open_client_on(&east, client_channel, west.address, port_of(listener));
	create_qp(client);
	check_ok(rdma_connect(client, NULL));
	check_ok(rdma_destroy_id(take_request(channel, listener)));
	rdma_destroy_qp(client);
	check_ok(rdma_destroy_id(client));
	check_ok(rdma_destroy_id(listener));
	rdma_destroy_event_channel(client_channel);
	rdma_destroy_event_channel(channel);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(connect_ipv4),
		TEST(connect_ipv6),
		TEST(reject),
		TEST(refused),
		TEST(nobody_at_the_address),
		SLOW_TEST(time_of_an_endpoint, 30),
		TEST(removal_under_a_resolved_id),
		TEST(removal_under_a_connection),
		TEST(removal_under_a_server),
		TEST(removal_under_a_wildcard_listener),
	};

	return RUN_TESTS(tests, argc, argv);
}
