/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Listening, and who hears a request. */
#include "cm.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

enum { BACKLOG_MAX = 1024 };

long cm_listen(struct cm_call *call)
{
	const struct rdma_ucm_listen *listen = call->command;
	struct sockaddr_storage any = { .ss_family = AF_INET };
	struct cm_id *id = call->id;
	long error;

	id->backlog = listen->backlog && listen->backlog < BACKLOG_MAX ? listen->backlog : BACKLOG_MAX;
	error = id->state == CM_IDLE ? bind_id(id, &any) : id->state == CM_ADDR_BOUND ? 0 : -EINVAL;
	if (!error)
		error = check_port_of_listener(id);
	if (!error)
		id->state = CM_LISTEN;
	return error;
}

static bool hears(const struct cm_id *listener, const struct cm_id *asking, const struct device *device)
{
	if (listener->device && listener->device != device)
		return false;
	if (asking->dst.ss_family == AF_IB && listener->src.ss_family != AF_IB)
		return false;
	if (is_any(&listener->src))
		return !listener->family_only || listener->src.ss_family == asking->dst.ss_family;
	if (listener->src.ss_family != asking->dst.ss_family)
		return !memcmp(listener->sgid, asking->dgid, sizeof(asking->dgid));
	return same_address(&listener->src, &asking->dst);
}

struct cm_id *find_listener(uint64_t service, const struct cm_id *asking, const struct device *device,
			    bool *is_used)
{
	*is_used = false;
	for (struct cm_id *id = cm_ids; id; id = id->next) {
		if (id->state != CM_LISTEN || id->file->host != device->host || id->qp_type != asking->qp_type ||
		    service_id_of(id, &id->src) != service)
			continue;
		*is_used = true;
		if (hears(id, asking, device))
			return id;
	}
	return NULL;
}

/* A request by InfiniBand's addresses says which service it is for, but not whose. */
static void hide_service(struct cm_id *id)
{
	struct sockaddr_ib *src = (struct sockaddr_ib *)&id->src, *dst = (struct sockaddr_ib *)&id->dst;

	if (src->sib_family == AF_IB)
		src->sib_sid_mask = htobe64(~0ULL);
	if (dst->sib_family == AF_IB)
		dst->sib_sid = dst->sib_sid_mask = 0;
}

struct cm_id *new_requested_id(struct cm_id *asking, struct cm_id *listener, struct device *device, uint8_t port)
{
	struct cm_id *id = new_cm_id(listener->file, listener->ps, listener->qp_type);

	id->state = CM_CONNECT;
	id->handshake = HANDSHAKE_REQUESTED;
	id->src = asking->dst;
	id->dst = asking->src;
	hide_service(id);
	id->device = device;
	id->port = port;
	id->pkey = asking->pkey;
	memcpy(id->sgid, asking->dgid, sizeof(id->sgid));
	memcpy(id->dgid, asking->sgid, sizeof(id->dgid));
	id->tos = listener->tos;
	id->peer = asking;
	if (id->qp_type != QP_TYPE_UD)
		resolve_paths(id);
	return id;
}

struct device *find_destination(const struct cm_id *id, uint8_t *port)
{
	struct in6_addr ip;

	if (id->dst.ss_family != AF_IB) {
		const struct address *address;

		ip_of(&id->dst, &ip);
		address = find_address_anywhere(&ip);
		*port = address ? address->port : 0;
		return address && address->device->link == id->device->link ? address->device : NULL;
	}
	for (struct device *device = devices; device; device = device->next)
		for (*port = 1; *port <= device->port_count; (*port)++)
			if (!device->removed && !memcmp(device->ports[*port - 1].gids[0].raw, id->dgid, 16))
				return device;
	return NULL;
}
