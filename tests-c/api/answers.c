/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a kernel may answer and soft RoCE never does. Only on the simulator, which is told what to do. */
#include "../script.h"
#include "connection.h"

static void address_without_an_answer(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_id(channel);
	int status;

	check_ok(rdma_resolve_addr(id, NULL, device_address(AF_INET, 7499), 2000));
	script("fail query 1 EIO");
	status = pass_event(channel, RDMA_CM_EVENT_ADDR_ERROR, id);
	check(status == -EIO, "status %d", status);
	close_pair(channel, id);
}

static void route_without_an_answer(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_id(channel);
	int status;

	check_ok(rdma_resolve_addr(id, NULL, device_address(AF_INET, 7499), 2000));
	pass_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED, id);
	check_ok(rdma_resolve_route(id, 2000));
	script("fail query 1 EBUSY");
	status = pass_event(channel, RDMA_CM_EVENT_ROUTE_ERROR, id);
	check(status == -EBUSY, "status %d", status);
	close_pair(channel, id);
}

/* The answer of the peer cannot be made use of. */
static void attributes_without_an_answer(void)
{
	struct connection connection = { 0 };
	int status;

	prepare(&connection);
	request(&connection, NULL);
	create_qp(connection.server);
	check_ok(rdma_accept(connection.server, NULL));
	script("fail init_qp_attr 1 ENOMEM");
	status = pass_event(connection.client_channel, RDMA_CM_EVENT_CONNECT_ERROR, connection.client);
	check(status == -ENOMEM, "status %d", status);
	dismantle(&connection);
}

/* A request that cannot be set up is refused, and the listener goes on. */
static void request_without_an_answer(void)
{
	struct connection connection = { 0 };

	prepare(&connection);
	check_ok(rdma_connect(connection.client, NULL));
	script("fail query 1 EIO");
	check_empty(connection.server_channel);
	pass_event(connection.client_channel, RDMA_CM_EVENT_REJECTED, connection.client);
	rdma_destroy_qp(connection.client);
	check_ok(rdma_destroy_id(connection.client));
	connection.client = open_client(connection.client_channel, RDMA_PS_TCP, port_of(connection.listener));
	create_qp(connection.client);
	establish(&connection);
	disconnect(&connection);
	dismantle(&connection);
}

/* The owner of a listener that waits is told. */
static void awaited_request_without_an_answer(void)
{
	struct rdma_cm_id *listener = open_waiting(RDMA_PS_TCP), *client, *id;
	struct rdma_event_channel *channel = open_channel();

	check_ok(rdma_bind_addr(listener, device_address(AF_INET, 0)));
	check_ok(rdma_listen(listener, 1));
	client = open_client(channel, RDMA_PS_TCP, port_of(listener));
	create_qp(client);
	check_ok(rdma_connect(client, NULL));
	script("fail query 1 EIO");
	check_fails(rdma_get_request(listener, &id), EIO);
	pass_event(channel, RDMA_CM_EVENT_REJECTED, client);
	rdma_destroy_qp(client);
	check_ok(rdma_destroy_id(client));
	rdma_destroy_event_channel(channel);
	close_waiting(listener);
}

/* An internal event that nobody knows is passed over, and counts as done. */
static void unknown_internal_event(void)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;

	open_pair(&channel, &id);
	script("inject event 19");
	write_event(id, 1, 2);
	take_event(channel, id, 1, 2);
	close_pair(channel, id);
}

/* Events of a connection that stands arrive as they are, and do not end it. */
static void events_of_a_connection(void)
{
	struct connection connection = { 0 };
	int status;

	prepare(&connection);
	request(&connection, NULL);
	establish(&connection);
	/* The server's id is the youngest. */
	script("inject event 7 status -110");
	script("inject event 14");
	status = pass_event(connection.server_channel, RDMA_CM_EVENT_UNREACHABLE, connection.server);
	check(status == -ETIMEDOUT, "status %d", status);
	check(!pass_event(connection.server_channel, RDMA_CM_EVENT_ADDR_CHANGE, connection.server), "status");
	disconnect(&connection);
	dismantle(&connection);
}

static void stale_connection(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *listener = open_listener(channel, RDMA_PS_TCP);
	struct rdma_cm_id *id = open_client(channel, RDMA_PS_TCP, port_of(listener));

	create_qp(id);
	script("inject event 8 status 10");
	check(pass_event(channel, RDMA_CM_EVENT_REJECTED, id) == 10, "status");
	rdma_destroy_qp(id);
	check_ok(rdma_destroy_id(id));
	check_ok(rdma_destroy_id(listener));
	rdma_destroy_event_channel(channel);
}

static void *answer_the_end(void *arg)
{
	struct connection *connection = arg;

	pass_event(connection->client_channel, RDMA_CM_EVENT_DISCONNECTED, connection->client);
	check_ok(rdma_disconnect(connection->client));
	return NULL;
}

/* A disconnect that waits takes only its own answer. */
static void unreachable_before_a_disconnect(void)
{
	struct connection connection = { 0 };
	pthread_t client;

	prepare(&connection);
	request(&connection, NULL);
	establish(&connection);
	check_ok(rdma_migrate_id(connection.server, NULL));
	script("inject event 7 status -110");
	client = start_thread(answer_the_end, &connection);
	check_ok(rdma_disconnect(connection.server));
	check_answer(connection.server, RDMA_CM_EVENT_DISCONNECTED);
	join_thread(client);
	check(pass_event(connection.server->channel, RDMA_CM_EVENT_UNREACHABLE, connection.server) == -ETIMEDOUT, "status");
	dismantle(&connection);
}

/* Nobody answers, and the kernel says so: that is the end of the wait. */
static void unreachable_after_a_disconnect(void)
{
	struct connection connection = { 0 };

	prepare(&connection);
	request(&connection, NULL);
	establish(&connection);
	check_ok(rdma_migrate_id(connection.server, NULL));
	script("after disconnect 1 inject event 7 status -110");
	check_fails(rdma_disconnect(connection.server), ETIMEDOUT);
	check_answer(connection.server, RDMA_CM_EVENT_UNREACHABLE);
	dismantle(&connection);
}

/* Without the command for flags the kernel would make a full member of it. */
static void flags_that_the_kernel_cannot_take(void)
{
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER,
		.addr = group_address("239.99.1.7"),
	};
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;

	script("without af_ib");
	channel = open_channel();
	id = open_member(channel);
	check_fails(rdma_join_multicast_ex(id, &attr, NULL), EOPNOTSUPP);
	check_empty(channel);
	attr.join_flags = RDMA_MC_JOIN_FLAG_FULLMEMBER;
	check_ok(rdma_join_multicast_ex(id, &attr, NULL));
	check(!pass_event(channel, RDMA_CM_EVENT_MULTICAST_JOIN, id), "status");
	check_ok(rdma_leave_multicast(id, group_address("239.99.1.7")));
	close_pair(channel, id);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(address_without_an_answer),
		TEST(route_without_an_answer),
		TEST(attributes_without_an_answer),
		TEST(request_without_an_answer),
		TEST(awaited_request_without_an_answer),
		TEST(unknown_internal_event),
		TEST(events_of_a_connection),
		TEST(stale_connection),
		TEST(unreachable_before_a_disconnect),
		SLOW_TEST(unreachable_after_a_disconnect, 30),
		/* For the rest of the fabric's life. */
		TEST(flags_that_the_kernel_cannot_take),
	};

	return RUN_TESTS(tests, argc, argv);
}
