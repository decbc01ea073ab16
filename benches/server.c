/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The server's side of a connection, with an event channel. */
#include "connect.h"

#include "die.h"
#include "meter.h"
#include "sides.h"

static void accept_once(const struct scenario *scenario, struct rdma_event_channel *channel)
{
	struct rdma_conn_param param;
	struct rdma_cm_id *id;

	meter_begin();
	id = take_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	meter_end(PHASE_GET_REQUEST);
	if (scenario->queues != NO_QP) {
		create_queues(scenario, id);
		meter_end(PHASE_CREATE_QP);
	}
	make_queues_ready(scenario, id);
	param = connection_parameters(scenario);
	if (rdma_accept(id, &param))
		die("rdma_accept");
	meter_end(PHASE_ACCEPT);
	take_event(channel, RDMA_CM_EVENT_ESTABLISHED);
	meter_end(PHASE_ESTABLISHED);

	take_event(channel, RDMA_CM_EVENT_DISCONNECTED);
	if (rdma_disconnect(id))
		die("rdma_disconnect");
	meter_end(PHASE_DISCONNECT);
	destroy_connection(scenario, id);
}

void run_server(const struct scenario *scenario)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *listener;

	if (!channel || rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&server_address) || rdma_listen(listener, 8))
		die("a listener");
	keep_device();
	for (int i = 0; i < meter_samples(); i++) {
		give_turn();
		accept_once(scenario, channel);
	}
	let_go_of_device();
	rdma_destroy_id(listener);
	rdma_destroy_event_channel(channel);
}
