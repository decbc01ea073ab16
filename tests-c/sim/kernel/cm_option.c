/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options of ids. */
#include "cm.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

static bool as_int(const void *value, size_t size, int *number)
{
	if (size != sizeof(*number))
		return false;
	memcpy(number, value, size);
	return true;
}

static long set_ack_timeout(struct cm_id *id, uint8_t timeout)
{
	if (id->qp_type != QP_TYPE_RC && id->qp_type != QP_TYPE_XRC_INI)
		return -EINVAL;
	id->ack_timeout = timeout;
	id->has_ack_timeout = true;
	return 0;
}

static long set_id_option(struct cm_id *id, uint32_t name, const void *value, size_t size)
{
	int number;

	switch (name) {
	case RDMA_OPTION_ID_TOS:
		if (size != 1)
			return -EINVAL;
		id->tos = *(const uint8_t *)value;
		return 0;
	case RDMA_OPTION_ID_REUSEADDR:
		if (!as_int(value, size, &number) || (id->state != CM_IDLE && (!number || id->state == CM_LISTEN)))
			return -EINVAL;
		id->reuse_address = number != 0;
		return 0;
	case RDMA_OPTION_ID_AFONLY:
		if (!as_int(value, size, &number) || (id->state != CM_IDLE && id->state != CM_ADDR_BOUND))
			return -EINVAL;
		id->family_only = number != 0;
		return 0;
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		return size == 1 ? set_ack_timeout(id, *(const uint8_t *)value) : -EINVAL;
	default:
		return -ENOSYS;
	}
}

static void unpack_path(const unsigned char *wire, struct cm_path *path)
{
	struct ib_user_path_rec *rec = &path->rec;
	uint32_t raw_flow_hops;
	uint16_t qos_sl;

	memcpy(&path->service_id, wire, 8);
	memcpy(rec->dgid, wire + 8, 16);
	memcpy(rec->sgid, wire + 24, 16);
	memcpy(&rec->dlid, wire + 40, 2);
	memcpy(&rec->slid, wire + 42, 2);
	memcpy(&raw_flow_hops, wire + 44, 4);
	raw_flow_hops = be32toh(raw_flow_hops);
	rec->raw_traffic = raw_flow_hops >> 31;
	rec->flow_label = htobe32(raw_flow_hops >> 8 & 0xfffff);
	rec->hop_limit = (uint8_t)raw_flow_hops;
	rec->traffic_class = wire[48];
	rec->reversible = wire[49] >> 7;
	rec->numb_path = wire[49] & 0x7f;
	memcpy(&rec->pkey, wire + 50, 2);
	memcpy(&qos_sl, wire + 52, 2);
	path->qos_class = be16toh(qos_sl) >> 4;
	rec->sl = be16toh(qos_sl) & 15;
	rec->mtu_selector = wire[54] >> 6;
	rec->mtu = wire[54] & 63;
	rec->rate_selector = wire[55] >> 6;
	rec->rate = wire[55] & 63;
	rec->packet_life_time_selector = wire[56] >> 6;
	rec->packet_life_time = wire[56] & 63;
	rec->preference = wire[57];
}

static long set_path(struct cm_id *id, const unsigned char *value, size_t size)
{
	const uint32_t needed = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
	struct ib_path_rec_data data;

	if (size % sizeof(data))
		return -EINVAL;
	for (;; value += sizeof(data), size -= sizeof(data)) {
		if (!size)
			return -EINVAL;
		memcpy(&data, value, sizeof(data));
		if (data.flags == needed)
			break;
	}
	if (id->state != CM_IS_ADDR_RESOLVED || !id->device)
		return -EINVAL;
	memset(id->paths, 0, sizeof(id->paths));
	unpack_path((const unsigned char *)data.path_rec, &id->paths[0]);
	id->path_count = 1;
	id->state = CM_IS_ROUTE_RESOLVED;
	cm_tell(id, CM_ROUTE_RESOLVED, 0, NULL);
	return 0;
}

long cm_set_option(struct cm_call *call)
{
	const struct rdma_ucm_set_option *option = call->command;
	struct cm_id *id = call->id;

	if (option->optlen > 4096)
		return -EINVAL;
	/* The value follows, if the caller's memory could be read. */
	if (option->optlen && call->extra_size < option->optlen)
		return -EFAULT;
	switch (option->level) {
	case RDMA_OPTION_ID:
		return set_id_option(id, option->optname, call->extra, option->optlen);
	case RDMA_OPTION_IB:
		if (option->optname == RDMA_OPTION_IB_PATH)
			return set_path(id, call->extra, option->optlen);
		return -ENOSYS;
	default:
		return -ENOSYS;
	}
}
