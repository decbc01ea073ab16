/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The simulated machines: hosts, their RDMA devices, and the addresses of these. */
#ifndef SIM_KERNEL_TOPOLOGY_H
#define SIM_KERNEL_TOPOLOGY_H

#include "../protocol.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	PORT_COUNT_MAX = 4,
	GID_TABLE_SIZE = 64,
	PKEY_TABLE_SIZE = 8,
};

enum link_layer { LINK_INFINIBAND, LINK_ROCE, LINK_IWARP };

enum gid_type { GID_NONE, GID_IB, GID_ROCE_V1, GID_ROCE_V2 };

struct gid {
	uint8_t raw[16];
	enum gid_type type;	/* GID_NONE: a free place */
	uint32_t interface;	/* index of the network interface; 0: none */
};

/* A device's port: in the language of verbs, where a state of 4 is active, an MTU of 5 is 4096. */
struct port {
	uint8_t state;
	uint8_t active_mtu;
	uint16_t lid;
	uint16_t sm_lid;
	struct gid gids[GID_TABLE_SIZE];
	uint16_t pkeys[PKEY_TABLE_SIZE];	/* native byte order; 0: a free place */
};

struct device {
	char name[SIM_NAME_MAX];
	struct host *host;
	uint32_t index;			/* as netlink and the connection manager name it; never used again */
	uint64_t guid;			/* big endian */
	enum link_layer link;
	uint8_t port_count;
	bool has_ece, has_xrc;		/* as devices of InfiniBand have, and soft RoCE has not */
	bool removed;			/* stays, for those who have it open */
	struct port ports[PORT_COUNT_MAX];	/* port 1 is the first one */
	struct device *next;
};

/* An address of a host: of a port of a device, or of no device (loopback). */
struct address {
	struct in6_addr ip;		/* IPv4 as ::ffff:a.b.c.d */
	uint8_t prefix;			/* bits of the network part, of 128 */
	struct device *device;
	uint8_t port;
	uint32_t interface;
	struct address *next;
};

struct host {
	char name[SIM_NAME_MAX];
	struct address *addresses;
	struct host *next;
};

extern struct host *hosts;
extern struct device *devices;

/* The host of that name; of an empty name the first one. NULL if there is none. */
struct host *find_host(const char *name);
struct device *find_device(const struct host *host, const char *name);
struct device *device_by_index(uint32_t index);

/* One of each where the script has said nothing: host "host", device "rxe0" with RoCE, 10.99.0.1/24, fd00:99::1/64. */
void complete_topology(void);

struct host *add_host(const char *name);
/* The GUID is big endian; 0: one that no other device has. */
struct device *add_device(struct host *host, const char *name, enum link_layer link, unsigned int ports, uint64_t guid);
/* Also enters the GID that a RoCE device has for it. */
void add_address(struct device *device, uint8_t port, const struct in6_addr *ip, uint8_t prefix);

#endif
