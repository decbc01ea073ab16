/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Connections whose queue pairs libibverbs does not make, or move, as it should. Only on the simulator. */
#include "../script.h"
#include "connection.h"

/* The end is told even where the queue pair cannot be moved any more. */
static void end_connection(void (*end)(struct connection *connection))
{
	struct connection connection = { 0 };

	prepare(&connection);
	request(&connection, NULL);
	establish(&connection);
	end(&connection);
	dismantle(&connection);
}

static void end_by_the_client(struct connection *connection)
{
	script("fail ibv_modify_qp 1 EIO");
	check_ok(rdma_disconnect(connection->client));
	pass_event(connection->server_channel, RDMA_CM_EVENT_DISCONNECTED, connection->server);
}

static void disconnect_of_the_client(void)
{
	end_connection(end_by_the_client);
}

static void end_by_the_server(struct connection *connection)
{
	script("fail ibv_modify_qp 1 ENOMEM");
	check_ok(rdma_disconnect(connection->server));
	pass_event(connection->client_channel, RDMA_CM_EVENT_DISCONNECTED, connection->client);
}

static void disconnect_of_the_server(void)
{
	end_connection(end_by_the_server);
}

static void end_by_both(struct connection *connection)
{
	script("fail ibv_modify_qp every EIO");
	check_ok(rdma_disconnect(connection->client));
	pass_event(connection->server_channel, RDMA_CM_EVENT_DISCONNECTED, connection->server);
	check_ok(rdma_disconnect(connection->server));
	pass_event(connection->client_channel, RDMA_CM_EVENT_DISCONNECTED, connection->client);
}

static void disconnect_of_both(void)
{
	end_connection(end_by_both);
}

static void *answer_the_end(void *arg)
{
	struct connection *connection = arg;

	pass_event(connection->client_channel, RDMA_CM_EVENT_DISCONNECTED, connection->client);
	check_ok(rdma_disconnect(connection->client));
	return NULL;
}

static void end_by_waiting(struct connection *connection)
{
	pthread_t client;

	check_ok(rdma_migrate_id(connection->server, NULL));
	client = start_thread(answer_the_end, connection);
	script("fail ibv_modify_qp 1 EIO");
	check_ok(rdma_disconnect(connection->server));
	check_answer(connection->server, RDMA_CM_EVENT_DISCONNECTED);
	join_thread(client);
}

static void disconnect_that_waits(void)
{
	end_connection(end_by_waiting);
}

/* What could not be done can be tried again. */
static void accept_again(void)
{
	struct connection connection = { 0 };

	prepare(&connection);
	request(&connection, NULL);
	create_qp(connection.server);
	for (int nth = 1; nth <= 3; nth++) {
		script("fail ibv_modify_qp %d EIO", nth);
		check_fails(rdma_accept(connection.server, NULL), EIO);
		check(connection.server->qp, "no queue pair");
		rdma_destroy_qp(connection.server);
		create_qp(connection.server);
	}
	establish(&connection);
	dismantle(&connection);
}

/* The peer accepted, and this side cannot. */
static void answer_of_no_use(void)
{
	struct connection connection = { 0 };
	int status;

	prepare(&connection);
	request(&connection, NULL);
	create_qp(connection.server);
	check_ok(rdma_accept(connection.server, NULL));
	script("fail ibv_modify_qp 2 EIO");
	status = pass_event(connection.client_channel, RDMA_CM_EVENT_CONNECT_ERROR, connection.client);
	check(status == -EIO, "status %d", status);
	dismantle(&connection);
}

/* A queue pair that cannot be had leaves nothing behind; the next one can. */
static void queue_pair(const char *line, int error)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct rdma_cm_id *id = open_alone();

	script("%s", line);
	errno = 0;
	check(rdma_create_qp(id, NULL, &attr) == -1 && errno == error, "errno %s", errno_name(errno));
	check_nothing_left(id);
	create_qp(id);
	rdma_destroy_qp(id);
	check_nothing_left(id);
	close_alone(id);
}

static void no_completion_channel(void)
{
	queue_pair("fail ibv_create_comp_channel 1 EMFILE", EMFILE);
}

static void no_second_completion_channel(void)
{
	queue_pair("fail ibv_create_comp_channel 2 EMFILE", EMFILE);
}

static void no_completion_queue(void)
{
	queue_pair("fail ibv_create_cq 1 ENOMEM", ENOMEM);
}

static void no_second_completion_queue(void)
{
	queue_pair("fail ibv_create_cq 2 ENOMEM", ENOMEM);
}

static void no_queue_pair(void)
{
	queue_pair("fail ibv_create_qp 1 ENOSPC", ENOSPC);
}

static void queue_pair_that_does_not_move(void)
{
	queue_pair("fail ibv_modify_qp 1 EIO", EIO);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(disconnect_of_the_client),
		TEST(disconnect_of_the_server),
		SLOW_TEST(disconnect_that_waits, 30, .needs = "migrate_id"),
		TEST(accept_again),
		TEST(answer_of_no_use, .needs = "handshake"),
		TEST(no_completion_channel),
		TEST(no_second_completion_channel),
		TEST(no_completion_queue),
		TEST(no_second_completion_queue),
		TEST(no_queue_pair),
		TEST(queue_pair_that_does_not_move),
		/* For the rest of the fabric's life. */
		TEST(disconnect_of_both),
	};

	return RUN_TESTS(tests, argc, argv);
}
