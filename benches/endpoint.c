/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Both sides of a connection by rdma_create_ep: calls that wait, queue pairs and completion queues by the library. */
#include "connect.h"

#include "die.h"
#include "meter.h"
#include "sides.h"

static struct rdma_addrinfo *look_up(int flags)
{
	struct rdma_addrinfo hints = { .ai_flags = flags, .ai_port_space = RDMA_PS_TCP }, *info;

	if (rdma_getaddrinfo(server_node, SERVER_SERVICE, &hints, &info))
		die("rdma_getaddrinfo");
	return info;
}

static void connect_once(const struct scenario *scenario, struct rdma_addrinfo *info)
{
	struct ibv_qp_init_attr sizes = queue_sizes(scenario);
	struct rdma_conn_param param = connection_parameters(scenario);
	struct rdma_cm_id *id;

	meter_begin();
	if (rdma_create_ep(&id, info, NULL, &sizes))
		die("rdma_create_ep");
	meter_end(PHASE_CREATE_EP);
	if (rdma_connect(id, &param))
		die("rdma_connect");
	meter_end(PHASE_CONNECT);
	if (rdma_disconnect(id))
		die("rdma_disconnect");
	meter_end(PHASE_DISCONNECT);
	rdma_destroy_ep(id);
	meter_end(PHASE_DESTROY_EP);
	meter_next();
}

void run_client_endpoint(const struct scenario *scenario)
{
	struct rdma_addrinfo *info = look_up(RAI_NUMERICHOST);

	keep_device();
	for (int i = 0; i < meter_samples(); i++) {
		await_turn();
		connect_once(scenario, info);
	}
	let_go_of_device();
	rdma_freeaddrinfo(info);
}

static void accept_once(const struct scenario *scenario, struct rdma_cm_id *listener)
{
	struct rdma_conn_param param = connection_parameters(scenario);
	struct rdma_cm_id *id;

	meter_begin();
	if (rdma_get_request(listener, &id))
		die("rdma_get_request");
	meter_end(PHASE_GET_REQUEST);
	if (rdma_accept(id, &param))
		die("rdma_accept");
	meter_end(PHASE_ACCEPT);
	/* So that it is always the client who disconnects first. */
	wait_for_event(id->channel);
	if (rdma_disconnect(id))
		die("rdma_disconnect");
	meter_end(PHASE_DISCONNECT);
	rdma_destroy_ep(id);
	meter_end(PHASE_DESTROY_EP);
	meter_next();
}

void run_server_endpoint(const struct scenario *scenario)
{
	struct rdma_addrinfo *info = look_up(RAI_NUMERICHOST | RAI_PASSIVE);
	struct ibv_qp_init_attr sizes = queue_sizes(scenario);
	struct rdma_cm_id *listener;

	if (rdma_create_ep(&listener, info, NULL, &sizes) || rdma_listen(listener, 8))
		die("a listener");
	for (int i = 0; i < meter_samples(); i++) {
		give_turn();
		accept_once(scenario, listener);
	}
	rdma_destroy_ep(listener);
	rdma_freeaddrinfo(info);
}
