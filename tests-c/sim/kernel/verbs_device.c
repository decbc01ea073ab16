/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Devices as programs see them: their list, opening and closing, limits, ports and tables. */
#include "verbs.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

static struct verbs_device describe(const struct device *device)
{
	bool iwarp = device->link == LINK_IWARP;
	struct verbs_device told = {
		.index = device->index,
		.number = device->index,
		.guid = device->guid,
		.node_type = iwarp ? IBV_NODE_RNIC : IBV_NODE_CA,
		.transport = iwarp ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB,
	};

	_Static_assert(sizeof(told.name) == sizeof(device->name), "names are as long");
	memcpy(told.name, device->name, sizeof(told.name));
	return told;
}

CALL(call_devices)
{
	struct verbs_device *out = call->out;
	long count = 0;

	for (const struct device *device = devices; device; device = device->next)
		if (device->host == call->client->host && !device->removed)
			out[count++] = describe(device);
	call->used = (size_t)count * sizeof(*out);
	return count;
}

CALL(call_open)
{
	const uint32_t *in = call->in;
	struct verbs_opened *out = call->out;
	struct device *device = device_by_index(*in);
	struct context *context;

	if (!device || device->host != call->client->host)
		return -ENODEV;
	context = context_open(call->client, device);
	if (!context)
		return -errno;
	call->fd = fcntl(context->events.fd, F_DUPFD_CLOEXEC, 0);
	if (call->fd < 0) {
		context_close(context);
		return -EMFILE;
	}
	*out = (struct verbs_opened){ context->number, DEVICE_VECTORS };
	return 0;
}

CALL(call_close)
{
	const struct verbs_name *in = call->in;
	struct context *context = contexts;

	/* Also when the device is gone. */
	while (context && context->number != in->context)
		context = context->next;
	if (!context)
		return -EBADF;
	context_close(context);
	return 0;
}

CALL(call_query_device)
{
	const struct verbs_name *in = call->in;
	struct context *context = context_find(call->client, in->context);
	bool iwarp;

	if (!context)
		return -errno;
	iwarp = context->device->link == LINK_IWARP;
	*(struct ibv_device_attr *)call->out = (struct ibv_device_attr){
		.fw_ver = "simulated",
		.node_guid = context->device->guid,
		.sys_image_guid = context->device->guid,
		.max_mr_size = UINT64_MAX,
		.page_size_cap = 0xfffff000,
		.vendor_id = 0xffffff,
		.max_qp = 65536,
		.max_qp_wr = DEVICE_MAX_QP_WR,
		.device_cap_flags = (iwarp ? 0 : IBV_DEVICE_RC_RNR_NAK_GEN) |
				    (context->device->has_xrc ? IBV_DEVICE_XRC : 0),
		.max_sge = VERBS_MAX_SGE,
		.max_sge_rd = iwarp ? 1 : VERBS_MAX_SGE,
		.max_cq = 65536,
		.max_cqe = DEVICE_MAX_CQE,
		.max_mr = 262144,
		.max_pd = 65536,
		.max_qp_rd_atom = DEVICE_MAX_READS,
		.max_res_rd_atom = 65536 * DEVICE_MAX_READS,
		.max_qp_init_rd_atom = DEVICE_MAX_READS,
		.atomic_cap = iwarp ? IBV_ATOMIC_NONE : IBV_ATOMIC_HCA,
		.max_mcast_grp = 8192,
		.max_mcast_qp_attach = 56,
		.max_total_mcast_qp_attach = 8192 * 56,
		.max_ah = 65536,
		.max_srq = 65536,
		.max_srq_wr = DEVICE_MAX_QP_WR,
		.max_srq_sge = VERBS_MAX_SGE,
		.max_pkeys = PKEY_TABLE_SIZE,
		.local_ca_ack_delay = 15,
		.phys_port_cnt = context->device->port_count,
	};
	return 0;
}

static const struct port *find_port(const struct context *context, uint32_t number)
{
	if (!number || number > context->device->port_count)
		return NULL;
	return &context->device->ports[number - 1];
}

CALL(call_query_port)
{
	enum { LINK_IS_UP = 5, POLLING = 2, WIDTH_4X = 2, SPEED_EDR = 32 };
	const struct verbs_place *in = call->in;
	struct context *context = context_find(call->client, in->context);
	const struct port *port = context ? find_port(context, in->port) : NULL;

	if (!context)
		return -errno;
	if (!port)
		return -EINVAL;
	*(struct ibv_port_attr *)call->out = (struct ibv_port_attr){
		.state = port->state,
		.max_mtu = IBV_MTU_4096,
		.active_mtu = port->active_mtu,
		.gid_tbl_len = GID_TABLE_SIZE,
		.port_cap_flags = IBV_PORT_CM_SUP | (context->device->link == LINK_ROCE ? IBV_PORT_IP_BASED_GIDS : 0),
		.max_msg_sz = DEVICE_MAX_MESSAGE,
		.pkey_tbl_len = PKEY_TABLE_SIZE,
		.lid = port->lid,
		.sm_lid = port->sm_lid,
		.max_vl_num = 1,
		.subnet_timeout = 18,
		.active_width = WIDTH_4X,
		.active_speed = SPEED_EDR,
		.phys_state = port->state == IBV_PORT_ACTIVE ? LINK_IS_UP : POLLING,
		.link_layer = context->device->link == LINK_INFINIBAND ? IBV_LINK_LAYER_INFINIBAND :
									 IBV_LINK_LAYER_ETHERNET,
	};
	return 0;
}

CALL(call_query_gid)
{
	static const uint32_t types[] = {
		[GID_IB] = IBV_GID_TYPE_IB,
		[GID_ROCE_V1] = IBV_GID_TYPE_ROCE_V1,
		[GID_ROCE_V2] = IBV_GID_TYPE_ROCE_V2,
	};
	const struct verbs_place *in = call->in;
	struct verbs_gid *out = call->out;
	struct context *context = context_find(call->client, in->context);
	const struct port *port = context ? find_port(context, in->port) : NULL;
	const struct gid *gid;

	if (!context)
		return -errno;
	if (!port || in->index >= GID_TABLE_SIZE)
		return -EINVAL;
	gid = &port->gids[in->index];
	if (gid->type == GID_NONE)
		return -ENODATA;
	memcpy(out->gid.raw, gid->raw, sizeof(out->gid.raw));
	out->type = types[gid->type];
	out->interface = gid->interface;
	return 0;
}

CALL(call_query_pkey)
{
	const struct verbs_place *in = call->in;
	struct context *context = context_find(call->client, in->context);
	const struct port *port = context ? find_port(context, in->port) : NULL;

	if (!context)
		return -errno;
	if (!port || in->index >= PKEY_TABLE_SIZE)
		return -EINVAL;
	*(uint16_t *)call->out = htobe16(port->pkeys[in->index]);
	return 0;
}

void verbs_device_removed(struct device *device)
{
	for (struct context *context = contexts; context; context = context->next)
		if (context->device == device && !context->gone) {
			context->gone = true;
			events_add_port(&context->events, IBV_EVENT_DEVICE_FATAL, 0);
		}
	/* Their peers hear nothing of them any more. */
	run_waiting();
}

void verbs_port_event(struct device *device, uint32_t type, uint8_t port)
{
	for (struct context *context = contexts; context; context = context->next)
		if (context->device == device && !context->gone)
			events_add_port(&context->events, type, port);
	run_waiting();
}

void verbs_client_gone(struct client *client)
{
	for (struct context *context = contexts, *next; context; context = next) {
		next = context->next;
		if (context->client == client)
			context_close(context);
	}
	run_waiting();
}
