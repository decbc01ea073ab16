/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Port numbers of a host, in each port space. */
#include "cm.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* The port spaces inside an InfiniBand service id. */
#define SERVICE_SPACE_MASK 0xffffffffffff0000ULL
#define SERVICE_SPACE(ps) ((uint64_t)(ps) << 16)

/* The port space that an address of InfiniBand's family names by its service id; 0 for none. */
static uint16_t space_of_service(const struct cm_id *id, struct sockaddr_ib *address)
{
	static const uint16_t spaces[] = { RDMA_PS_IB, RDMA_PS_TCP, RDMA_PS_UDP };
	uint64_t mask = be64toh(address->sib_sid_mask) & SERVICE_SPACE_MASK;
	uint64_t service = be64toh(address->sib_sid) & mask;
	uint16_t port = port_of((struct sockaddr_storage *)address);

	for (int i = 0; i < 3; i++) {
		bool allowed = id->ps == spaces[i] || (id->ps == RDMA_PS_IB && spaces[i] != RDMA_PS_IB);

		if (!allowed || service != (SERVICE_SPACE(spaces[i]) & mask))
			continue;
		address->sib_sid = htobe64(SERVICE_SPACE(spaces[i]) | ntohs(port));
		address->sib_sid_mask = htobe64(SERVICE_SPACE_MASK | (be64toh(address->sib_sid_mask) & 0xffff));
		return spaces[i];
	}
	return 0;
}

static bool is_neighbour(const struct cm_id *id, const struct cm_id *other, uint16_t space)
{
	return other != id && other->port_space == space && other->file->host == id->file->host;
}

/* 0, or why the id may not have the port that its address names. */
static int check_port(const struct cm_id *id, uint16_t space, bool reuse)
{
	for (struct cm_id *other = cm_ids; other; other = other->next) {
		if (!is_neighbour(id, other, space) || port_of(&other->src) != port_of(&id->src))
			continue;
		if (reuse && other->reuse_address)
			continue;
		if (id->family_only && other->family_only && id->src.ss_family != other->src.ss_family)
			continue;
		if (is_any(&id->src) || is_any(&other->src))
			return -EADDRNOTAVAIL;
		if (same_address(&id->src, &other->src))
			return -EADDRINUSE;
	}
	return 0;
}

/* Whether nobody else has the same port, or only for other connections. */
static bool is_unique(const struct cm_id *id, uint16_t space, uint16_t port)
{
	for (struct cm_id *other = cm_ids; other; other = other->next) {
		if (!is_neighbour(id, other, space) || port_of(&other->src) != port)
			continue;
		if (port_of(&id->dst) && port_of(&other->dst) && port_of(&id->dst) != port_of(&other->dst))
			continue;
		if (!is_any(&id->src) && !is_any(&other->src) && !same_address(&id->src, &other->src))
			continue;
		if (!is_any(&id->dst) && !is_any(&other->dst) && !same_address(&id->dst, &other->dst))
			continue;
		return false;
	}
	return true;
}

/* The machine's own range. */
static void port_range(unsigned int *first, unsigned int *last)
{
	FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "r");

	*first = 32768;
	*last = 60999;
	if (file && fscanf(file, "%u %u", first, last) != 2)
		*last = *first;
	if (file)
		fclose(file);
}

/* Ports that are in use are looked at only when there is no other. */
static int take_any(struct cm_id *id, uint16_t space)
{
	static uint8_t used[65536];
	unsigned int first, last, count, start;

	port_range(&first, &last);
	count = last - first + 1;
	start = (unsigned int)random() % count;
	for (unsigned int i = 0; i < count; i++)
		used[(first + i) & 0xffff] = 0;
	for (struct cm_id *other = cm_ids; other; other = other->next)
		if (is_neighbour(id, other, space))
			used[ntohs(port_of(&other->src))] = 1;
	for (unsigned int turn = 0; turn < 2; turn++) {
		for (unsigned int i = 0; i < count; i++) {
			unsigned int port = first + (start + i) % count;

			if (used[port & 0xffff] != turn || (turn && !is_unique(id, space, htons((uint16_t)port))))
				continue;
			set_port_of(&id->src, htons((uint16_t)port));
			return 0;
		}
	}
	return -EADDRNOTAVAIL;
}

int take_port(struct cm_id *id)
{
	uint16_t space = id->ps;
	int error;

	if (id->src.ss_family == AF_IB) {
		space = space_of_service(id, (struct sockaddr_ib *)&id->src);
		if (!space)
			return -EPROTONOSUPPORT;
	}
	error = port_of(&id->src) ? check_port(id, space, id->reuse_address) : take_any(id, space);
	if (!error)
		id->port_space = space;
	return error;
}

int check_port_of_listener(struct cm_id *id)
{
	return id->reuse_address ? check_port(id, id->port_space, false) : 0;
}
