/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology.h"

#include "memory.h"

#include <arpa/inet.h>
#include <endian.h>
#include <string.h>

struct host *hosts;
struct device *devices;

static uint32_t last_device, last_interface = 1;

struct host *find_host(const char *name)
{
	for (struct host *host = hosts; host; host = host->next)
		if (!*name || !strcmp(host->name, name))
			return host;
	return NULL;
}

struct device *find_device(const struct host *host, const char *name)
{
	for (struct device *device = devices; device; device = device->next)
		if (device->host == host && !device->removed && !strcmp(device->name, name))
			return device;
	return NULL;
}

struct device *device_by_index(uint32_t index)
{
	for (struct device *device = devices; device; device = device->next)
		if (device->index == index && !device->removed)
			return device;
	return NULL;
}

static void append_address(struct host *host, struct address address)
{
	struct address **place = &host->addresses, *new = take(sizeof(*new));

	while (*place)
		place = &(*place)->next;
	*new = address;
	*place = new;
}

static void add_loopback(struct host *host)
{
	struct address address = { .prefix = 104, .interface = 1 };

	inet_pton(AF_INET6, "::ffff:127.0.0.1", &address.ip);
	append_address(host, address);
	inet_pton(AF_INET6, "::1", &address.ip);
	address.prefix = 128;
	append_address(host, address);
}

struct host *add_host(const char *name)
{
	struct host **place = &hosts, *host = take(sizeof(*host));

	while (*place)
		place = &(*place)->next;
	strncpy(host->name, name, sizeof(host->name) - 1);
	*place = host;
	add_loopback(host);
	return host;
}

static void add_gid(struct port *port, const struct in6_addr *raw, enum gid_type type, uint32_t interface)
{
	for (int i = 0; i < GID_TABLE_SIZE; i++) {
		struct gid *gid = &port->gids[i];

		if (gid->type != GID_NONE)
			continue;
		memcpy(gid->raw, raw, sizeof(gid->raw));
		gid->type = type;
		gid->interface = interface;
		return;
	}
}

struct device *add_device(struct host *host, const char *name, enum link_layer link, unsigned int ports, uint64_t guid)
{
	struct device **place = &devices, *device = take(sizeof(*device));

	while (*place)
		place = &(*place)->next;
	strncpy(device->name, name, sizeof(device->name) - 1);
	device->host = host;
	device->link = link;
	device->has_ece = device->has_xrc = link == LINK_INFINIBAND;
	device->index = last_device++;
	/* Locally administered, so that it is nobody's. */
	device->guid = guid ? guid : htobe64(0x0200990000000000 | (device->index + 1));
	device->port_count = (uint8_t)ports;
	for (unsigned int i = 0; i < ports; i++) {
		struct port *port = &device->ports[i];
		struct in6_addr gid = { .s6_addr = { 0xfe, 0x80 } };
		uint64_t half = htobe64(be64toh(device->guid) + (i << 16));

		port->state = 4;
		port->active_mtu = link == LINK_INFINIBAND ? 5 : 3;
		port->pkeys[0] = 0xffff;
		memcpy(&gid.s6_addr[8], &half, sizeof(half));
		if (link == LINK_INFINIBAND) {
			port->lid = (uint16_t)(device->index * PORT_COUNT_MAX + i + 1);
			port->sm_lid = 1;
		}
		add_gid(port, &gid, link == LINK_ROCE ? GID_ROCE_V2 : GID_IB, 0);
	}
	*place = device;
	return device;
}

void add_address(struct device *device, uint8_t port, const struct in6_addr *ip, uint8_t prefix)
{
	struct address address = {
		.ip = *ip, .prefix = prefix, .device = device, .port = port, .interface = ++last_interface,
	};

	append_address(device->host, address);
	if (device->link == LINK_ROCE)
		add_gid(&device->ports[port - 1], ip, GID_ROCE_V2, address.interface);
}

static void add_usual_addresses(struct device *device)
{
	struct in6_addr ip;

	inet_pton(AF_INET6, "::ffff:10.99.0.1", &ip);
	add_address(device, 1, &ip, 96 + 24);
	inet_pton(AF_INET6, "fd00:99::1", &ip);
	add_address(device, 1, &ip, 64);
}

void complete_topology(void)
{
	if (!hosts)
		add_host("host");
	if (!devices)
		add_usual_addresses(add_device(hosts, "rxe0", LINK_ROCE, 1, 0));
}
