/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Address handles and multicast groups. */
#include "inside.h"

#include <endian.h>
#include <netinet/ip.h>
#include <stdlib.h>
#include <string.h>

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct verbs_new_ah wanted = { number_of(pd->context), pd->handle, *attr };
	struct ibv_ah *ah = calloc(1, sizeof(*ah));

	if (!ah)
		return NULL;
	ah->context = pd->context;
	ah->pd = pd;
	if (ASK(VERBS_CREATE_AH, &wanted, &ah->handle)) {
		free(ah);
		return NULL;
	}
	return ah;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	struct verbs_reported reported;
	int error = destroy(ah->context, ah->handle, &reported);

	if (!error)
		free(ah);
	return error;
}

static int find_gid(struct ibv_context *context, uint8_t port, const union ibv_gid *wanted)
{
	struct ibv_port_attr attr;
	union ibv_gid gid;

	if (query_port(context, port, &attr, sizeof(attr)))
		return -1;
	for (int i = 0; i < attr.gid_tbl_len; i++)
		if (!ibv_query_gid(context, port, i, &gid) && !memcmp(&gid, wanted, sizeof(gid)))
			return i;
	return -1;
}

static union ibv_gid mapped(uint32_t address)
{
	union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff } };

	memcpy(&gid.raw[12], &address, sizeof(address));
	return gid;
}

int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port, struct ibv_wc *wc, struct ibv_grh *grh,
			struct ibv_ah_attr *attr)
{
	uint32_t first = be32toh(grh->version_tclass_flow);
	union ibv_gid destination = grh->dgid;
	int index;

	*attr = (struct ibv_ah_attr){
		.dlid = wc->slid,
		.sl = wc->sl,
		.src_path_bits = wc->dlid_path_bits,
		.port_num = port,
	};
	if (!(wc->wc_flags & IBV_WC_GRH))
		return 0;
	attr->is_global = 1;
	attr->grh.hop_limit = 0xff;
	if (first >> 28 == 6) {
		attr->grh.dgid = grh->sgid;
		attr->grh.flow_label = first & 0xfffff;
		attr->grh.traffic_class = (uint8_t)(first >> 20);
	} else {
		struct iphdr ip;

		/* A header of IPv4 takes the end of the place. */
		memcpy(&ip, (const char *)(grh + 1) - sizeof(ip), sizeof(ip));
		attr->grh.dgid = mapped(ip.saddr);
		attr->grh.traffic_class = ip.tos;
		destination = mapped(ip.daddr);
	}
	index = find_gid(context, port, &destination);
	if (index < 0)
		return -1;
	attr->grh.sgid_index = (uint8_t)index;
	return 0;
}

struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh, uint8_t port)
{
	struct ibv_ah_attr attr;

	return ibv_init_ah_from_wc(pd->context, port, wc, grh, &attr) ? NULL : ibv_create_ah(pd, &attr);
}

/* Simulated links have no addresses of their own. */
int ibv_resolve_eth_l2_from_gid(struct ibv_context *context, struct ibv_ah_attr *attr, uint8_t mac[6], uint16_t *vlan)
{
	(void)context;
	(void)attr;
	memset(mac, 0, 6);
	*vlan = 0xffff;
	return 0;
}

static int change_membership(uint32_t op, struct ibv_qp *qp, const union ibv_gid *group, uint16_t lid)
{
	struct verbs_group wanted = { name_of(qp->context, qp->handle), *group, lid };

	return TELL(op, &wanted);
}

int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *group, uint16_t lid)
{
	return change_membership(VERBS_ATTACH, qp, group, lid);
}

int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *group, uint16_t lid)
{
	return change_membership(VERBS_DETACH, qp, group, lid);
}
