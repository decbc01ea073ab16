/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Datagram ids: a service is looked up and answers; there is no connection afterwards. */
#include "connection.h"

#include <arpa/inet.h>
#include <string.h>

/* What the kernel has room for in a question, beside the addresses, and in an answer. */
enum { MOST_QUESTION = 180, MOST_ANSWER = 136, HEADER = 40 };

static void prepare_datagrams(struct connection *connection)
{
	connection->server_channel = open_channel();
	connection->client_channel = open_channel();
	connection->listener = open_listener(connection->server_channel, RDMA_PS_UDP);
	connection->client = open_client(connection->client_channel, RDMA_PS_UDP, port_of(connection->listener));
	create_qp(connection->client);
}

static const uint8_t *pattern(void)
{
	static uint8_t bytes[256];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i + 1);
	return bytes;
}

static struct rdma_conn_param with_data(unsigned int length)
{
	return (struct rdma_conn_param){ .private_data = pattern(), .private_data_len = (uint8_t)length };
}

static void check_data(const struct rdma_ud_param *param, unsigned int sent)
{
	const uint8_t *bytes = param->private_data;

	observe("%u bytes arrive as %d", sent, param->private_data_len);
	check(param->private_data_len >= sent && (!sent || bytes), "%d bytes of %u", param->private_data_len, sent);
	for (unsigned int i = 0; i < param->private_data_len; i++)
		check(bytes[i] == (i < sent ? pattern()[i] : 0), "byte %u of %u", i, sent);
}

static void observe_answer(const struct rdma_ud_param *param)
{
	const struct ibv_ah_attr *ah = &param->ah_attr;
	char gid[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, ah->grh.dgid.raw, gid, sizeof(gid));
	observe("qkey %#x global %d gid %s index %d hops %d class %d sl %d rate %d port %d", param->qkey, ah->is_global, gid,
		ah->grh.sgid_index, ah->grh.hop_limit, ah->grh.traffic_class, ah->sl, ah->static_rate, ah->port_num);
}

/* The question, the answer, and a message each way to where the events say. */
static void question_and_answer(void)
{
	struct connection connection = { 0 };
	struct rdma_cm_event *event;
	struct rdma_ud_param answer;
	char sent[32] = "a datagram", received[HEADER + 32];
	struct ibv_mr *sender, *receiver;
	struct ibv_wc completion;
	struct ibv_ah *ah;

	prepare_datagrams(&connection);
	check(connection.client->qp->qp_type == IBV_QPT_UD && !strcmp(qp_state(connection.client), "RTS"), "client");
	check_ok(rdma_connect(connection.client, NULL));

	event = next_event(connection.server_channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL);
	connection.server = event->id;
	check(event->listen_id == connection.listener && event->status == 0, "ids");
	check(connection.server->ps == RDMA_PS_UDP && connection.server->qp_type == IBV_QPT_UD, "kind");
	observe("request: number %u qkey %#x data %d", event->param.ud.qp_num, event->param.ud.qkey,
		event->param.ud.private_data_len);
	check_ok(rdma_ack_cm_event(event));
	create_qp(connection.server);
	receiver = rdma_reg_msgs(connection.server, received, sizeof(received));
	check(receiver, "rdma_reg_msgs: %m");
	check_ok(rdma_post_recv(connection.server, NULL, received, sizeof(received), receiver));
	check_ok(rdma_accept(connection.server, NULL));

	event = next_event(connection.client_channel, RDMA_CM_EVENT_ESTABLISHED, connection.client);
	answer = event->param.ud;
	check(event->status == 0 && answer.qp_num == connection.server->qp->qp_num, "answer");
	check(answer.qkey == RDMA_UDP_QKEY, "qkey %#x", answer.qkey);
	observe_answer(&answer);
	check_ok(rdma_ack_cm_event(event));
	check_empty(connection.server_channel);

	sender = rdma_reg_msgs(connection.client, sent, sizeof(sent));
	ah = ibv_create_ah(connection.client->pd, &answer.ah_attr);
	check(sender && ah, "ibv_create_ah: %m");
	check_ok(rdma_post_ud_send(connection.client, NULL, sent, sizeof(sent), sender, IBV_SEND_SIGNALED, ah,
				   answer.qp_num));
	check(rdma_get_send_comp(connection.client, &completion) == 1 && completion.status == IBV_WC_SUCCESS, "send");
	check(rdma_get_recv_comp(connection.server, &completion) == 1 && completion.status == IBV_WC_SUCCESS, "receive");
	check(!strcmp(received + HEADER, "a datagram"), "received '%s'", received + HEADER);
	check(completion.src_qp == connection.client->qp->qp_num, "source");

	check_ok(ibv_destroy_ah(ah));
	check_ok(rdma_dereg_mr(sender));
	check_ok(rdma_dereg_mr(receiver));
	dismantle(&connection);
}

static void data(void)
{
	static const unsigned int questions[] = { 0, 1, 57, MOST_QUESTION };
	static const unsigned int answers[] = { 0, 1, 57, MOST_ANSWER };

	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		struct rdma_conn_param param = with_data(questions[i]);
		struct connection connection = { 0 };
		struct rdma_cm_event *event;

		prepare_datagrams(&connection);
		check_ok(rdma_connect(connection.client, &param));
		event = next_event(connection.server_channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL);
		check_data(&event->param.ud, questions[i]);
		connection.server = event->id;
		check_ok(rdma_ack_cm_event(event));
		create_qp(connection.server);
		param = with_data(answers[i]);
		check_ok(rdma_accept(connection.server, &param));
		event = next_event(connection.client_channel, RDMA_CM_EVENT_ESTABLISHED, connection.client);
		check_data(&event->param.ud, answers[i]);
		check_ok(rdma_ack_cm_event(event));
		dismantle(&connection);
	}
}

static void too_long_data(void)
{
	static const unsigned int lengths[] = { MOST_QUESTION + 1, 255 };
	struct connection connection = { 0 };
	struct rdma_conn_param param;

	prepare_datagrams(&connection);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		param = with_data(lengths[i]);
		check_fails(rdma_connect(connection.client, &param), EINVAL);
	}
	request(&connection, NULL);
	create_qp(connection.server);
	param = with_data(MOST_ANSWER + 1);
	check_fails(rdma_accept(connection.server, &param), EINVAL);
	observe("%d", pass_event(connection.client_channel, RDMA_CM_EVENT_UNREACHABLE, connection.client));
	dismantle(&connection);
}

static void rejected(void)
{
	struct connection connection = { 0 };
	struct rdma_cm_event *event;

	prepare_datagrams(&connection);
	request(&connection, NULL);
	check_ok(rdma_reject(connection.server, "no", 3));
	event = next_event(connection.client_channel, RDMA_CM_EVENT_UNREACHABLE, connection.client);
	observe("status %d data %d", event->status, event->param.ud.private_data_len);
	check(event->status > 0, "status %d", event->status);
	check_ok(rdma_ack_cm_event(event));
	dismantle(&connection);
}

static void nobody_listens(void)
{
	struct connection connection = {
		.server_channel = open_channel(),
		.client_channel = open_channel(),
	};
	int status;

	connection.client = open_client(connection.client_channel, RDMA_PS_UDP, 7499);
	create_qp(connection.client);
	check_ok(rdma_connect(connection.client, NULL));
	status = pass_event(connection.client_channel, RDMA_CM_EVENT_UNREACHABLE, connection.client);
	observe("status %d", status);
	check(status > 0, "status %d", status);
	dismantle(&connection);
}

/* The number of a queue pair of the program's own is handed on. */
static void own_number(void)
{
	struct rdma_conn_param param = { .qp_num = 0x1234 };
	struct connection connection = { 0 };
	struct rdma_cm_event *event;

	prepare_datagrams(&connection);
	rdma_destroy_qp(connection.client);
	request(&connection, NULL);
	check_ok(rdma_accept(connection.server, &param));
	event = next_event(connection.client_channel, RDMA_CM_EVENT_ESTABLISHED, connection.client);
	check(event->param.ud.qp_num == 0x1234, "number %#x", event->param.ud.qp_num);
	check_ok(rdma_ack_cm_event(event));
	dismantle(&connection);
}

static void answer_without_a_number(void)
{
	struct connection connection = { 0 };

	prepare_datagrams(&connection);
	request(&connection, NULL);
	check_fails(rdma_accept(connection.server, NULL), EINVAL);
	create_qp(connection.server);
	check_ok(rdma_accept(connection.server, NULL));
	pass_event(connection.client_channel, RDMA_CM_EVENT_ESTABLISHED, connection.client);
	dismantle(&connection);
}

static void no_connection_to_end(void)
{
	struct connection connection = { 0 };
	int ret;

	prepare_datagrams(&connection);
	request(&connection, NULL);
	create_qp(connection.server);
	check_ok(rdma_accept(connection.server, NULL));
	pass_event(connection.client_channel, RDMA_CM_EVENT_ESTABLISHED, connection.client);
	ret = rdma_disconnect(connection.client);
	check(!ret || errno == EINVAL, "rdma_disconnect: %m");
	observe("%s, the queue pair is %s", ret ? errno_name(errno) : "0", qp_state(connection.client));
	check_empty(connection.server_channel);
	dismantle(&connection);
}

static void nothing_is_left(void)
{
	struct connection connection = { 0 };
	struct resources before = { 0 };

	for (int i = 0; i < 10; i++) {
		if (i == 1)
			before = count_resources();
		prepare_datagrams(&connection);
		request(&connection, NULL);
		create_qp(connection.server);
		check_ok(rdma_accept(connection.server, NULL));
		pass_event(connection.client_channel, RDMA_CM_EVENT_ESTABLISHED, connection.client);
		dismantle(&connection);
	}
	check_resources(&before);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(question_and_answer),
		TEST(data),
		TEST(too_long_data),
		TEST(rejected),
		TEST(nobody_listens),
		TEST(own_number),
		TEST(answer_without_a_number),
		TEST(no_connection_to_end),
		TEST(nothing_is_left),
	};

	return RUN_TESTS(tests, argc, argv);
}
