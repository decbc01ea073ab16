/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The client's side of a connection, with an event channel. */
#include "connect.h"

#include "die.h"
#include "meter.h"
#include "sides.h"

enum { TIMEOUT_MS = 2000 };

/* Without a queue pair of its own the library leaves the last step to the program. */
static void connect_id(const struct scenario *scenario, struct rdma_event_channel *channel, struct rdma_cm_id *id)
{
	struct rdma_conn_param param = connection_parameters(scenario);

	if (rdma_connect(id, &param))
		die("rdma_connect");
	if (id->qp) {
		take_event(channel, RDMA_CM_EVENT_ESTABLISHED);
		return;
	}
	take_event(channel, RDMA_CM_EVENT_CONNECT_RESPONSE);
	make_queues_ready(scenario, id);
	if (rdma_establish(id))
		die("rdma_establish");
}

static void connect_once(const struct scenario *scenario, struct rdma_event_channel *channel)
{
	struct rdma_cm_id *id;

	meter_begin();
	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		die("rdma_create_id");
	meter_end(PHASE_CREATE_ID);
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&server_address, TIMEOUT_MS))
		die("rdma_resolve_addr");
	take_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	meter_end(PHASE_RESOLVE_ADDR);
	if (rdma_resolve_route(id, TIMEOUT_MS))
		die("rdma_resolve_route");
	take_event(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	meter_end(PHASE_RESOLVE_ROUTE);
	if (scenario->queues != NO_QP) {
		create_queues(scenario, id);
		meter_end(PHASE_CREATE_QP);
	}
	connect_id(scenario, channel, id);
	meter_end(PHASE_CONNECT);

	if (rdma_disconnect(id))
		die("rdma_disconnect");
	take_event(channel, RDMA_CM_EVENT_DISCONNECTED);
	meter_end(PHASE_DISCONNECT);
	destroy_connection(scenario, id);
}

void run_client(const struct scenario *scenario)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	if (!channel)
		die("rdma_create_event_channel");
	keep_device();
	for (int i = 0; i < meter_samples(); i++) {
		await_turn();
		connect_once(scenario, channel);
	}
	let_go_of_device();
	rdma_destroy_event_channel(channel);
}
