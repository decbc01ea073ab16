/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rdma_migrate_id of connections, and user events beside the kernel's own. */
#include "connection.h"

#include <poll.h>

static void await_event(struct rdma_event_channel *channel)
{
	struct pollfd ready = { .fd = channel->fd, .events = POLLIN };

	check(poll(&ready, 1, 15000) == 1, "no event comes");
}

static void move(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	check_ok(rdma_migrate_id(id, channel));
	check(id->channel == channel, "channel");
}

/* The end of a connection is told where its id is by then. */
static void connected_ids(void)
{
	struct connection connection = { 0 };
	struct rdma_event_channel *others[] = { open_channel(), open_channel() };

	establish(&connection);
	move(connection.client, others[0]);
	move(connection.server, others[1]);
	check_ok(rdma_disconnect(connection.client));
	pass_event(others[1], RDMA_CM_EVENT_DISCONNECTED, connection.server);
	check_ok(rdma_disconnect(connection.server));
	pass_event(others[0], RDMA_CM_EVENT_DISCONNECTED, connection.client);
	check_empty(connection.client_channel);
	check_empty(connection.server_channel);
	dismantle(&connection);
	rdma_destroy_event_channel(others[0]);
	rdma_destroy_event_channel(others[1]);
}

/* What is pending comes along, and is processed where it is taken. */
static void with_the_answer_pending(void)
{
	struct connection connection = { 0 };
	struct rdma_event_channel *other = open_channel();

	prepare(&connection);
	request(&connection, NULL);
	create_qp(connection.server);
	check_ok(rdma_accept(connection.server, NULL));
	await_event(connection.client_channel);
	move(connection.client, other);
	check_empty(connection.client_channel);
	check(!pass_event(other, RDMA_CM_EVENT_ESTABLISHED, connection.client), "status");
	pass_event(connection.server_channel, RDMA_CM_EVENT_ESTABLISHED, connection.server);
	disconnect(&(struct connection){
		.server_channel = connection.server_channel, .client_channel = other,
		.server = connection.server, .client = connection.client,
	});
	dismantle(&connection);
	rdma_destroy_event_channel(other);
}

/* The server's id is on the other channel and accepts: that is where it is told. */
static void accept_there_and_end(struct connection *connection, struct rdma_event_channel *other)
{
	create_qp(connection->server);
	check_ok(rdma_accept(connection->server, NULL));
	pass_event(connection->client_channel, RDMA_CM_EVENT_ESTABLISHED, connection->client);
	pass_event(other, RDMA_CM_EVENT_ESTABLISHED, connection->server);
	dismantle(connection);
	rdma_destroy_event_channel(other);
}

static void a_listener(void)
{
	struct connection connection = { 0 };
	struct rdma_event_channel *other = open_channel();

	prepare(&connection);
	move(connection.listener, other);
	check_ok(rdma_connect(connection.client, NULL));
	connection.server = take_request(other, connection.listener);
	check(connection.server->channel == other, "channel of the new id");
	accept_there_and_end(&connection, other);
}

static void a_listener_with_a_request_pending(void)
{
	struct connection connection = { 0 };
	struct rdma_event_channel *other = open_channel();

	prepare(&connection);
	check_ok(rdma_connect(connection.client, NULL));
	await_event(connection.server_channel);
	move(connection.listener, other);
	connection.server = take_request(other, connection.listener);
	check(connection.server->channel == other, "channel of the new id");
	check_empty(connection.server_channel);
	accept_there_and_end(&connection, other);
}

/* An id that was asked and has not answered. */
static void a_request(void)
{
	struct connection connection = { 0 };
	struct rdma_event_channel *other = open_channel();

	prepare(&connection);
	request(&connection, NULL);
	move(connection.server, other);
	accept_there_and_end(&connection, other);
}

/* From then on the calls on it wait; and no more when it is back. */
static void to_waiting_and_back(void)
{
	struct connection connection = { 0 };

	establish(&connection);
	check_ok(rdma_migrate_id(connection.client, NULL));
	check(connection.client->channel && connection.client->channel != connection.client_channel, "channel");
	check_fails(rdma_migrate_id(connection.client, NULL), EINVAL);
	move(connection.client, connection.client_channel);
	disconnect(&connection);
	dismantle(&connection);
}

static void waiting_then_resolving(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_id(channel);

	check_ok(rdma_migrate_id(id, NULL));
	check_ok(rdma_resolve_addr(id, NULL, device_address(AF_INET, 7499), 2000));
	check(id->event && id->event->event == RDMA_CM_EVENT_ADDR_RESOLVED, "event");
	move(id, channel);
	check(!id->event, "event");
	check_ok(rdma_resolve_route(id, 2000));
	pass_event(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, id);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

/* User events keep their place among the kernel's own. */
static void user_events_between(void)
{
	struct connection connection = { 0 };

	prepare(&connection);
	write_event(connection.client, 0, 1);
	request(&connection, NULL);
	create_qp(connection.server);
	check_ok(rdma_accept(connection.server, NULL));
	take_event(connection.client_channel, connection.client, 0, 1);
	await_event(connection.client_channel);
	write_event(connection.client, 0, 2);
	write_event(connection.client, 0, 3);
	check(!pass_event(connection.client_channel, RDMA_CM_EVENT_ESTABLISHED, connection.client), "status");
	take_event(connection.client_channel, connection.client, 0, 2);

	await_event(connection.server_channel);
	write_event(connection.server, 0, 4);
	write_event(connection.listener, 0, 5);
	check(!pass_event(connection.server_channel, RDMA_CM_EVENT_ESTABLISHED, connection.server), "status");
	take_event(connection.server_channel, connection.server, 0, 4);
	take_event(connection.server_channel, connection.listener, 0, 5);

	write_event(connection.server, 0, 6);
	check_ok(rdma_disconnect(connection.client));
	take_event(connection.server_channel, connection.server, 0, 6);
	pass_event(connection.server_channel, RDMA_CM_EVENT_DISCONNECTED, connection.server);
	check_ok(rdma_disconnect(connection.server));
	take_event(connection.client_channel, connection.client, 0, 3);
	pass_event(connection.client_channel, RDMA_CM_EVENT_DISCONNECTED, connection.client);
	dismantle(&connection);
}

/* An id that was asked and has not answered can be told something, too. */
static void user_event_of_a_request(void)
{
	struct connection connection = { 0 };

	prepare(&connection);
	request(&connection, NULL);
	write_event(connection.server, 7, 8);
	take_event(connection.server_channel, connection.server, 7, 8);
	/* Before the request is answered, and still there afterwards. */
	write_event(connection.server, 8, 9);
	create_qp(connection.server);
	check_ok(rdma_accept(connection.server, NULL));
	take_event(connection.server_channel, connection.server, 8, 9);
	pass_event(connection.client_channel, RDMA_CM_EVENT_ESTABLISHED, connection.client);
	pass_event(connection.server_channel, RDMA_CM_EVENT_ESTABLISHED, connection.server);
	write_event(connection.server, 9, 10);
	take_event(connection.server_channel, connection.server, 9, 10);
	disconnect(&connection);
	dismantle(&connection);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(connected_ids),
		TEST(with_the_answer_pending),
		TEST(a_listener),
		SLOW_TEST(a_listener_with_a_request_pending, 15),
		TEST(a_request),
		TEST(to_waiting_and_back),
		TEST(waiting_then_resolving),
		TEST(user_events_between),
		TEST(user_event_of_a_request),
	};

	return RUN_TESTS(tests, argc, argv);
}
