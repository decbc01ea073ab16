/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Connections with both ends in this process, each on a channel of its own. */
#include "scenario.h"
#include "scenarios.h"

#include <arpa/inet.h>

static struct rdma_event_channel *server_channel, *client_channel;
static struct rdma_cm_id *listener, *server, *client;
/* Of the program's own. */
static struct ibv_cq *queue;
static struct ibv_qp *queue_pair;

static void prepare(enum rdma_port_space space)
{
	uint16_t port;

	server_channel = open_channel();
	client_channel = open_channel();
	attempt(rdma_create_id(server_channel, &listener, NULL, space));
	attempt(rdma_bind_addr(listener, device_address(0)));
	attempt(rdma_listen(listener, 2));
	port = ntohs(rdma_get_src_port(listener));
	attempt(rdma_create_id(client_channel, &client, NULL, space));
	attempt(rdma_resolve_addr(client, NULL, device_address(port), 2000));
	pass(client_channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	attempt(rdma_resolve_route(client, 2000));
	pass(client_channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static void take_request(void)
{
	struct rdma_cm_event *event = take(server_channel, RDMA_CM_EVENT_CONNECT_REQUEST);

	server = event->id;
	attempt(rdma_ack_cm_event(event));
}

void connect_run(void)
{
	struct ibv_qp_init_attr attributes = small_qp(IBV_QPT_RC);
	struct rdma_conn_param offer = {
		.private_data = "hello", .private_data_len = 5, .responder_resources = 1, .initiator_depth = 1,
		.retry_count = 7, .rnr_retry_count = 7,
	};

	prepare(RDMA_PS_TCP);
	attempt(rdma_create_qp(client, NULL, &attributes));
	attempt(rdma_connect(client, &offer));
	take_request();
	attempt(rdma_create_qp(server, NULL, &attributes));
	attempt_far(rdma_accept(server, &offer));
	pass(client_channel, RDMA_CM_EVENT_ESTABLISHED);
	pass(server_channel, RDMA_CM_EVENT_ESTABLISHED);
	attempt(rdma_disconnect(client));
	pass(server_channel, RDMA_CM_EVENT_DISCONNECTED);
	attempt(rdma_disconnect(server));
	pass(client_channel, RDMA_CM_EVENT_DISCONNECTED);
}

static void move(enum ibv_qp_state state)
{
	struct ibv_qp_attr attributes = { .qp_state = state };
	int mask = 0;

	attempt(rdma_init_qp_attr(client, &attributes, &mask));
	require(!ibv_modify_qp(queue_pair, &attributes, mask), "queue pair");
}

/* The client has a queue pair that the library does not know. */
void own_queue_pair_run(void)
{
	struct ibv_qp_init_attr attributes = small_qp(IBV_QPT_RC), own = attributes;
	struct rdma_conn_param offer = { .retry_count = 7, .rnr_retry_count = 7 };

	prepare(RDMA_PS_TCP);
	queue = ibv_create_cq(client->verbs, 4, NULL, NULL, 0);
	require(queue, "completion queue");
	own.send_cq = queue;
	own.recv_cq = queue;
	queue_pair = ibv_create_qp(client->pd, &own);
	require(queue_pair, "queue pair");
	move(IBV_QPS_INIT);
	offer.qp_num = queue_pair->qp_num;
	attempt(rdma_connect(client, &offer));
	take_request();
	attempt(rdma_create_qp(server, NULL, &attributes));
	offer.qp_num = 0;
	attempt_far(rdma_accept(server, &offer));
	pass(client_channel, RDMA_CM_EVENT_CONNECT_RESPONSE);
	move(IBV_QPS_RTR);
	move(IBV_QPS_RTS);
	attempt(rdma_establish(client));
	pass(server_channel, RDMA_CM_EVENT_ESTABLISHED);
	attempt(rdma_disconnect(client));
	pass(server_channel, RDMA_CM_EVENT_DISCONNECTED);
	attempt(rdma_disconnect(server));
	pass(client_channel, RDMA_CM_EVENT_DISCONNECTED);
}

void datagram_run(void)
{
	struct ibv_qp_init_attr attributes = small_qp(IBV_QPT_UD);
	struct rdma_conn_param offer = { .private_data = "hello", .private_data_len = 5 };

	prepare(RDMA_PS_UDP);
	attempt(rdma_create_qp(client, NULL, &attributes));
	attempt(rdma_connect(client, &offer));
	take_request();
	attempt(rdma_create_qp(server, NULL, &attributes));
	offer.qp_num = server->qp->qp_num;
	attempt_far(rdma_accept(server, &offer));
	pass(client_channel, RDMA_CM_EVENT_ESTABLISHED);
}

void connect_clean(void)
{
	if (queue_pair)
		ibv_destroy_qp(queue_pair);
	if (queue)
		ibv_destroy_cq(queue);
	queue_pair = NULL;
	queue = NULL;
	close_id(&client);
	close_id(&server);
	close_id(&listener);
	close_channel(&client_channel);
	close_channel(&server_channel);
}
