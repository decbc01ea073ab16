/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Routes, and the services that a subnet administrator knows. */
#include "cm.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void tell_route(void *arg)
{
	struct cm_id *id = arg;
	int error = resolve_paths(id);

	id->timer = NULL;
	id->state = error ? CM_IS_ADDR_RESOLVED : CM_IS_ROUTE_RESOLVED;
	cm_tell(id, error ? CM_ROUTE_ERROR : CM_ROUTE_RESOLVED, error, NULL);
}

static void route_takes_too_long(void *arg)
{
	struct cm_id *id = arg;

	id->timer = NULL;
	id->state = CM_IS_ADDR_RESOLVED;
	cm_tell(id, CM_ROUTE_ERROR, -ETIMEDOUT, NULL);
}

long cm_resolve_route(struct cm_call *call)
{
	const struct rdma_ucm_resolve_route *question = call->command;
	struct cm_id *id = call->id;

	if (!question->timeout_ms || (id->state != CM_IS_ADDR_RESOLVED && id->state != CM_IS_ADDRINFO_RESOLVED))
		return -EINVAL;
	id->state = CM_ROUTE_QUERY;
	if (id->device->link == LINK_INFINIBAND && answer_delay_of_sa() > question->timeout_ms)
		cm_wait(id, question->timeout_ms, route_takes_too_long);
	else
		cm_wait(id, id->device->link == LINK_INFINIBAND ? answer_delay_of_sa() : 0, tell_route);
	return 0;
}

static void tell_services(void *arg)
{
	struct cm_id *id = arg;
	struct sockaddr_ib *dst = (struct sockaddr_ib *)&id->dst;

	id->timer = NULL;
	if (id->service_error) {
		id->state = CM_ADDR_BOUND;
		cm_tell(id, CM_ADDRINFO_ERROR, id->service_error, NULL);
		return;
	}
	memset(&id->dst, 0, sizeof(id->dst));
	dst->sib_family = AF_IB;
	memcpy(dst->sib_addr.sib_raw, id->services[0].gid, sizeof(id->services[0].gid));
	dst->sib_pkey = id->services[0].pkey;
	dst->sib_sid = id->services[0].id;
	set_dgid(id);
	id->state = CM_IS_ADDRINFO_RESOLVED;
	cm_tell(id, CM_ADDRINFO_RESOLVED, 0, NULL);
}

long cm_resolve_ib_service(struct cm_call *call)
{
	const struct rdma_ucm_resolve_ib_service *question = call->command;
	const struct rdma_ucm_ib_service *service = &question->ibs;
	struct cm_id *id = call->id;

	if (!id->device || id->state != CM_ADDR_BOUND)
		return -EINVAL;
	if (id->device->link != LINK_INFINIBAND)
		return -EOPNOTSUPP;
	if (id->services)
		return -EALREADY;
	id->state = CM_ADDRINFO_QUERY;
	id->service_error = find_services(
		service->flags & RDMA_USER_CM_IB_SERVICE_FLAG_ID ? htobe64(service->service_id) : 0,
		service->flags & RDMA_USER_CM_IB_SERVICE_FLAG_NAME ? (const char *)service->service_name : NULL,
		&id->services, &id->service_count);
	cm_wait(id, answer_delay_of_sa(), tell_services);
	return 0;
}
