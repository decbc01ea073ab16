/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rdma_disconnect. */
#include "connection.h"

#include <string.h>

static void by_the_server(void)
{
	struct connection connection = { 0 };

	establish(&connection);
	check_ok(rdma_disconnect(connection.server));
	check(!strcmp(qp_state(connection.server), "ERR"), "the queue pair is %s", qp_state(connection.server));
	observe("status %d", pass_event(connection.client_channel, RDMA_CM_EVENT_DISCONNECTED, connection.client));
	check_ok(rdma_disconnect(connection.client));
	check(!strcmp(qp_state(connection.client), "ERR"), "the queue pair is %s", qp_state(connection.client));
	observe("status %d", pass_event(connection.server_channel, RDMA_CM_EVENT_DISCONNECTED, connection.server));
	dismantle(&connection);
}

/* Destroying the id answers, too. */
static void answered_by_destroying(void)
{
	struct connection connection = { 0 };

	establish(&connection);
	check_ok(rdma_disconnect(connection.client));
	pass_event(connection.server_channel, RDMA_CM_EVENT_DISCONNECTED, connection.server);
	rdma_destroy_qp(connection.server);
	check_ok(rdma_destroy_id(connection.server));
	connection.server = NULL;
	pass_event(connection.client_channel, RDMA_CM_EVENT_DISCONNECTED, connection.client);
	dismantle(&connection);
}

/* Kernels differ in what they say when there is nothing to end; 0 or EINVAL, and never a wait. */
static void ends_nothing(struct rdma_cm_id *id, const char *what)
{
	int ret = rdma_disconnect(id);

	check(!ret || errno == EINVAL, "%s: %m", what);
	observe("%s: %s", what, ret ? errno_name(errno) : "0");
}

static void again(void)
{
	struct connection connection = { 0 };

	establish(&connection);
	disconnect(&connection);
	ends_nothing(connection.client, "client");
	ends_nothing(connection.server, "server");
	dismantle(&connection);
}

static void before_the_connection(void)
{
	struct connection connection = { 0 };

	prepare(&connection);
	ends_nothing(connection.listener, "listener");
	ends_nothing(connection.client, "client");
	observe("the client's queue pair is %s", qp_state(connection.client));
	dismantle(&connection);

	prepare(&connection);
	request(&connection, NULL);
	ends_nothing(connection.server, "server that is asked");
	ends_nothing(connection.client, "client that asks");
	dismantle(&connection);
}

static void without_a_device(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_id(channel);

	check_fails(rdma_disconnect(id), EINVAL);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void without_a_queue_pair(void)
{
	struct connection connection = { 0 };

	establish(&connection);
	rdma_destroy_qp(connection.client);
	check_ok(rdma_disconnect(connection.client));
	pass_event(connection.server_channel, RDMA_CM_EVENT_DISCONNECTED, connection.server);
	rdma_destroy_qp(connection.server);
	check_ok(rdma_disconnect(connection.server));
	pass_event(connection.client_channel, RDMA_CM_EVENT_DISCONNECTED, connection.client);
	dismantle(&connection);
}

static pthread_barrier_t barrier;

static void *end_the_connection(void *arg)
{
	struct rdma_cm_id *id = arg;

	pthread_barrier_wait(&barrier);
	/* The second may find the connection ended. */
	check(!rdma_disconnect(id) || errno == EINVAL, "rdma_disconnect: %m");
	return NULL;
}

static void both_at_once(void)
{
	unsigned long rounds = number_from_env("TEST_ROUNDS", 50);
	struct connection connection = { 0 };
	pthread_t threads[2];

	for (unsigned long i = 0; i < rounds; i++) {
		establish(&connection);
		pthread_barrier_init(&barrier, NULL, 2);
		threads[0] = start_thread(end_the_connection, connection.client);
		threads[1] = start_thread(end_the_connection, connection.server);
		pass_event(connection.client_channel, RDMA_CM_EVENT_DISCONNECTED, connection.client);
		pass_event(connection.server_channel, RDMA_CM_EVENT_DISCONNECTED, connection.server);
		join_thread(threads[0]);
		join_thread(threads[1]);
		pthread_barrier_destroy(&barrier);
		dismantle(&connection);
	}
}

/* The kernel tells when the numbers of the connection may be used again. */
static void followed_by_the_end_of_the_wait(void)
{
	struct connection connection = { 0 };

	establish(&connection);
	disconnect(&connection);
	observe("client: %d", pass_event(connection.client_channel, RDMA_CM_EVENT_TIMEWAIT_EXIT, connection.client));
	observe("server: %d", pass_event(connection.server_channel, RDMA_CM_EVENT_TIMEWAIT_EXIT, connection.server));
	check_empty(connection.client_channel);
	check_empty(connection.server_channel);
	dismantle(&connection);
}

static void null_id(void)
{
	check_fails(rdma_disconnect(NULL), EINVAL);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(by_the_server),
		TEST(answered_by_destroying),
		TEST(again),
		TEST(before_the_connection),
		TEST(without_a_device),
		TEST(without_a_queue_pair),
		SLOW_TEST(both_at_once, 120),
		SLOW_TEST(followed_by_the_end_of_the_wait, 60, .needs = "time-wait"),
		TEST(null_id),
	};

	return RUN_TESTS(tests, argc, argv);
}
