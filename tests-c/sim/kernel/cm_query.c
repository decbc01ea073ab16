/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What ids are asked for: addresses, paths, GIDs. */
#include "cm.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

/* A path record as it stands in a management datagram. */
struct wire_path {
	uint64_t service_id;
	uint8_t dgid[16], sgid[16];
	uint16_t dlid, slid;
	uint32_t raw_flow_hops;
	uint8_t traffic_class, reversible_numb_path;
	uint16_t pkey, qos_sl;
	uint8_t mtu, rate, life, preference;
	uint8_t reserved[6];
} __attribute__((packed));

_Static_assert(sizeof(struct wire_path) == sizeof(((struct ib_path_rec_data *)0)->path_rec), "a path's size");

static void pack_path(const struct cm_path *path, struct wire_path *wire)
{
	const struct ib_user_path_rec *rec = &path->rec;

	memset(wire, 0, sizeof(*wire));
	wire->service_id = path->service_id;
	memcpy(wire->dgid, rec->dgid, sizeof(wire->dgid));
	memcpy(wire->sgid, rec->sgid, sizeof(wire->sgid));
	wire->dlid = rec->dlid;
	wire->slid = rec->slid;
	wire->raw_flow_hops = htobe32(rec->raw_traffic << 31 | (be32toh(rec->flow_label) & 0xfffff) << 8 | rec->hop_limit);
	wire->traffic_class = rec->traffic_class;
	wire->reversible_numb_path = (uint8_t)(rec->reversible << 7 | rec->numb_path);
	wire->pkey = rec->pkey;
	wire->qos_sl = htobe16((uint16_t)(path->qos_class << 4 | rec->sl));
	wire->mtu = (uint8_t)(rec->mtu_selector << 6 | rec->mtu);
	wire->rate = (uint8_t)(rec->rate_selector << 6 | rec->rate);
	wire->life = (uint8_t)(rec->packet_life_time_selector << 6 | rec->packet_life_time);
	wire->preference = rec->preference;
}

static void copy_ip(struct sockaddr_in6 *to, const struct sockaddr_storage *from)
{
	memcpy(to, from, from->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
}

long cm_query_route(struct cm_call *call)
{
	const struct rdma_ucm_query *query = call->command;
	struct rdma_ucm_query_route_resp resp = { 0 };
	struct cm_id *id = call->id;

	copy_ip(&resp.src_addr, &id->src);
	copy_ip(&resp.dst_addr, &id->dst);
	if (id->device) {
		resp.node_guid = id->device->guid;
		resp.port_num = id->port;
		resp.ibdev_index = id->device->index;
		resp.num_paths = id->path_count;
		for (uint32_t i = 0; i < id->path_count; i++)
			resp.ib_route[i] = id->paths[i].rec;
		if (!id->path_count) {
			memcpy(resp.ib_route[0].sgid, id->sgid, sizeof(id->sgid));
			memcpy(resp.ib_route[0].dgid, id->dgid, sizeof(id->dgid));
			resp.ib_route[0].pkey = htons(id->device->link == LINK_ROCE ? 0xffff : id->pkey);
		}
	}
	cm_answer(call, query->response, &resp, sizeof(resp));
	return 0;
}

static void describe_device(const struct cm_id *id, struct rdma_ucm_query_addr_resp *resp)
{
	if (!id->device)
		return;
	resp->node_guid = id->device->guid;
	resp->port_num = id->port;
	resp->pkey = htons(id->pkey);
	resp->ibdev_index = id->device->index;
}

static long query_addr(struct cm_call *call, uint64_t address)
{
	const struct cm_id *id = call->id;
	struct rdma_ucm_query_addr_resp resp = { 0 };

	if (call->room < offsetof(struct rdma_ucm_query_addr_resp, ibdev_index))
		return -ENOSPC;
	resp.src_size = (uint16_t)sockaddr_size(&id->src);
	memcpy(&resp.src_addr, &id->src, resp.src_size);
	resp.dst_size = (uint16_t)sockaddr_size(&id->dst);
	memcpy(&resp.dst_addr, &id->dst, resp.dst_size);
	describe_device(id, &resp);
	cm_answer(call, address, &resp, sizeof(resp));
	return 0;
}

static void fill_gid(const struct cm_id *id, const struct sockaddr_storage *address, const uint8_t gid[16],
		     void *place)
{
	struct sockaddr_ib *ib = place;

	if (address->ss_family == AF_IB) {
		memcpy(ib, address, sizeof(*ib));
		return;
	}
	ib->sib_family = AF_IB;
	ib->sib_pkey = htons(id->pkey);
	memcpy(ib->sib_addr.sib_raw, gid, 16);
	ib->sib_sid = service_id_of(id, address);
	ib->sib_sid_mask = htobe64(~0ULL);
}

static long query_gid(struct cm_call *call, uint64_t address)
{
	const struct cm_id *id = call->id;
	struct rdma_ucm_query_addr_resp resp = { 0 };

	if (call->room < offsetof(struct rdma_ucm_query_addr_resp, ibdev_index))
		return -ENOSPC;
	describe_device(id, &resp);
	resp.src_size = resp.dst_size = sizeof(struct sockaddr_ib);
	fill_gid(id, &id->src, id->sgid, &resp.src_addr);
	fill_gid(id, &id->dst, id->dgid, &resp.dst_addr);
	cm_answer(call, address, &resp, sizeof(resp));
	return 0;
}

static long query_path(struct cm_call *call, uint64_t address)
{
	const struct cm_id *id = call->id;
	struct {
		struct rdma_ucm_query_path_resp head;
		struct ib_path_rec_data data[2];
	} resp = { .head.num_paths = id->path_count };
	size_t size = sizeof(resp.head);

	if (call->room < size)
		return -ENOSPC;
	for (uint32_t i = 0; i < id->path_count && call->room - size > sizeof(resp.data[0]); i++) {
		struct wire_path wire;

		pack_path(&id->paths[i], &wire);
		memcpy(resp.data[i].path_rec, &wire, sizeof(wire));
		resp.data[i].flags = id->paths[i].flags ? id->paths[i].flags
						       : IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
		size += sizeof(resp.data[0]);
	}
	cm_answer(call, address, &resp, size);
	return 0;
}

static long query_services(struct cm_call *call, uint64_t address)
{
	const struct cm_id *id = call->id;
	static unsigned char bytes[sizeof(call->data)] __attribute__((aligned(8)));
	struct rdma_ucm_query_ib_service_resp *resp = (struct rdma_ucm_query_ib_service_resp *)bytes;
	size_t size = sizeof(*resp), most = call->room < sizeof(bytes) ? call->room : sizeof(bytes);

	if (call->room < sizeof(*resp))
		return -ENOSPC;
	if (!id->services)
		return -ENODATA;
	memset(resp, 0, sizeof(*resp));
	resp->num_service_recs = id->service_count;
	for (uint32_t i = 0; i < id->service_count && most - size >= sizeof(resp->recs[0]); i++) {
		resp->recs[i] = id->services[i];
		size += sizeof(resp->recs[0]);
	}
	cm_answer(call, address, resp, size);
	return 0;
}

long cm_query(struct cm_call *call)
{
	const struct rdma_ucm_query *query = call->command;

	switch (query->option) {
	case RDMA_USER_CM_QUERY_ADDR:
		return query_addr(call, query->response);
	case RDMA_USER_CM_QUERY_PATH:
		return query_path(call, query->response);
	case RDMA_USER_CM_QUERY_GID:
		return query_gid(call, query->response);
	case RDMA_USER_CM_QUERY_IB_SERVICE:
		return query_services(call, query->response);
	default:
		return -ENOSYS;
	}
}
