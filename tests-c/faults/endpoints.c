/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Endpoints, whose calls wait: the other side is another process. */
#include "scenario.h"
#include "scenarios.h"

#include "../process.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct rdma_addrinfo *addresses;
static struct rdma_cm_id *endpoint, *accepted;

static struct rdma_addrinfo hints_for(int flags)
{
	return (struct rdma_addrinfo){ .ai_flags = flags | RAI_NUMERICHOST, .ai_port_space = RDMA_PS_TCP };
}

/* Accepts whoever comes, one after the other, and ends when they do. */
static void serve(int link)
{
	struct ibv_qp_init_attr attributes = small_qp(IBV_QPT_RC);
	struct rdma_addrinfo hints = hints_for(RAI_PASSIVE), *local;
	struct rdma_cm_id *listener, *id;

	if (rdma_getaddrinfo(DEVICE_ADDRESS, "0", &hints, &local) ||
	    rdma_create_ep(&listener, local, NULL, &attributes) || rdma_listen(listener, 8))
		_exit(EXIT_FAILURE);
	send_port(link, ntohs(rdma_get_src_port(listener)));
	while (!rdma_get_request(listener, &id)) {
		if (!rdma_accept(id, NULL))
			rdma_disconnect(id);
		rdma_destroy_ep(id);
	}
}

static void find(uint16_t port, int flags)
{
	struct rdma_addrinfo hints = hints_for(flags);
	char service[8];

	snprintf(service, sizeof(service), "%u", port);
	attempt(rdma_getaddrinfo(DEVICE_ADDRESS, service, &hints, &addresses));
}

void endpoint_run(void)
{
	struct ibv_qp_init_attr attributes = small_qp(IBV_QPT_RC);

	start_peer(serve);
	find(receive_port(peer_link), 0);
	attempt(rdma_create_ep(&endpoint, addresses, NULL, &attributes));
	attempt_far(rdma_connect(endpoint, NULL));
	attempt(rdma_disconnect(endpoint));
}

/* Connects again and again to the port that it is told. */
static void call(int link)
{
	struct ibv_qp_init_attr attributes = small_qp(IBV_QPT_RC);
	struct rdma_addrinfo hints = hints_for(0), *remote;
	struct rdma_cm_id *id;
	char service[8];

	snprintf(service, sizeof(service), "%u", receive_port(link));
	if (rdma_getaddrinfo(DEVICE_ADDRESS, service, &hints, &remote))
		_exit(EXIT_FAILURE);
	for (;;) {
		if (rdma_create_ep(&id, remote, NULL, &attributes))
			_exit(EXIT_FAILURE);
		if (!rdma_connect(id, NULL))
			rdma_disconnect(id);
		rdma_destroy_ep(id);
		sleep_ms(20);
	}
}

void listening_endpoint_run(void)
{
	struct ibv_qp_init_attr attributes = small_qp(IBV_QPT_RC);

	start_peer(call);
	find(0, RAI_PASSIVE);
	attempt(rdma_create_ep(&endpoint, addresses, NULL, &attributes));
	attempt(rdma_listen(endpoint, 2));
	send_port(peer_link, ntohs(rdma_get_src_port(endpoint)));
	attempt(rdma_get_request(endpoint, &accepted));
	attempt_far(rdma_accept(accepted, NULL));
	attempt(rdma_disconnect(accepted));
}

static void destroy(struct rdma_cm_id **id)
{
	if (*id)
		attempt_void(rdma_destroy_ep(*id));
	*id = NULL;
}

void endpoint_clean(void)
{
	destroy(&accepted);
	destroy(&endpoint);
	if (addresses)
		attempt_void(rdma_freeaddrinfo(addresses));
	addresses = NULL;
}
