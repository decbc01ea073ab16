/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memberships in multicast groups. */
#include "cm.h"

#include "loop.h"
#include "memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MULTICAST_QPN = 0xffffff };

static struct cm_multicast **table;
static uint32_t table_size;

static void number(struct cm_multicast *multicast)
{
	uint32_t free_number = 0;

	while (free_number < table_size && table[free_number])
		free_number++;
	if (free_number == table_size) {
		table = realloc(table, ++table_size * sizeof(*table));
		require(table != NULL, "realloc");
	}
	table[free_number] = multicast;
	multicast->number = free_number;
}

void end_multicast(struct cm_multicast *multicast)
{
	struct cm_multicast **place = &multicast->id->multicasts;

	if (multicast->timer)
		cancel(multicast->timer);
	cm_drop_events(multicast->id->file, multicast->id, multicast);
	while (*place != multicast)
		place = &(*place)->next;
	*place = multicast->next;
	table[multicast->number] = NULL;
	free(multicast);
}

/* InfiniBand's group for an IP address: of the IPoIB scheme, under the connection manager's own signature. */
static void ib_group(const struct cm_id *id, const struct in6_addr *ip, uint8_t mgid[16])
{
	bool ipv4 = IN6_IS_ADDR_V4MAPPED(ip);

	if (!ipv4 && ip->s6_addr[0] == 0xff && ip->s6_addr[2] == 0xa0 && ip->s6_addr[3] == 0x1b) {
		memcpy(mgid, ip, 16);
		return;
	}
	memset(mgid, 0, 16);
	mgid[0] = 0xff;
	mgid[1] = ipv4 ? 0x12 : 0x10 | (ip->s6_addr[1] & 15);
	mgid[2] = ipv4 ? 0x40 : 0x60;
	mgid[3] = id->ps == RDMA_PS_UDP ? 0x01 : 0x1b;
	mgid[4] = (uint8_t)(id->pkey >> 8);
	mgid[5] = (uint8_t)id->pkey;
	if (ipv4) {
		memcpy(mgid + 12, &ip->s6_addr[12], 4);
		mgid[12] &= 0x0f;
	} else {
		memcpy(mgid + 6, &ip->s6_addr[6], 10);
	}
}

static void group_of(const struct cm_id *id, const struct sockaddr_storage *address, uint8_t mgid[16])
{
	struct in6_addr ip;

	if (!ip_of(address, &ip))
		memcpy(mgid, ((const struct sockaddr_ib *)address)->sib_addr.sib_raw, 16);
	else if (id->device->link == LINK_INFINIBAND)
		ib_group(id, &ip, mgid);
	else
		memcpy(mgid, &ip, 16);
}

static void tell_joined(void *arg)
{
	struct cm_multicast *multicast = arg;
	struct cm_id *id = multicast->id;
	struct rdma_ucm_ud_param ud = { .qp_num = MULTICAST_QPN, .qkey = CM_QKEY };
	struct ib_uverbs_ah_attr *attr = &ud.ah_attr;

	multicast->timer = NULL;
	if (!id->device) {
		cm_tell_multicast(multicast, CM_MULTICAST_ERROR, -ENODEV, NULL);
		return;
	}
	fill_ah_attr(id, attr->grh.dgid, attr);
	group_of(id, &multicast->address, attr->grh.dgid);
	attr->is_global = 1;
	attr->grh.hop_limit = id->device->link == LINK_ROCE ? 64 : 0;
	attr->grh.sgid_index = (uint8_t)gid_index(id);
	attr->dlid = id->device->link == LINK_INFINIBAND ? 0xc000 : 0;
	cm_tell_multicast(multicast, CM_MULTICAST_JOIN, 0, &ud);
}

static long join(struct cm_call *call, const struct rdma_ucm_join_mcast *join, size_t size)
{
	struct rdma_ucm_create_id_resp resp;
	struct cm_multicast *multicast;
	struct cm_id *id = call->id;

	if (!size || join->addr_size != size || join->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED)
		return -EINVAL;
	if (!id->device || id->qp_type != QP_TYPE_UD ||
	    (id->state != CM_ADDR_BOUND && id->state != CM_IS_ADDR_RESOLVED))
		return -EINVAL;
	if (id->device->link == LINK_IWARP)
		return -ENOSYS;
	multicast = take(sizeof(*multicast));
	set_sockaddr(&multicast->address, &join->addr);
	if (is_any(&multicast->address)) {
		free(multicast);
		return -EINVAL;
	}
	multicast->id = id;
	multicast->uid = join->uid;
	multicast->join_flags = (uint8_t)join->join_flags;
	multicast->next = id->multicasts;
	id->multicasts = multicast;
	number(multicast);
	multicast->timer = after(0, tell_joined, multicast);
	resp.id = multicast->number;
	cm_answer(call, join->response, &resp, sizeof(resp));
	return 0;
}

long cm_join_multicast(struct cm_call *call)
{
	const struct rdma_ucm_join_mcast *question = call->command;

	return join(call, question, sockaddr_size(&question->addr));
}

long cm_join_ip_multicast(struct cm_call *call)
{
	const struct rdma_ucm_join_ip_mcast *ip = call->command;
	struct rdma_ucm_join_mcast question = {
		.response = ip->response, .uid = ip->uid, .id = ip->id,
		.addr_size = (uint16_t)sockaddr_size(&ip->addr), .join_flags = RDMA_MC_JOIN_FLAG_FULLMEMBER,
	};

	memcpy(&question.addr, &ip->addr, sizeof(ip->addr));
	return join(call, &question, question.addr_size);
}

long cm_leave_multicast(struct cm_call *call)
{
	const struct rdma_ucm_destroy_id *leave = call->command;
	struct cm_multicast *multicast = leave->id < table_size ? table[leave->id] : NULL;
	struct rdma_ucm_destroy_id_resp resp;

	if (!multicast)
		return -ENOENT;
	if (multicast->id->file != call->file)
		return -EINVAL;
	resp.events_reported = multicast->events_reported;
	end_multicast(multicast);
	cm_answer(call, leave->response, &resp, sizeof(resp));
	return 0;
}
