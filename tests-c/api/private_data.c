/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The limits of private data, and what arrives of it. */
#include "connection.h"

#include <string.h>

/* What the kernel has room for: a request, beside the addresses in it; an answer; a refusal. */
enum { MOST_REQUEST = 56, MOST_ANSWER = 196, MOST_REFUSAL = 148 };

static const uint8_t *pattern(void)
{
	static uint8_t bytes[256];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i + 1);
	return bytes;
}

static struct rdma_conn_param with_data(unsigned int length)
{
	return (struct rdma_conn_param){
		.private_data = pattern(),
		.private_data_len = (uint8_t)length,
		.rnr_retry_count = 7,
		.retry_count = 7,
	};
}

/* The transport fills up with zeros. */
static void check_data(const struct rdma_conn_param *param, unsigned int sent)
{
	const uint8_t *bytes = param->private_data;

	observe("%u bytes arrive as %d", sent, param->private_data_len);
	check(param->private_data_len >= sent, "%d bytes of %u", param->private_data_len, sent);
	check(!sent || bytes, "no data");
	for (unsigned int i = 0; i < param->private_data_len; i++)
		check(bytes[i] == (i < sent ? pattern()[i] : 0), "byte %u of %u", i, sent);
}

static void asks_with(unsigned int length)
{
	struct rdma_conn_param param = with_data(length);
	struct connection connection = { 0 };
	struct rdma_cm_event *event;

	prepare(&connection);
	check_ok(rdma_connect(connection.client, &param));
	event = next_event(connection.server_channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL);
	check_data(&event->param.conn, length);
	connection.server = event->id;
	check_ok(rdma_ack_cm_event(event));
	dismantle(&connection);
}

static void requests(void)
{
	static const unsigned int lengths[] = { 0, 1, 8, MOST_REQUEST - 1, MOST_REQUEST };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		asks_with(lengths[i]);
}

/* Nothing is sent, and the id can still connect. */
static void too_long_requests(void)
{
	static const unsigned int lengths[] = { MOST_REQUEST + 1, 92, 196, 255 };
	struct connection connection = { 0 };
	struct rdma_conn_param param;

	prepare(&connection);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		param = with_data(lengths[i]);
		check_fails(rdma_connect(connection.client, &param), EINVAL);
	}
	param = with_data(MOST_REQUEST);
	request(&connection, &param);
	establish(&connection);
	disconnect(&connection);
	dismantle(&connection);
}

static void answers_with(unsigned int length)
{
	struct rdma_conn_param param = with_data(length);
	struct connection connection = { 0 };
	struct rdma_cm_event *event;

	prepare(&connection);
	request(&connection, NULL);
	create_qp(connection.server);
	check_ok(rdma_accept(connection.server, &param));
	event = next_event(connection.client_channel, RDMA_CM_EVENT_ESTABLISHED, connection.client);
	check_data(&event->param.conn, length);
	check_ok(rdma_ack_cm_event(event));
	event = next_event(connection.server_channel, RDMA_CM_EVENT_ESTABLISHED, connection.server);
	check(!event->param.conn.private_data_len && !event->param.conn.private_data, "data");
	check_ok(rdma_ack_cm_event(event));
	dismantle(&connection);
}

static void answers(void)
{
	static const unsigned int lengths[] = { 0, 1, MOST_REQUEST + 1, MOST_ANSWER - 1, MOST_ANSWER };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		answers_with(lengths[i]);
}

/* The kernel refuses the client then. */
static void too_long_answers(void)
{
	static const unsigned int lengths[] = { MOST_ANSWER + 1, 255 };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct rdma_conn_param param = with_data(lengths[i]);
		struct connection connection = { 0 };

		prepare(&connection);
		request(&connection, NULL);
		create_qp(connection.server);
		check_fails(rdma_accept(connection.server, &param), EINVAL);
		observe("%u bytes: the server's queue pair is %s", lengths[i], qp_state(connection.server));
		observe("the client's status is %d",
			pass_event(connection.client_channel, RDMA_CM_EVENT_REJECTED, connection.client));
		dismantle(&connection);
	}
}

static void refuses_with(unsigned int length)
{
	struct connection connection = { 0 };
	struct rdma_cm_event *event;

	prepare(&connection);
	request(&connection, NULL);
	check_ok(rdma_reject(connection.server, pattern(), (uint8_t)length));
	event = next_event(connection.client_channel, RDMA_CM_EVENT_REJECTED, connection.client);
	check(event->status == refusal_status(connection.client, 28), "status %d", event->status);
	check_data(&event->param.conn, length);
	check_ok(rdma_ack_cm_event(event));
	dismantle(&connection);
}

static void refusals(void)
{
	static const unsigned int lengths[] = { 0, 1, MOST_REFUSAL - 1, MOST_REFUSAL };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		refuses_with(lengths[i]);
}

static void too_long_refusals(void)
{
	static const unsigned int lengths[] = { MOST_REFUSAL + 1, 255 };
	struct connection connection = { 0 };

	prepare(&connection);
	request(&connection, NULL);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		check_fails(rdma_reject(connection.server, pattern(), (uint8_t)lengths[i]), EINVAL);
	check_ok(rdma_reject(connection.server, pattern(), 1));
	pass_event(connection.client_channel, RDMA_CM_EVENT_REJECTED, connection.client);
	dismantle(&connection);
}

/* A pointer without a length, and a length without a pointer, are no data. */
static void half_given(void)
{
	struct rdma_conn_param none = { .private_data_len = 40 };
	struct rdma_conn_param empty = { .private_data = pattern() };
	struct connection connection = { 0 };
	struct rdma_cm_event *event;

	prepare(&connection);
	check_ok(rdma_connect(connection.client, &none));
	event = next_event(connection.server_channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL);
	check_data(&event->param.conn, 0);
	connection.server = event->id;
	check_ok(rdma_ack_cm_event(event));
	create_qp(connection.server);
	check_ok(rdma_accept(connection.server, &empty));
	event = next_event(connection.client_channel, RDMA_CM_EVENT_ESTABLISHED, connection.client);
	check_data(&event->param.conn, 0);
	check_ok(rdma_ack_cm_event(event));
	pass_event(connection.server_channel, RDMA_CM_EVENT_ESTABLISHED, connection.server);
	disconnect(&connection);
	dismantle(&connection);

	prepare(&connection);
	request(&connection, &empty);
	check_ok(rdma_reject(connection.server, NULL, 40));
	event = next_event(connection.client_channel, RDMA_CM_EVENT_REJECTED, connection.client);
	check_data(&event->param.conn, 0);
	check_ok(rdma_ack_cm_event(event));
	dismantle(&connection);
}

/* The data of an event lasts until its acknowledgement, whatever comes after it. */
static void lasts_with_the_event(void)
{
	struct rdma_conn_param param = with_data(MOST_REQUEST);
	struct connection connection = { 0 };
	struct rdma_cm_event *held, *event;

	prepare(&connection);
	check_ok(rdma_connect(connection.client, &param));
	held = next_event(connection.server_channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL);
	connection.server = held->id;
	create_qp(connection.server);
	param = with_data(MOST_ANSWER);
	check_ok(rdma_accept(connection.server, &param));
	event = next_event(connection.client_channel, RDMA_CM_EVENT_ESTABLISHED, connection.client);
	pass_event(connection.server_channel, RDMA_CM_EVENT_ESTABLISHED, connection.server);
	check_data(&held->param.conn, MOST_REQUEST);
	check_ok(rdma_ack_cm_event(held));
	check_data(&event->param.conn, MOST_ANSWER);
	check_ok(rdma_ack_cm_event(event));
	disconnect(&connection);
	dismantle(&connection);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(requests),
		TEST(too_long_requests, .needs = "data-limits"),
		TEST(answers),
		TEST(too_long_answers, .needs = "data-limits"),
		TEST(refusals),
		TEST(too_long_refusals, .needs = "data-limits"),
		TEST(half_given),
		TEST(lasts_with_the_event),
	};

	return RUN_TESTS(tests, argc, argv);
}
