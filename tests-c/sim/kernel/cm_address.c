/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Binding, and finding the way to another address. */
#include "cm.h"

#include "faults.h"
#include "loop.h"

#include <errno.h>
#include <string.h>

const struct address *find_address(const struct host *host, const struct in6_addr *ip)
{
	for (const struct address *address = host->addresses; address; address = address->next)
		if (!memcmp(&address->ip, ip, sizeof(*ip)) && !(address->device && address->device->removed))
			return address;
	return NULL;
}

const struct address *find_address_anywhere(const struct in6_addr *ip)
{
	for (const struct host *host = hosts; host; host = host->next) {
		const struct address *address = find_address(host, ip);

		if (address && address->device)
			return address;
	}
	return NULL;
}

static bool is_in_network(const struct address *address, const struct in6_addr *ip)
{
	unsigned int bytes = address->prefix / 8, bits = address->prefix % 8;

	if (memcmp(&address->ip, ip, bytes))
		return false;
	return !bits || !((address->ip.s6_addr[bytes] ^ ip->s6_addr[bytes]) >> (8 - bits));
}

static bool is_group(const struct in6_addr *ip)
{
	return ip->s6_addr[0] == 0xff || (IN6_IS_ADDR_V4MAPPED(ip) && ip->s6_addr[12] >> 4 == 0xe);
}

/* The host's address in the destination's network; groups are reached from every one. */
static const struct address *find_route(const struct host *host, const struct in6_addr *ip)
{
	const struct address *own = find_address(host, ip);

	if (own)
		return own;
	for (const struct address *address = host->addresses; address; address = address->next)
		if (address->device && !address->device->removed &&
		    (is_group(ip) ? IN6_IS_ADDR_V4MAPPED(&address->ip) == IN6_IS_ADDR_V4MAPPED(ip)
				  : is_in_network(address, ip)))
			return address;
	return NULL;
}

static const struct gid *first_gid(const struct device *device, uint8_t port)
{
	return &device->ports[port - 1].gids[0];
}

int gid_index(const struct cm_id *id)
{
	const struct port *port = &id->device->ports[id->port - 1];

	for (int i = 0; i < GID_TABLE_SIZE; i++)
		if (port->gids[i].type != GID_NONE && !memcmp(port->gids[i].raw, id->sgid, sizeof(id->sgid)))
			return i;
	return 0;
}

bool has_pkey(const struct port *port, uint16_t pkey)
{
	for (int i = 0; i < PKEY_TABLE_SIZE; i++)
		if (port->pkeys[i] && (port->pkeys[i] & 0x7fff) == (pkey & 0x7fff))
			return true;
	return false;
}

void use_address(struct cm_id *id, const struct address *address)
{
	id->device = address->device;
	id->port = address->port;
	id->pkey = address->device->link == LINK_INFINIBAND ? address->device->ports[address->port - 1].pkeys[0] : 0;
	if (address->device->link == LINK_ROCE)
		memcpy(id->sgid, &address->ip, sizeof(id->sgid));
	else
		memcpy(id->sgid, first_gid(address->device, address->port)->raw, sizeof(id->sgid));
}

/* An address of InfiniBand's family names a port by its GID. */
static int use_gid(struct cm_id *id, const struct sockaddr_ib *address)
{
	for (struct device *device = devices; device; device = device->next) {
		for (uint8_t port = 1; port <= device->port_count; port++) {
			if (device->removed || device->host != id->file->host || device->link != LINK_INFINIBAND ||
			    memcmp(first_gid(device, port)->raw, address->sib_addr.sib_raw, 16))
				continue;
			id->device = device;
			id->port = port;
			id->pkey = address->sib_pkey ? ntohs(address->sib_pkey) : device->ports[port - 1].pkeys[0];
			memcpy(id->sgid, address->sib_addr.sib_raw, sizeof(id->sgid));
			return 0;
		}
	}
	return -ENODEV;
}

void set_dgid(struct cm_id *id)
{
	struct in6_addr ip;
	const struct address *there;

	if (id->dst.ss_family == AF_IB) {
		memcpy(id->dgid, ((struct sockaddr_ib *)&id->dst)->sib_addr.sib_raw, sizeof(id->dgid));
		return;
	}
	if (!ip_of(&id->dst, &ip))
		return;
	there = find_address_anywhere(&ip);
	if (there && there->device->link != LINK_ROCE)
		memcpy(id->dgid, first_gid(there->device, there->port)->raw, sizeof(id->dgid));
	else
		memcpy(id->dgid, &ip, sizeof(id->dgid));
}

/* The device of the source address. The loopback addresses have none, and no other can be bound without. */
static int find_device_of_source(struct cm_id *id)
{
	const struct address *address;
	struct in6_addr ip;

	if (is_any(&id->src))
		return 0;
	if (id->src.ss_family == AF_IB)
		return use_gid(id, (struct sockaddr_ib *)&id->src);
	ip_of(&id->src, &ip);
	address = find_address(id->file->host, &ip);
	if (!address)
		return is_loopback(&id->src) ? 0 : -EADDRNOTAVAIL;
	if (address->device)
		use_address(id, address);
	return 0;
}

static void forget_source(struct cm_id *id)
{
	memset(&id->src, 0, sizeof(id->src));
	id->device = NULL;
	id->port = 0;
	id->state = CM_IDLE;
}

int bind_id(struct cm_id *id, const void *address)
{
	const struct sockaddr_in6 *in6 = address;
	int error;

	if (!sockaddr_size(address) || (in6->sin6_family == AF_IB && !is_af_ib_known()))
		return -EAFNOSUPPORT;
	if (id->state != CM_IDLE)
		return -EINVAL;
	if (in6->sin6_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr) && !in6->sin6_scope_id)
		return -EINVAL;
	set_sockaddr(&id->src, address);
	error = find_device_of_source(id);
	if (!error)
		error = take_port(id);
	if (error) {
		forget_source(id);
		return error;
	}
	id->dst.ss_family = id->src.ss_family;
	if (id->device)
		set_dgid(id);
	id->state = CM_ADDR_BOUND;
	return 0;
}

static void address_fails(struct cm_id *id, int status)
{
	id->state = CM_ADDR_BOUND;
	cm_tell(id, CM_ADDR_ERROR, status, NULL);
}

static void tell_resolved(void *arg)
{
	struct cm_id *id = arg;

	id->timer = NULL;
	if (!id->device) {
		address_fails(id, -ENODEV);
		return;
	}
	id->state = CM_IS_ADDR_RESOLVED;
	cm_tell(id, CM_ADDR_RESOLVED, 0, NULL);
}

static void nobody_answers(void *arg)
{
	struct cm_id *id = arg;

	id->timer = NULL;
	address_fails(id, -ETIMEDOUT);
}

/* To the wildcard: the first device that the host has. */
static int resolve_any(struct cm_id *id)
{
	for (const struct address *address = id->file->host->addresses; address; address = address->next) {
		bool ipv4 = IN6_IS_ADDR_V4MAPPED(&address->ip);

		if (!address->device || address->device->removed || ipv4 != (id->dst.ss_family == AF_INET))
			continue;
		if (!id->device)
			use_address(id, address);
		if (is_any(&id->src))
			sockaddr_from_ip(&id->src, &address->ip);
		sockaddr_from_ip(&id->dst, &address->ip);
		set_dgid(id);
		cm_wait(id, 0, tell_resolved);
		return 0;
	}
	return -ENODEV;
}

/* Without a source the partition is the destination's. */
static int resolve_ib(struct cm_id *id)
{
	uint16_t pkey = ntohs(((struct sockaddr_ib *)&id->dst)->sib_pkey);

	for (struct device *device = devices; !id->device && device; device = device->next) {
		const struct port *port = &device->ports[0];

		if (device->removed || device->host != id->file->host || device->link != LINK_INFINIBAND ||
		    (pkey && !has_pkey(port, pkey)))
			continue;
		id->device = device;
		id->port = 1;
		id->pkey = pkey ? pkey : port->pkeys[0];
		memcpy(id->sgid, first_gid(device, 1)->raw, sizeof(id->sgid));
	}
	if (!id->device)
		return -ENODEV;
	if (is_any(&id->src)) {
		struct sockaddr_ib *src = (struct sockaddr_ib *)&id->src;

		memcpy(src->sib_addr.sib_raw, id->sgid, sizeof(id->sgid));
		src->sib_pkey = htons(id->pkey);
	}
	set_dgid(id);
	cm_wait(id, 0, tell_resolved);
	return 0;
}

static int resolve_ip(struct cm_id *id, unsigned int timeout_ms)
{
	const struct address *route;
	struct in6_addr ip;

	ip_of(&id->dst, &ip);
	route = find_route(id->file->host, &ip);
	if (!route)
		return -ENETUNREACH;
	if (route->device && !id->device)
		use_address(id, route);
	if (is_any(&id->src))
		sockaddr_from_ip(&id->src, &route->ip);
	set_dgid(id);
	if (!route->device || is_group(&ip) || find_address_anywhere(&ip))
		cm_wait(id, 0, tell_resolved);
	else
		cm_wait(id, timeout_ms, nobody_answers);
	return 0;
}

static int resolve(struct cm_id *id, const void *src, const void *dst, unsigned int timeout_ms)
{
	struct sockaddr_storage any = { .ss_family = ((const struct sockaddr *)dst)->sa_family };
	struct sockaddr_storage before = id->dst;
	int error;

	set_sockaddr(&id->dst, dst);
	if (id->state != CM_ADDR_BOUND && id->state != CM_IS_ADDRINFO_RESOLVED) {
		error = bind_id(id, src && ((const struct sockaddr *)src)->sa_family ? src : (const void *)&any);
		if (error) {
			id->dst = before;
			return error;
		}
		set_sockaddr(&id->dst, dst);
	}
	if (id->src.ss_family != id->dst.ss_family)
		return -EINVAL;
	id->state = CM_ADDR_QUERY;
	error = is_any(&id->dst) ? resolve_any(id) : id->dst.ss_family == AF_IB ? resolve_ib(id)
										 : resolve_ip(id, timeout_ms);
	if (error)
		id->state = CM_ADDR_BOUND;
	return error;
}

long cm_bind_ip(struct cm_call *call)
{
	const struct rdma_ucm_bind_ip *bind = call->command;
	struct cm_id *id = call->id;

	if (bind->addr.sin6_family != AF_INET && bind->addr.sin6_family != AF_INET6)
		return -EINVAL;
	return bind_id(id, &bind->addr);
}

long cm_bind(struct cm_call *call)
{
	const struct rdma_ucm_bind *bind = call->command;
	struct cm_id *id = call->id;

	if (bind->reserved || !bind->addr_size || bind->addr_size != sockaddr_size(&bind->addr))
		return -EINVAL;
	return bind_id(id, &bind->addr);
}

static bool is_ip(const struct sockaddr_in6 *address)
{
	return address->sin6_family == AF_INET || address->sin6_family == AF_INET6;
}

long cm_resolve_ip(struct cm_call *call)
{
	const struct rdma_ucm_resolve_ip *question = call->command;
	struct cm_id *id = call->id;

	if ((question->src_addr.sin6_family && !is_ip(&question->src_addr)) || !is_ip(&question->dst_addr))
		return -EINVAL;
	return resolve(id, &question->src_addr, &question->dst_addr, question->timeout_ms);
}

long cm_resolve_addr(struct cm_call *call)
{
	const struct rdma_ucm_resolve_addr *question = call->command;
	struct cm_id *id = call->id;

	if (question->reserved || (question->src_size && question->src_size != sockaddr_size(&question->src_addr)) ||
	    !question->dst_size || question->dst_size != sockaddr_size(&question->dst_addr))
		return -EINVAL;
	return resolve(id, question->src_size ? &question->src_addr : NULL, &question->dst_addr, question->timeout_ms);
}

long is_address_call(struct client *client, const void *in, size_t in_size, struct answer *answer)
{
	const struct address *address;

	(void)answer;
	if (in_size != sizeof(struct in6_addr))
		return -EINVAL;
	address = find_address(client->host, in);
	if (address)
		return address->device ? SIM_HERE : SIM_NOWHERE;
	return find_address_anywhere(in) ? SIM_AT_ANOTHER_HOST : SIM_NOWHERE;
}

long addresses_call(struct client *client, const void *in, size_t in_size, struct answer *answer)
{
	unsigned int count = 0;

	(void)in;
	(void)in_size;
	for (const struct address *address = client->host->addresses; address; address = address->next) {
		struct sim_address said = { .ip = address->ip, .prefix = address->prefix };

		if (!address->device || address->device->removed || ++count > SIM_ADDRESSES_MAX)
			continue;
		memcpy(said.interface, address->device->name, sizeof(said.interface));
		answer_bytes(answer, &said, sizeof(said));
	}
	return 0;
}
