/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* UNREACHABLE events of connections that stand: the kernel has lost sight of the other host. */
#include "hosts.h"

#include <poll.h>
#include <string.h>

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
static void while_connected(void)
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
static void before_a_disconnect_that_waits(void)
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
static void after_a_disconnect_that_waits(void)
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
		TEST(while_connected),
		TEST(before_a_disconnect_that_waits),
		SLOW_TEST(after_a_disconnect_that_waits, 60),
	};

	return RUN_TESTS(tests, argc, argv);
}
