/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ids before they are connected. */
#include "scenario.h"
#include "scenarios.h"

#include <arpa/inet.h>

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;

static void open_id(enum rdma_port_space space)
{
	channel = open_channel();
	attempt(rdma_create_id(channel, &id, NULL, space));
}

void bind_run(void)
{
	int on = 1;
	uint8_t tos = 8;

	open_id(RDMA_PS_TCP);
	attempt(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)));
	attempt(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)));
	attempt(rdma_bind_addr(id, device_address(0)));
	require(id->verbs && rdma_get_src_port(id), "not bound");
	attempt(rdma_listen(id, 3));
}

void bind_clean(void)
{
	close_id(&id);
	close_channel(&channel);
}

static void resolve(void)
{
	attempt(rdma_resolve_addr(id, NULL, device_address(7499), 2000));
	pass(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	require(id->verbs, "no device");
	attempt(rdma_resolve_route(id, 2000));
	pass(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	require(id->route.num_paths || id->verbs->device->transport_type == IBV_TRANSPORT_IWARP, "no path");
}

void resolve_run(void)
{
	open_id(RDMA_PS_TCP);
	resolve();
}

void resolve_clean(void)
{
	bind_clean();
}

void queue_pair_run(void)
{
	struct ibv_qp_init_attr attributes = small_qp(IBV_QPT_RC);
	struct ibv_srq_init_attr shared = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_qp_attr state = { .qp_state = IBV_QPS_INIT };
	int mask;

	open_id(RDMA_PS_TCP);
	resolve();
	attempt(rdma_init_qp_attr(id, &state, &mask));
	attempt(rdma_create_srq(id, NULL, &shared));
	attempt(rdma_create_qp(id, NULL, &attributes));
	require(id->qp && id->srq && id->send_cq && id->recv_cq, "no queue pair");
	attempt_void(rdma_destroy_qp(id));
	attempt_void(rdma_destroy_srq(id));
	attempt(rdma_create_qp(id, NULL, &attributes));
	require(id->qp && !id->srq, "no queue pair");
}

void queue_pair_clean(void)
{
	bind_clean();
}

static struct sockaddr *group(void)
{
	static struct sockaddr_in in = { .sin_family = AF_INET };

	inet_pton(AF_INET, "239.1.2.3", &in.sin_addr);
	return (struct sockaddr *)&in;
}

void multicast_run(void)
{
	struct ibv_qp_init_attr attributes = small_qp(IBV_QPT_UD);

	open_id(RDMA_PS_UDP);
	attempt(rdma_bind_addr(id, device_address(0)));
	attempt(rdma_create_qp(id, NULL, &attributes));
	attempt(rdma_join_multicast(id, group(), NULL));
	pass(channel, RDMA_CM_EVENT_MULTICAST_JOIN);
	attempt(rdma_leave_multicast(id, group()));
	attempt(rdma_join_multicast(id, group(), NULL));
	pass(channel, RDMA_CM_EVENT_MULTICAST_JOIN);
}

void multicast_clean(void)
{
	bind_clean();
}
