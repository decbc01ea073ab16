/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The two hosts of kernel-lab/suites/two-hosts.sh: network namespaces, each with an RDMA device of its own. */
#include "connection.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The kernel's own part of a removal, once nothing holds the device. */
enum { REMOVAL_MS = 10000, NO_PORT = 9 };

struct host {
	const char *name;
	const char *namespace;
	const char *device;
	const char *address;
	const char *address6;
};

static const struct host east = { "east", "/run/netns/east", "rxe-east", "10.88.0.1", "fd88::1" };
static const struct host west = { "west", "/run/netns/west", "rxe-west", "10.88.0.2", "fd88::2" };

static struct sockaddr *address(const char *text, uint16_t port)
{
	static struct sockaddr_in6 in6;
	struct sockaddr_in *in = (struct sockaddr_in *)&in6;

	memset(&in6, 0, sizeof(in6));
	if (strchr(text, ':')) {
		in6.sin6_family = AF_INET6;
		in6.sin6_port = htons(port);
		check(inet_pton(AF_INET6, text, &in6.sin6_addr) == 1, "address %s", text);
	} else {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		check(inet_pton(AF_INET, text, &in->sin_addr) == 1, "address %s", text);
	}
	return (struct sockaddr *)&in6;
}

/* An id belongs to the network in which it is made. */
static struct rdma_cm_id *open_id_on(const struct host *host, struct rdma_event_channel *channel)
{
	int fd = open(host->namespace, O_RDONLY | O_CLOEXEC);

	check(fd >= 0, "%s: %m", host->namespace);
	check_ok(setns(fd, CLONE_NEWNET));
	close(fd);
	return open_id_of(channel, RDMA_PS_TCP);
}

static struct rdma_cm_id *open_listener_on(const struct host *host, struct rdma_event_channel *channel, const char *where)
{
	struct rdma_cm_id *id = open_id_on(host, channel);

	check_ok(rdma_bind_addr(id, address(where, 0)));
	check_ok(rdma_listen(id, 0));
	return id;
}

static struct rdma_cm_id *open_client_on(const struct host *host, struct rdma_event_channel *channel, const char *to,
					 uint16_t port)
{
	struct rdma_cm_id *id = open_id_on(host, channel);

	check_ok(rdma_resolve_addr(id, NULL, address(to, port), 2000));
	check(!pass_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED, id), "address");
	check(!strcmp(ibv_get_device_name(id->verbs->device), host->device), "on another device");
	check_ok(rdma_resolve_route(id, 2000));
	check(!pass_event(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, id), "route");
	return id;
}

/* A client in the east for a listener in the west. */
static void prepare_over(struct connection *connection, const char *to, uint16_t port)
{
	connection->server_channel = open_channel();
	connection->client_channel = open_channel();
	connection->listener = open_listener_on(&west, connection->server_channel, to);
	connection->client = open_client_on(&east, connection->client_channel, to,
					    port ? port : port_of(connection->listener));
	create_qp(connection->client);
}

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

/* The other host seems to have another hardware address: to those that are connected the kernel says that it is gone. */
static void hide_west(void)
{
	check(!run_command("ip -n east neigh replace 10.88.0.2 dev east nud permanent lladdr 02:00:00:00:00:99"), "ip neigh");
}

static void show_west(void)
{
	check(!run_command("ip -n east neigh replace 10.88.0.2 dev east nud reachable lladdr "
			   "$(ip netns exec west cat /sys/class/net/west/address)"), "ip neigh");
}

/* For a moment; the channel has the event afterwards. */
static void lose_sight_of_west(struct rdma_event_channel *channel)
{
	struct pollfd ready = { .fd = channel->fd, .events = POLLIN };

	hide_west();
	check(poll(&ready, 1, 15000) == 1, "the kernel says nothing");
	show_west();
}

/* The program is told, and the connection goes on. */
static void out_of_sight_while_connected(void)
{
	struct connection connection = { 0 };
	int status;

	prepare_over(&connection, west.address, 0);
	establish(&connection);
	lose_sight_of_west(connection.client_channel);
	status = pass_event(connection.client_channel, RDMA_CM_EVENT_UNREACHABLE, connection.client);
	check(status == -ETIMEDOUT, "status %d", status);
	check_empty(connection.client_channel);
	check_empty(connection.server_channel);
	check(!strcmp(qp_state(connection.client), "RTS"), "the queue pair is %s", qp_state(connection.client));
	disconnect(&connection);
	dismantle(&connection);
}

static void *answer_the_end(void *arg)
{
	struct connection *connection = arg;

	pass_event(connection->server_channel, RDMA_CM_EVENT_DISCONNECTED, connection->server);
	check_ok(rdma_disconnect(connection->server));
	return NULL;
}

/* A call that waits takes only what answers it. */
static void out_of_sight_before_a_disconnect_that_waits(void)
{
	struct connection connection = { 0 };
	struct rdma_cm_event *event;
	pthread_t server;

	prepare_over(&connection, west.address, 0);
	establish(&connection);
	check_ok(rdma_migrate_id(connection.client, NULL));
	lose_sight_of_west(connection.client->channel);
	server = start_thread(answer_the_end, &connection);
	check_ok(rdma_disconnect(connection.client));
	check_answer(connection.client, RDMA_CM_EVENT_DISCONNECTED);
	join_thread(server);
	event = next_event(connection.client->channel, RDMA_CM_EVENT_UNREACHABLE, connection.client);
	check(event->status == -ETIMEDOUT, "status %d", event->status);
	check_ok(rdma_ack_cm_event(event));
	dismantle(&connection);
}

static void *go_at_the_end(void *arg)
{
	struct connection *connection = arg;

	pass_event(connection->server_channel, RDMA_CM_EVENT_DISCONNECTED, connection->server);
	hide_west();
	return NULL;
}

/* No wait without end for a peer that is gone. */
static void out_of_sight_after_a_disconnect_that_waits(void)
{
	struct connection connection = { 0 };
	pthread_t server;

	prepare_over(&connection, west.address, 0);
	establish(&connection);
	check_ok(rdma_migrate_id(connection.client, NULL));
	server = start_thread(go_at_the_end, &connection);
	check_fails(rdma_disconnect(connection.client), ETIMEDOUT);
	check_answer(connection.client, RDMA_CM_EVENT_UNREACHABLE);
	join_thread(server);
	show_west();
	dismantle(&connection);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(connect_ipv4),
		TEST(connect_ipv6),
		TEST(reject),
		TEST(refused),
		TEST(nobody_at_the_address),
		TEST(out_of_sight_while_connected),
		TEST(out_of_sight_before_a_disconnect_that_waits),
		SLOW_TEST(out_of_sight_after_a_disconnect_that_waits, 60),
		TEST(removal_under_a_resolved_id),
		TEST(removal_under_a_connection),
		TEST(removal_under_a_server),
		TEST(removal_under_a_wildcard_listener),
	};

	return RUN_TESTS(tests, argc, argv);
}
