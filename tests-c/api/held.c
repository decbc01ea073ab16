/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ids that end while events of theirs are not acknowledged. */
#include "connection.h"

#include <string.h>

enum { BRIEFLY_MS = 400 };

static struct connection connection;

static void end(struct rdma_cm_id **id)
{
	if ((*id)->qp)
		rdma_destroy_qp(*id);
	check_ok(rdma_destroy_id(*id));
	*id = NULL;
}

/* The caller's own event is no reason to wait, and stays as it is. */
static void listener_with_a_request(void)
{
	struct rdma_conn_param param = { .private_data = "question", .private_data_len = 9 };
	struct rdma_cm_event *event;

	prepare(&connection);
	check_ok(rdma_connect(connection.client, &param));
	event = next_event(connection.server_channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL);
	connection.server = event->id;
	end(&connection.listener);
	check(event->event == RDMA_CM_EVENT_CONNECT_REQUEST && event->id == connection.server, "the event changed");
	check(!strcmp(event->param.conn.private_data, "question"), "its data changed");
	check_ok(rdma_ack_cm_event(event));
	/* The request can still be accepted. */
	create_qp(connection.server);
	check_ok(rdma_accept(connection.server, NULL));
	pass_event(connection.client_channel, RDMA_CM_EVENT_ESTABLISHED, connection.client);
	pass_event(connection.server_channel, RDMA_CM_EVENT_ESTABLISHED, connection.server);
	disconnect(&connection);
	dismantle(&connection);
}

static void both_ends_when_established(void)
{
	struct rdma_conn_param answer = { .private_data = "answer", .private_data_len = 7 };
	struct rdma_cm_event *told_client, *told_server;

	prepare(&connection);
	request(&connection, NULL);
	create_qp(connection.server);
	check_ok(rdma_accept(connection.server, &answer));
	told_client = next_event(connection.client_channel, RDMA_CM_EVENT_ESTABLISHED, connection.client);
	told_server = next_event(connection.server_channel, RDMA_CM_EVENT_ESTABLISHED, connection.server);
	end(&connection.client);
	end(&connection.server);
	check(told_client->param.conn.private_data_len >= 7, "%d bytes", told_client->param.conn.private_data_len);
	check(!strcmp(told_client->param.conn.private_data, "answer"), "its data changed");
	check_ok(rdma_ack_cm_event(told_client));
	check_ok(rdma_ack_cm_event(told_server));
	dismantle(&connection);
}

static void end_of_a_connection(void)
{
	struct rdma_cm_event *event;

	establish(&connection);
	check_ok(rdma_disconnect(connection.client));
	event = next_event(connection.server_channel, RDMA_CM_EVENT_DISCONNECTED, connection.server);
	end(&connection.server);
	check_ok(rdma_ack_cm_event(event));
	dismantle(&connection);
}

static void refusal(void)
{
	struct rdma_cm_event *event;
	int status;

	prepare(&connection);
	status = refusal_status(connection.client, 28);
	request(&connection, NULL);
	check_ok(rdma_reject(connection.server, "no", 3));
	event = next_event(connection.client_channel, RDMA_CM_EVENT_REJECTED, connection.client);
	end(&connection.client);
	check(event->status == status && !strcmp(event->param.conn.private_data, "no"), "the event changed");
	check_ok(rdma_ack_cm_event(event));
	dismantle(&connection);
}

static void *hold_briefly(void *arg)
{
	struct rdma_cm_event **event = arg;
	struct rdma_cm_event *mine;

	mine = next_event(connection.server_channel, RDMA_CM_EVENT_ESTABLISHED, connection.server);
	__atomic_store_n(event, mine, __ATOMIC_RELEASE);
	sleep_ms(BRIEFLY_MS);
	check(mine->id == connection.server && mine->id->channel == connection.server_channel, "the id is gone");
	check_ok(rdma_ack_cm_event(mine));
	return NULL;
}

/* Another thread's event is: programs rely on it. */
static void by_another_thread(void)
{
	struct rdma_cm_event *event = NULL;
	pthread_t holder;
	uint64_t begin;

	prepare(&connection);
	request(&connection, NULL);
	create_qp(connection.server);
	check_ok(rdma_accept(connection.server, NULL));
	holder = start_thread(hold_briefly, &event);
	pass_event(connection.client_channel, RDMA_CM_EVENT_ESTABLISHED, connection.client);
	while (!__atomic_load_n(&event, __ATOMIC_ACQUIRE))
		sleep_ms(1);
	begin = now_ms();
	rdma_destroy_qp(connection.server);
	check_ok(rdma_destroy_id(connection.server));
	check(now_ms() - begin >= BRIEFLY_MS / 2, "did not wait");
	connection.server = NULL;
	join_thread(holder);
	dismantle(&connection);
}

/* Events that nobody took go with their ids. */
static void nobody_took_them(void)
{
	struct resources before = { 0 };

	for (int i = 0; i < 4; i++) {
		if (i == 1)
			before = count_resources();
		prepare(&connection);
		request(&connection, NULL);
		create_qp(connection.server);
		check_ok(rdma_accept(connection.server, NULL));
		check_ok(rdma_disconnect(connection.server));
		dismantle(&connection);
	}
	check_resources(&before);
}

#define GROUP "239.99.1.6"

/* Leaving a group is as destroying the id. */
static void membership(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_member(channel);
	struct rdma_cm_event *event;
	int context;

	check_ok(rdma_join_multicast(id, group_address(GROUP), &context));
	event = next_event(channel, RDMA_CM_EVENT_MULTICAST_JOIN, id);
	check_ok(rdma_leave_multicast(id, group_address(GROUP)));
	check(event->id == id && event->param.ud.private_data == &context, "the event changed");
	check_ok(rdma_ack_cm_event(event));
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void member(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_member(channel);
	struct rdma_cm_event *event;
	int context;

	check_ok(rdma_join_multicast(id, group_address(GROUP), &context));
	event = next_event(channel, RDMA_CM_EVENT_MULTICAST_JOIN, id);
	check_ok(rdma_destroy_id(id));
	check(event->param.ud.private_data == &context, "the event changed");
	check_ok(rdma_ack_cm_event(event));
	rdma_destroy_event_channel(channel);
}

static void *hold_membership_briefly(void *arg)
{
	struct rdma_cm_id *id = connection.client;
	struct rdma_cm_event **event = arg, *mine = next_event(id->channel, RDMA_CM_EVENT_MULTICAST_JOIN, id);

	__atomic_store_n(event, mine, __ATOMIC_RELEASE);
	sleep_ms(BRIEFLY_MS);
	check_ok(rdma_ack_cm_event(mine));
	return NULL;
}

static void membership_by_another_thread(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_event *event = NULL;
	pthread_t holder;
	uint64_t begin;

	connection.client = open_member(channel);
	check_ok(rdma_join_multicast(connection.client, group_address(GROUP), NULL));
	holder = start_thread(hold_membership_briefly, &event);
	while (!__atomic_load_n(&event, __ATOMIC_ACQUIRE))
		sleep_ms(1);
	begin = now_ms();
	check_ok(rdma_leave_multicast(connection.client, group_address(GROUP)));
	check(now_ms() - begin >= BRIEFLY_MS / 2, "did not wait");
	join_thread(holder);
	check_ok(rdma_destroy_id(connection.client));
	rdma_destroy_event_channel(channel);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		SLOW_TEST(listener_with_a_request, 10),
		SLOW_TEST(both_ends_when_established, 10),
		SLOW_TEST(end_of_a_connection, 10),
		SLOW_TEST(refusal, 10),
		TEST(by_another_thread),
		TEST(nobody_took_them),
		SLOW_TEST(membership, 10, .needs = "multicast"),
		SLOW_TEST(member, 10, .needs = "multicast"),
		TEST(membership_by_another_thread, .needs = "multicast"),
	};

	return RUN_TESTS(tests, argc, argv);
}
