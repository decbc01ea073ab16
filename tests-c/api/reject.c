/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rdma_reject and rdma_reject_ece. */
#include "connection.h"

#include <stdlib.h>
#include <string.h>

static void check_refused(struct connection *connection)
{
	int status = pass_event(connection->client_channel, RDMA_CM_EVENT_REJECTED, connection->client);

	check(status == refusal_status(connection->client, 28), "status %d", status);
}

/* The refusal is told with a number that says who refused: 28, the other side's program; 35, over its queue pair. */
static void refuses(int (*reject)(struct rdma_cm_id *, const void *, uint8_t), int status)
{
	struct connection connection = { 0 };
	struct rdma_cm_event *event;

	prepare(&connection);
	request(&connection, NULL);
	check_ok(reject(connection.server, "no room", 8));
	event = next_event(connection.client_channel, RDMA_CM_EVENT_REJECTED, connection.client);
	check(event->status == refusal_status(connection.client, status), "status %d", event->status);
	check(event->param.conn.private_data_len >= 8 && !strcmp(event->param.conn.private_data, "no room"), "data");
	check(!event->listen_id, "listen_id");
	check_ok(rdma_ack_cm_event(event));
	check(!strcmp(qp_state(connection.client), "ERR"), "the queue pair is %s", qp_state(connection.client));
	check_empty(connection.client_channel);
	check_empty(connection.server_channel);
	dismantle(&connection);
}

static void by_the_program(void)
{
	refuses(rdma_reject, 28);
}

static void for_its_options(void)
{
	refuses(rdma_reject_ece, 35);
}

static void without_data(void)
{
	struct connection connection = { 0 };
	struct rdma_cm_event *event;

	prepare(&connection);
	request(&connection, NULL);
	check_ok(rdma_reject(connection.server, NULL, 0));
	event = next_event(connection.client_channel, RDMA_CM_EVENT_REJECTED, connection.client);
	check(event->status == refusal_status(connection.client, 28), "status %d", event->status);
	observe("length %d", event->param.conn.private_data_len);
	check_ok(rdma_ack_cm_event(event));
	dismantle(&connection);
}

static void of_a_client_without_a_queue_pair(void)
{
	struct rdma_conn_param param = { .qp_num = 0x4711 };
	struct connection connection = { 0 };

	prepare(&connection);
	rdma_destroy_qp(connection.client);
	request(&connection, &param);
	check_ok(rdma_reject(connection.server, NULL, 0));
	check_refused(&connection);
	dismantle(&connection);
}

/* A server that has its queue pair already may still say no. */
static void with_a_queue_pair(void)
{
	struct connection connection = { 0 };

	prepare(&connection);
	request(&connection, NULL);
	create_qp(connection.server);
	check_ok(rdma_reject(connection.server, NULL, 0));
	check_refused(&connection);
	observe("the server's queue pair is %s", qp_state(connection.server));
	dismantle(&connection);
}

/* Afterwards the client makes a new id, and the same listener serves it. */
static void and_again(void)
{
	struct connection connection = { 0 };

	prepare(&connection);
	for (int i = 0; i < 3; i++) {
		request(&connection, NULL);
		check_ok(rdma_reject(connection.server, NULL, 0));
		check_refused(&connection);
		rdma_destroy_qp(connection.client);
		check_ok(rdma_destroy_id(connection.client));
		check_ok(rdma_destroy_id(connection.server));
		connection.server = NULL;
		connection.client = open_client(connection.client_channel, RDMA_PS_TCP, port_of(connection.listener));
		create_qp(connection.client);
	}
	establish(&connection);
	disconnect(&connection);
	dismantle(&connection);
}

/* A client without a queue pair that says it has this one. */
static struct rdma_cm_id *connect_with(const struct connection *connection, uint32_t number)
{
	struct rdma_conn_param param = { .qp_num = number };
	struct rdma_cm_id *id = open_client(open_channel(), RDMA_PS_TCP, port_of(connection->listener));

	check_ok(rdma_connect(id, &param));
	return id;
}

/*
 * To the other side a queue pair has a connection until that has ended there: a new one from there is stale, 10. Another
 * queue pair connects. The old connection is ended.
 */
static void of_a_queue_pair_that_has_a_connection(void)
{
	enum { NUMBER = 0x815 };
	struct connection connection = { 0 };
	struct rdma_cm_id *again;

	if (getenv("RDMACM_SIM"))
		skip_test("the simulator does not look at numbers of queue pairs");
	prepare(&connection);
	rdma_destroy_qp(connection.client);
	request(&connection, &(struct rdma_conn_param){ .qp_num = NUMBER });
	check_ok(rdma_accept(connection.server, &(struct rdma_conn_param){ .qp_num = NUMBER + 1 }));
	pass_event(connection.client_channel, RDMA_CM_EVENT_CONNECT_RESPONSE, connection.client);
	check_ok(rdma_establish(connection.client));
	pass_event(connection.server_channel, RDMA_CM_EVENT_ESTABLISHED, connection.server);

	again = connect_with(&connection, NUMBER);
	check(pass_event(again->channel, RDMA_CM_EVENT_REJECTED, again) == 10, "status");
	close_alone(again);
	observe("the old one: %d", pass_event(connection.client_channel, RDMA_CM_EVENT_DISCONNECTED, connection.client));

	again = connect_with(&connection, NUMBER + 2);
	check_ok(rdma_destroy_id(take_request(connection.server_channel, connection.listener)));
	pass_event(again->channel, RDMA_CM_EVENT_REJECTED, again);
	close_alone(again);
	dismantle(&connection);
}

static void at_a_wrong_time(void)
{
	struct connection connection = { 0 };

	prepare(&connection);
	check_fails(rdma_reject(connection.listener, NULL, 0), EINVAL);
	check_fails(rdma_reject(connection.client, NULL, 0), EINVAL);
	check_fails(rdma_reject_ece(connection.client, NULL, 0), EINVAL);
	request(&connection, NULL);
	check_ok(rdma_reject(connection.server, NULL, 0));
	pass_event(connection.client_channel, RDMA_CM_EVENT_REJECTED, connection.client);
	check_fails(rdma_reject(connection.server, NULL, 0), EINVAL);
	dismantle(&connection);

	establish(&connection);
	check_fails(rdma_reject(connection.server, NULL, 0), EINVAL);
	disconnect(&connection);
	check_fails(rdma_reject(connection.server, NULL, 0), EINVAL);
	dismantle(&connection);
}

static void without_a_device(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_id(channel);

	check_fails(rdma_reject(id, NULL, 0), EINVAL);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void null_id(void)
{
	check_fails(rdma_reject(NULL, NULL, 0), EINVAL);
	check_fails(rdma_reject_ece(NULL, "x", 1), EINVAL);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(by_the_program),
		TEST(for_its_options),
		TEST(without_data),
		TEST(of_a_client_without_a_queue_pair, .needs = "own-queue-pairs"),
		TEST(with_a_queue_pair),
		TEST(and_again),
		TEST(of_a_queue_pair_that_has_a_connection),
		TEST(at_a_wrong_time),
		TEST(without_a_device),
		TEST(null_id),
	};

	return RUN_TESTS(tests, argc, argv);
}
