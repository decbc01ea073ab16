/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ids on devices, as `rdma resource show cm_id` of iproute2 lists them. */
#include "resources.h"

#include "cm.h"

static const char *name_of_space(uint16_t space)
{
	switch (space) {
	case RDMA_PS_IPOIB: return "IPoIB";
	case RDMA_PS_IB: return "IPoIB";
	case RDMA_PS_TCP: return "TCP";
	default: return "UDP";
	}
}

static const char *name_of_state(enum cm_state state)
{
	static const char *const names[] = {
		"IDLE", "ADDR_QUERY", "ADDR_RESOLVED", "ROUTE_QUERY", "ROUTE_RESOLVED", "CONNECT", "DISCONNECT",
		"ADDR_BOUND", "LISTEN", "DEVICE_REMOVAL", "ADDRINFO_QUERY", "ADDRINFO_RESOLVED",
	};

	return names[state];
}

void list_cm_ids(FILE *out)
{
	for (const struct cm_id *id = cm_ids; id; id = id->next)
		if (id->device)
			fprintf(out, "link %s/%u cm-idn %u state %s ps %s pid %d comm %.15s \n", id->device->name, id->port,
				id->number, name_of_state(id->state), name_of_space(id->ps), id->file->owner,
				id->file->program);
}
