/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Connections whose queue pairs are the program's own, or that have none: rdma_establish and rdma_notify. */
#include "connection.h"

#include <string.h>
#include <unistd.h>

/* Prepared, without queue pairs. */
static void prepare_bare(struct connection *connection)
{
	connection->server_channel = open_channel();
	connection->client_channel = open_channel();
	connection->listener = open_listener(connection->server_channel, RDMA_PS_TCP);
	connection->client = open_client(connection->client_channel, RDMA_PS_TCP, port_of(connection->listener));
}

static struct rdma_conn_param param_of(uint32_t number)
{
	return (struct rdma_conn_param){
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
		.qp_num = number,
	};
}

/* A number that no queue pair has, another one each time: the kernel refuses one that it has just seen. */
static uint32_t invented_number(void)
{
	static uint32_t count;

	return 0x800000 | ((uint32_t)getpid() << 8 & 0x7fff00) | (count++ & 0xff);
}

static void move_to_rts(struct own_qp *own)
{
	move_own_qp(own, IBV_QPS_INIT);
	move_own_qp(own, IBV_QPS_RTR);
	move_own_qp(own, IBV_QPS_RTS);
}

static void await_completion(struct ibv_cq *cq)
{
	uint64_t limit = now_ms() + 10000 * time_scale();
	struct ibv_wc completion;
	int count;

	while (!(count = ibv_poll_cq(cq, 1, &completion)))
		check(now_ms() < limit, "no completion");
	check(count == 1 && completion.status == IBV_WC_SUCCESS, "completion with %s",
	      ibv_wc_status_str(completion.status));
}

/* One message over queue pairs that are connected. */
static void send_a_message(struct own_qp *from, struct own_qp *to)
{
	static char sent[64] = "a message", received[64];
	struct ibv_mr *sender = ibv_reg_mr(from->id->pd, sent, sizeof(sent), 0);
	struct ibv_mr *receiver = ibv_reg_mr(to->id->pd, received, sizeof(received), IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge send_sge = { .addr = (uintptr_t)sent, .length = sizeof(sent) };
	struct ibv_sge receive_sge = { .addr = (uintptr_t)received, .length = sizeof(received) };
	struct ibv_recv_wr receive = { .sg_list = &receive_sge, .num_sge = 1 }, *bad_receive;
	struct ibv_send_wr send = {
		.sg_list = &send_sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
	}, *bad_send;

	check(sender && receiver, "ibv_reg_mr: %m");
	send_sge.lkey = sender->lkey;
	receive_sge.lkey = receiver->lkey;
	check_ok(ibv_post_recv(to->qp, &receive, &bad_receive));
	check_ok(ibv_post_send(from->qp, &send, &bad_send));
	await_completion(from->cq);
	await_completion(to->cq);
	check(!strcmp(received, sent), "received '%s'", received);
	check_ok(ibv_dereg_mr(sender));
	check_ok(ibv_dereg_mr(receiver));
}

static void own_queue_pairs(void)
{
	struct connection connection = { 0 };
	struct own_qp client, server;
	struct rdma_conn_param param;
	struct rdma_cm_event *event;

	prepare_bare(&connection);
	make_own_qp(&client, connection.client);
	param = param_of(client.qp->qp_num);
	param.srq = 1;
	check_ok(rdma_connect(connection.client, &param));

	event = next_event(connection.server_channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL);
	check(event->param.conn.qp_num == client.qp->qp_num, "number of the queue pair");
	check(event->param.conn.srq == 1, "srq");
	connection.server = event->id;
	check_ok(rdma_ack_cm_event(event));
	make_own_qp(&server, connection.server);
	move_to_rts(&server);
	param = param_of(server.qp->qp_num);
	check_ok(rdma_accept(connection.server, &param));

	event = next_event(connection.client_channel, RDMA_CM_EVENT_CONNECT_RESPONSE, connection.client);
	check(event->status == 0 && event->param.conn.qp_num == server.qp->qp_num, "answer");
	check_ok(rdma_ack_cm_event(event));
	move_to_rts(&client);
	check_empty(connection.server_channel);
	check_ok(rdma_establish(connection.client));
	check(!pass_event(connection.server_channel, RDMA_CM_EVENT_ESTABLISHED, connection.server), "status");
	check_empty(connection.client_channel);
	check(!connection.client->qp && !connection.server->qp, "the library has a queue pair");

	send_a_message(&client, &server);
	send_a_message(&server, &client);
	disconnect(&connection);
	free_own_qp(&client);
	free_own_qp(&server);
	dismantle(&connection);
}

static void no_queue_pairs(void)
{
	struct connection connection = { 0 };
	struct rdma_conn_param param = param_of(invented_number());

	prepare_bare(&connection);
	request(&connection, &param);
	param = param_of(invented_number());
	check_ok(rdma_accept(connection.server, &param));
	check(!pass_event(connection.client_channel, RDMA_CM_EVENT_CONNECT_RESPONSE, connection.client), "status");
	check_ok(rdma_establish(connection.client));
	check(!pass_event(connection.server_channel, RDMA_CM_EVENT_ESTABLISHED, connection.server), "status");
	disconnect(&connection);
	dismantle(&connection);
}

/* One side's is the library's. */
static void own_queue_pair_of_the_client(void)
{
	struct connection connection = { 0 };
	struct rdma_conn_param param;
	struct own_qp client;

	prepare_bare(&connection);
	make_own_qp(&client, connection.client);
	param = param_of(client.qp->qp_num);
	request(&connection, &param);
	create_qp(connection.server);
	check_ok(rdma_accept(connection.server, NULL));
	pass_event(connection.client_channel, RDMA_CM_EVENT_CONNECT_RESPONSE, connection.client);
	move_to_rts(&client);
	check_ok(rdma_establish(connection.client));
	pass_event(connection.server_channel, RDMA_CM_EVENT_ESTABLISHED, connection.server);
	disconnect(&connection);
	free_own_qp(&client);
	dismantle(&connection);
}

static void own_queue_pair_of_the_server(void)
{
	struct connection connection = { 0 };
	struct rdma_conn_param param;
	struct own_qp server;

	prepare(&connection);
	request(&connection, NULL);
	make_own_qp(&server, connection.server);
	move_to_rts(&server);
	param = param_of(server.qp->qp_num);
	check_ok(rdma_accept(connection.server, &param));
	pass_event(connection.client_channel, RDMA_CM_EVENT_ESTABLISHED, connection.client);
	pass_event(connection.server_channel, RDMA_CM_EVENT_ESTABLISHED, connection.server);
	disconnect(&connection);
	free_own_qp(&server);
	dismantle(&connection);
}

/* The client does not like the answer. */
static void refused_by_the_client(void)
{
	struct connection connection = { 0 };
	struct rdma_conn_param param = param_of(invented_number());
	struct rdma_cm_event *event;

	prepare_bare(&connection);
	request(&connection, &param);
	param = param_of(invented_number());
	check_ok(rdma_accept(connection.server, &param));
	pass_event(connection.client_channel, RDMA_CM_EVENT_CONNECT_RESPONSE, connection.client);
	check_ok(rdma_reject(connection.client, "no", 3));
	event = next_event(connection.server_channel, RDMA_CM_EVENT_REJECTED, connection.server);
	check(event->status == 28 && !strcmp(event->param.conn.private_data, "no"), "status %d", event->status);
	check_ok(rdma_ack_cm_event(event));
	check_fails(rdma_establish(connection.client), EINVAL);
	dismantle(&connection);
}

static void establish_at_a_wrong_time(void)
{
	struct connection connection = { 0 };
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_id(channel);

	check_fails(rdma_establish(id), EINVAL);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);

	prepare_bare(&connection);
	check_fails(rdma_establish(connection.client), EINVAL);
	check_fails(rdma_establish(connection.listener), EINVAL);
	dismantle(&connection);

	/* Not for an id with a queue pair: there the event does it. */
	prepare(&connection);
	check_fails(rdma_establish(connection.client), EINVAL);
	dismantle(&connection);
}

static void establish_twice(void)
{
	struct connection connection = { 0 };
	struct rdma_conn_param param = param_of(invented_number());

	prepare_bare(&connection);
	request(&connection, &param);
	param = param_of(invented_number());
	check_ok(rdma_accept(connection.server, &param));
	pass_event(connection.client_channel, RDMA_CM_EVENT_CONNECT_RESPONSE, connection.client);
	check_ok(rdma_establish(connection.client));
	pass_event(connection.server_channel, RDMA_CM_EVENT_ESTABLISHED, connection.server);
	check_fails(rdma_establish(connection.client), EINVAL);
	disconnect(&connection);
	dismantle(&connection);
}

/* A server whose queue pair saw the client's first message does not wait for the client's word. */
static void notified_of_a_message(void)
{
	struct connection connection = { 0 };

	prepare(&connection);
	request(&connection, NULL);
	create_qp(connection.server);
	check_fails(rdma_notify(connection.server, IBV_EVENT_COMM_EST), EINVAL);
	check_ok(rdma_accept(connection.server, NULL));
	/* The client has not taken the answer, so the server has not heard of it. */
	check_empty(connection.server_channel);
	check_ok(rdma_notify(connection.server, IBV_EVENT_COMM_EST));
	check(!pass_event(connection.server_channel, RDMA_CM_EVENT_ESTABLISHED, connection.server), "status");
	check_fails(rdma_notify(connection.server, IBV_EVENT_COMM_EST), EISCONN);
	check(!pass_event(connection.client_channel, RDMA_CM_EVENT_ESTABLISHED, connection.client), "status");
	sleep_ms(200);
	check_empty(connection.server_channel);
	disconnect(&connection);
	dismantle(&connection);
}

static void notified_wrongly(void)
{
	struct connection connection = { 0 };
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_id(channel);

	check_fails(rdma_notify(id, IBV_EVENT_COMM_EST), EINVAL);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);

	establish(&connection);
	check_fails(rdma_notify(connection.server, IBV_EVENT_QP_FATAL), EINVAL);
	check_fails(rdma_notify(connection.server, (enum ibv_event_type)4711), EINVAL);
	check_fails(rdma_notify(connection.listener, IBV_EVENT_COMM_EST), EINVAL);
	disconnect(&connection);
	dismantle(&connection);
}

static void null_id(void)
{
	check_fails(rdma_establish(NULL), EINVAL);
	check_fails(rdma_notify(NULL, IBV_EVENT_COMM_EST), EINVAL);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(own_queue_pairs, .needs = "handshake"),
		TEST(no_queue_pairs, .needs = "handshake"),
		TEST(own_queue_pair_of_the_client, .needs = "handshake"),
		TEST(own_queue_pair_of_the_server),
		TEST(refused_by_the_client, .needs = "handshake"),
		TEST(establish_at_a_wrong_time),
		TEST(establish_twice, .needs = "handshake"),
		TEST(notified_of_a_message, .needs = "handshake"),
		TEST(notified_wrongly, .needs = "handshake"),
		TEST(null_id),
	};

	return RUN_TESTS(tests, argc, argv);
}
