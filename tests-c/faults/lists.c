/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of addresses and of devices. */
#include "scenario.h"
#include "scenarios.h"

static struct rdma_addrinfo *addresses;
static struct ibv_context **devices;
static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;

static void free_addresses(void)
{
	if (addresses)
		attempt_void(rdma_freeaddrinfo(addresses));
	addresses = NULL;
}

void addresses_run(void)
{
	struct rdma_addrinfo hints = {
		.ai_flags = RAI_NUMERICHOST, .ai_port_space = RDMA_PS_TCP, .ai_family = AF_INET,
		.ai_src_addr = device_address(0), .ai_src_len = sizeof(struct sockaddr_in),
	};

	attempt(rdma_getaddrinfo(DEVICE_ADDRESS, "7471", &hints, &addresses));
	require(addresses && addresses->ai_dst_len && addresses->ai_src_len, "addresses");
	free_addresses();
	/* Nothing but hints. */
	attempt(rdma_getaddrinfo(NULL, NULL, &hints, &addresses));
	require(addresses && addresses->ai_src_len, "addresses");
	free_addresses();
	attempt(rdma_getaddrinfo(DEVICE_ADDRESS, "7471", NULL, &addresses));
	require(addresses && addresses->ai_dst_len, "addresses");
}

void addresses_clean(void)
{
	free_addresses();
}

void resolved_addresses_run(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_NUMERICHOST, .ai_port_space = RDMA_PS_TCP };

	channel = open_channel();
	attempt(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	attempt(YOUNG(rdma_resolve_addrinfo)(id, DEVICE_ADDRESS, "7471", &hints));
	pass(channel, RDMA_CM_EVENT_ADDRINFO_RESOLVED);
	attempt(YOUNG(rdma_query_addrinfo)(id, &addresses));
	require(addresses && addresses->ai_dst_len, "addresses");
}

void resolved_addresses_clean(void)
{
	free_addresses();
	close_id(&id);
	close_channel(&channel);
}

/* Devices that cannot be opened are left out: with one device the list is empty then. */
void devices_run(void)
{
	int count = 0;

	attempt_pointer(devices = rdma_get_devices(&count));
	if (!count)
		abandon(0);
	require(devices[0] && !devices[count], "devices");
}

void devices_clean(void)
{
	if (devices)
		attempt_void(rdma_free_devices(devices));
	devices = NULL;
}
