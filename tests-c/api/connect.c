/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rdma_connect, rdma_accept and rdma_establish over RC. */
#include "connection.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static void observe_param(const char *what, const struct rdma_conn_param *param)
{
	observe("%s: resources %d depth %d flow %d retry %d rnr %d srq %d data %d", what, param->responder_resources,
		param->initiator_depth, param->flow_control, param->retry_count, param->rnr_retry_count, param->srq,
		param->private_data_len);
}

static void observe_states(const struct connection *connection, const char *when)
{
	observe("%s: client %s server %s", when, qp_state(connection->client),
		connection->server ? qp_state(connection->server) : "none");
}

/* Each step of a connection with queue pairs of the library. */
static void step_by_step(void)
{
	struct connection connection = { 0 };
	struct rdma_cm_event *event;
	uint32_t server_qp;

	prepare(&connection);
	observe_states(&connection, "prepared");
	check_ok(rdma_connect(connection.client, NULL));
	observe_states(&connection, "connecting");

	event = next_event(connection.server_channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL);
	connection.server = event->id;
	check(event->listen_id == connection.listener && event->status == 0, "ids");
	check(event->param.conn.qp_num == connection.client->qp->qp_num, "number of the queue pair");
	observe_param("request", &event->param.conn);
	check(connection.server->verbs == connection.listener->verbs && connection.server->verbs, "device");
	check(connection.server->channel == connection.server_channel, "channel");
	check(connection.server->context == connection.listener->context, "context");
	check(connection.server->ps == RDMA_PS_TCP && connection.server->qp_type == IBV_QPT_RC, "kind");
	check(!connection.server->qp && !connection.server->event, "not empty");
	check(rdma_get_src_port(connection.server) == rdma_get_src_port(connection.listener), "port");
	check(rdma_get_dst_port(connection.server) == rdma_get_src_port(connection.client), "the client's port");
	check_ok(rdma_ack_cm_event(event));

	create_qp(connection.server);
	server_qp = connection.server->qp->qp_num;
	observe_states(&connection, "requested");
	check_ok(rdma_accept(connection.server, NULL));
	check(!strcmp(qp_state(connection.server), "RTS"), "the server's is %s", qp_state(connection.server));

	event = next_event(connection.client_channel, RDMA_CM_EVENT_ESTABLISHED, connection.client);
	check(event->status == 0 && !event->listen_id, "status %d", event->status);
	check(event->param.conn.qp_num == server_qp, "number of the queue pair");
	observe_param("client", &event->param.conn);
	check_ok(rdma_ack_cm_event(event));
	check(!strcmp(qp_state(connection.client), "RTS"), "the client's is %s", qp_state(connection.client));

	event = next_event(connection.server_channel, RDMA_CM_EVENT_ESTABLISHED, connection.server);
	check(event->status == 0 && !event->listen_id, "status %d", event->status);
	observe_param("server", &event->param.conn);
	check_ok(rdma_ack_cm_event(event));

	check_ok(rdma_disconnect(connection.client));
	check(!strcmp(qp_state(connection.client), "ERR"), "the client's is %s", qp_state(connection.client));
	event = next_event(connection.server_channel, RDMA_CM_EVENT_DISCONNECTED, connection.server);
	observe("server: disconnected with status %d", event->status);
	check_ok(rdma_ack_cm_event(event));
	check_ok(rdma_disconnect(connection.server));
	event = next_event(connection.client_channel, RDMA_CM_EVENT_DISCONNECTED, connection.client);
	observe("client: disconnected with status %d", event->status);
	check_ok(rdma_ack_cm_event(event));
	observe_states(&connection, "disconnected");
	dismantle(&connection);
}

static void over_ipv6(void)
{
	struct connection connection = {
		.server_channel = open_channel(),
		.client_channel = open_channel(),
	};

	connection.listener = open_id(connection.server_channel);
	check_ok(rdma_bind_addr(connection.listener, device_address(AF_INET6, 0)));
	check_ok(rdma_listen(connection.listener, 1));
	connection.client = open_id(connection.client_channel);
	check_ok(rdma_resolve_addr(connection.client, NULL, device_address(AF_INET6, port_of(connection.listener)), 2000));
	check(!pass_event(connection.client_channel, RDMA_CM_EVENT_ADDR_RESOLVED, connection.client), "address");
	check_ok(rdma_resolve_route(connection.client, 2000));
	check(!pass_event(connection.client_channel, RDMA_CM_EVENT_ROUTE_RESOLVED, connection.client), "route");
	create_qp(connection.client);
	establish(&connection);
	check(rdma_get_peer_addr(connection.server)->sa_family == AF_INET6, "family");
	disconnect(&connection);
	dismantle(&connection);
}

static void to_a_wildcard_listener(void)
{
	struct connection connection = {
		.server_channel = open_channel(),
		.client_channel = open_channel(),
	};

	connection.listener = open_id(connection.server_channel);
	check_ok(rdma_listen(connection.listener, 1));
	check(!connection.listener->verbs, "the listener has a device");
	connection.client = open_client(connection.client_channel, RDMA_PS_TCP, port_of(connection.listener));
	create_qp(connection.client);
	establish(&connection);
	check(connection.server->verbs, "no device");
	observe("family of the listener %d, of the server %d", rdma_get_local_addr(connection.listener)->sa_family,
		rdma_get_local_addr(connection.server)->sa_family);
	disconnect(&connection);
	dismantle(&connection);
}

static void parameters(void)
{
	struct rdma_conn_param asked = {
		.responder_resources = 2,
		.initiator_depth = 1,
		.flow_control = 1,
		.retry_count = 3,
		.rnr_retry_count = 4,
		/* Not asked for where there is a queue pair. */
		.srq = 1,
		.qp_num = 0x123456,
	};
	struct rdma_conn_param answered = {
		.responder_resources = 1,
		.initiator_depth = 2,
		.flow_control = 1,
		.rnr_retry_count = 6,
	};
	struct connection connection = { 0 };
	struct rdma_cm_event *event;

	prepare(&connection);
	check_ok(rdma_connect(connection.client, &asked));
	event = next_event(connection.server_channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL);
	observe_param("request", &event->param.conn);
	check(event->param.conn.responder_resources == 1 && event->param.conn.initiator_depth == 2, "depths");
	check(event->param.conn.retry_count == 3 && event->param.conn.rnr_retry_count == 4, "retries");
	check(event->param.conn.qp_num == connection.client->qp->qp_num && !event->param.conn.srq, "queue pair");
	connection.server = event->id;
	check_ok(rdma_ack_cm_event(event));
	create_qp(connection.server);
	check_ok(rdma_accept(connection.server, &answered));
	event = next_event(connection.client_channel, RDMA_CM_EVENT_ESTABLISHED, connection.client);
	observe_param("answer", &event->param.conn);
	check_ok(rdma_ack_cm_event(event));
	pass_event(connection.server_channel, RDMA_CM_EVENT_ESTABLISHED, connection.server);
	disconnect(&connection);
	dismantle(&connection);
}

static void refused(void)
{
	struct connection connection = {
		.server_channel = open_channel(),
		.client_channel = open_channel(),
	};
	struct rdma_cm_event *event;

	connection.client = open_client(connection.client_channel, RDMA_PS_TCP, 7499);
	create_qp(connection.client);
	check_ok(rdma_connect(connection.client, NULL));
	event = next_event(connection.client_channel, RDMA_CM_EVENT_REJECTED, connection.client);
	/* The kernel's word for a port at which nobody listens. */
	check(event->status == refusal_status(connection.client, 8), "status %d", event->status);
	check_ok(rdma_ack_cm_event(event));
	check(!strcmp(qp_state(connection.client), "ERR"), "the queue pair is %s", qp_state(connection.client));
	dismantle(&connection);
}

/* Destroying one end at any step tells the other. */
static void destroyed_while_connecting(void)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct rdma_conn_param param = { .qp_num = 1 };
	struct connection connection = { 0 };

	prepare(&connection);
	request(&connection, NULL);
	rdma_destroy_qp(connection.client);
	check_ok(rdma_destroy_id(connection.client));
	connection.client = NULL;
	/* The server finds out when it goes on. */
	sleep_ms(500);
	if (rdma_create_qp(connection.server, NULL, &attr)) {
		check(errno == EINVAL, "rdma_create_qp: %m");
		check(!connection.server->qp && !connection.server->send_cq, "something is left");
	} else {
		/* Not every kernel is asked how to set it up. */
		observe("it gets a queue pair");
	}
	check_fails(rdma_accept(connection.server, &param), EINVAL);
	check_empty(connection.server_channel);
	dismantle(&connection);
}

static void destroyed_before_the_answer(void)
{
	struct connection connection = { 0 };

	prepare(&connection);
	request(&connection, NULL);
	check_ok(rdma_destroy_id(connection.server));
	connection.server = NULL;
	check(pass_event(connection.client_channel, RDMA_CM_EVENT_REJECTED, connection.client) ==
		      refusal_status(connection.client, 28), "status");
	dismantle(&connection);
}

static void destroyed_when_connected(void)
{
	struct connection connection = { 0 };

	establish(&connection);
	rdma_destroy_qp(connection.client);
	check_ok(rdma_destroy_id(connection.client));
	connection.client = NULL;
	pass_event(connection.server_channel, RDMA_CM_EVENT_DISCONNECTED, connection.server);
	dismantle(&connection);
}

static int port_pipe[2];

static void client_process(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id;
	uint16_t port;

	check(read(port_pipe[0], &port, sizeof(port)) == sizeof(port), "read: %m");
	id = open_client(channel, RDMA_PS_TCP, port);
	create_qp(id);
	check_ok(rdma_connect(id, NULL));
	check(!pass_event(channel, RDMA_CM_EVENT_ESTABLISHED, id), "status");
	pass_event(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	check_ok(rdma_disconnect(id));
	rdma_destroy_qp(id);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

/* The server's part of a connection to another process, up to where both have been told. */
static struct rdma_cm_id *serve(struct rdma_event_channel *channel, struct rdma_cm_id *listener)
{
	uint16_t port = port_of(listener);
	struct rdma_cm_id *id;

	check(write(port_pipe[1], &port, sizeof(port)) == sizeof(port), "write: %m");
	id = take_request(channel, listener);
	create_qp(id);
	check_ok(rdma_accept(id, NULL));
	check(!pass_event(channel, RDMA_CM_EVENT_ESTABLISHED, id), "status");
	return id;
}

static void two_processes(void)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener, *id;
	pid_t client;

	check(!pipe(port_pipe), "pipe: %m");
	client = start_process(client_process);
	channel = open_channel();
	listener = open_listener(channel, RDMA_PS_TCP);
	id = serve(channel, listener);
	check_ok(rdma_disconnect(id));
	pass_event(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	end_process(client);
	rdma_destroy_qp(id);
	check_ok(rdma_destroy_id(id));
	check_ok(rdma_destroy_id(listener));
	rdma_destroy_event_channel(channel);
}

/* The kernel ends the connections of a process that was killed. */
static void killed_peer(void)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener, *id;
	pid_t client;

	check(!pipe(port_pipe), "pipe: %m");
	client = start_process(client_process);
	channel = open_channel();
	listener = open_listener(channel, RDMA_PS_TCP);
	id = serve(channel, listener);
	check(!kill(client, SIGKILL), "kill: %m");
	pass_event(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	rdma_destroy_qp(id);
	check_ok(rdma_destroy_id(id));
	check_ok(rdma_destroy_id(listener));
	rdma_destroy_event_channel(channel);
}

static void nothing_is_left(void)
{
	struct connection connection = { 0 };
	struct resources before;

	/* What is made once for a process is there after the first. */
	establish(&connection);
	disconnect(&connection);
	dismantle(&connection);
	before = count_resources();
	for (int i = 0; i < 10; i++) {
		establish(&connection);
		disconnect(&connection);
		dismantle(&connection);
	}
	check_resources(&before);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(step_by_step),
		TEST(over_ipv6),
		TEST(to_a_wildcard_listener),
		TEST(parameters),
		TEST(refused),
		TEST(destroyed_while_connecting),
		TEST(destroyed_before_the_answer),
		TEST(destroyed_when_connected),
		TEST(two_processes),
		TEST(killed_peer),
		TEST(nothing_is_left),
	};

	return RUN_TESTS(tests, argc, argv);
}
