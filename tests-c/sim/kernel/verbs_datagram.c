/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Datagrams: address handles, multicast groups, and who receives what. What nobody waits for is lost. */
#include "verbs.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <netinet/ip.h>
#include <string.h>

enum { TO_A_GROUP = 0xffffff, QKEY_IS_MINE = 1U << 31, HEADER = sizeof(struct ibv_grh) };

/* A queue pair's being attached to a group. */
struct membership {
	union ibv_gid group;
	struct membership *next;
};

static bool is_mapped(const union ibv_gid *gid)
{
	return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)gid->raw);
}

static bool is_group(const union ibv_gid *gid)
{
	return is_mapped(gid) ? gid->raw[12] >> 4 == 0xe : gid->raw[0] == 0xff;
}

CALL(call_create_ah)
{
	const struct verbs_new_ah *in = call->in;
	struct context *context = context_find(call->client, in->context);
	struct object *pd = context ? object_find(context, UVERBS_OBJECT_PD, in->pd) : NULL;
	struct address_handle *ah;

	if (!pd)
		return -errno;
	if (!is_good_path(context->device, &in->attr))
		return -EINVAL;
	ah = object_new(context, UVERBS_OBJECT_AH, sizeof(*ah), 0);
	if (!ah)
		return -errno;
	ah->pd = object_use(pd);
	ah->attr = in->attr;
	*(uint32_t *)call->out = ah->object.handle;
	return 0;
}

void address_handle_free(struct address_handle *ah)
{
	object_leave(ah->pd);
	object_free(&ah->object);
}

static struct membership **find_membership(struct queue_pair *qp, const union ibv_gid *group)
{
	struct membership **link = &qp->memberships;

	while (*link && memcmp(&(*link)->group, group, sizeof(*group)))
		link = &(*link)->next;
	return link;
}

/* The queue pair of a call about groups; NULL with errno. */
static struct queue_pair *find_member(struct call *call)
{
	const struct verbs_group *in = call->in;
	struct context *context = context_find(call->client, in->qp.context);
	struct queue_pair *qp = context ? object_find(context, UVERBS_OBJECT_QP, in->qp.handle) : NULL;

	if (!qp)
		return NULL;
	if (qp->type != IBV_QPT_UD || !is_group(&in->gid)) {
		errno = EINVAL;
		return NULL;
	}
	return qp;
}

CALL(call_attach)
{
	const struct verbs_group *in = call->in;
	struct queue_pair *qp = find_member(call);
	struct membership **link;

	if (!qp)
		return -errno;
	link = find_membership(qp, &in->gid);
	if (!*link) {
		*link = take(sizeof(**link));
		(*link)->group = in->gid;
	}
	return 0;
}

CALL(call_detach)
{
	const struct verbs_group *in = call->in;
	struct queue_pair *qp = find_member(call);
	struct membership **link, *membership;

	if (!qp)
		return -errno;
	link = find_membership(qp, &in->gid);
	membership = *link;
	if (!membership)
		return -EINVAL;
	*link = membership->next;
	free(membership);
	return 0;
}

void memberships_free(struct queue_pair *qp)
{
	struct membership *membership;

	while ((membership = qp->memberships)) {
		qp->memberships = membership->next;
		free(membership);
	}
}

/* The header that stands before the data: of IPv4 it takes the second half. */
static void make_header(unsigned char header[HEADER], const struct queue_pair *qp, const struct send *send)
{
	const struct ibv_global_route *route = &send->path.grh;
	const struct port *port = &qp->object.context->device->ports[send->path.port_num - 1];
	const struct gid *source = &port->gids[route->sgid_index];

	memset(header, 0, HEADER);
	if (source->type == GID_ROCE_V2 && is_mapped(&route->dgid)) {
		struct iphdr ip = {
			.version = 4,
			.ihl = sizeof(ip) / 4,
			.tos = route->traffic_class,
			.tot_len = htons((uint16_t)(send->length + sizeof(ip))),
			.ttl = route->hop_limit,
			.protocol = IPPROTO_UDP,
		};

		memcpy(&ip.saddr, &source->raw[12], sizeof(ip.saddr));
		memcpy(&ip.daddr, &route->dgid.raw[12], sizeof(ip.daddr));
		memcpy(header + HEADER - sizeof(ip), &ip, sizeof(ip));
	} else {
		enum { NEXT_IS_TRANSPORT = 0x1b };
		struct ibv_grh grh = {
			.version_tclass_flow = htobe32(6U << 28 | (uint32_t)route->traffic_class << 20 |
						       (route->flow_label & 0xfffff)),
			.paylen = htobe16((uint16_t)send->length),
			.next_hdr = source->type == GID_ROCE_V2 ? IPPROTO_UDP : NEXT_IS_TRANSPORT,
			.hop_limit = route->hop_limit,
			.dgid = route->dgid,
		};

		memcpy(&grh.sgid, source->raw, sizeof(grh.sgid));
		memcpy(header, &grh, sizeof(grh));
	}
}

static void deliver(struct queue_pair *from, struct send *send, const struct spans *data, struct queue_pair *to)
{
	struct receive_queue *queue = to->srq ? &to->srq->receives : &to->receives;
	const struct object *pd = to->srq ? to->srq->pd : to->pd;
	struct receive *receive = queue->first;
	const struct port *port = &from->object.context->device->ports[send->path.port_num - 1];
	unsigned char header[HEADER];
	struct spans place, own;
	struct ibv_wc completion = {
		.opcode = IBV_WC_RECV,
		.byte_len = HEADER + (uint32_t)send->length,
		.qp_num = to->number,
		.src_qp = from->number,
		.wc_flags = send->path.is_global ? IBV_WC_GRH : 0,
		.slid = port->lid,
		.sl = send->path.sl,
	};

	if (!receive)
		return;
	if (!spans_of_sges(&place, pd, receive->sge, receive->sges, IBV_ACCESS_LOCAL_WRITE))
		completion.status = IBV_WC_LOC_PROT_ERR;
	else if (place.length < completion.byte_len)
		return;
	receive_take(queue);
	if (!completion.status) {
		make_header(header, from, send);
		spans_of_own(&own, header, HEADER);
		if (send->path.is_global && spans_copy(&place, &own) != COPIED)
			completion.status = IBV_WC_LOC_PROT_ERR;
		spans_skip(&place, HEADER);
		if (spans_copy(&place, data) == NO_TARGET)
			completion.status = IBV_WC_LOC_PROT_ERR;
	}
	completion.wr_id = receive->id;
	if (send->wr.opcode == IBV_WR_SEND_WITH_IMM) {
		completion.wc_flags |= IBV_WC_WITH_IMM;
		completion.imm_data = send->wr.immediate;
	}
	completion_add(to->recv_cq, &completion, send->wr.flags & IBV_SEND_SOLICITED);
	free(receive);
	if (to->srq)
		shared_queue_taken(to->srq);
	if (completion.status)
		queue_pair_fail(to);
}

static bool hears(const struct queue_pair *from, const struct send *send, struct queue_pair *to)
{
	uint32_t key = send->wr.remote_qkey & QKEY_IS_MINE ? from->attr.qkey : send->wr.remote_qkey;
	const struct device *there = to->object.context->device;

	if (to->type != IBV_QPT_UD || !can_receive(to) || to->attr.qkey != key || to->object.context->gone ||
	    there->link != from->object.context->device->link)
		return false;
	if (send->wr.remote_qpn == TO_A_GROUP)
		return *find_membership(to, &send->path.grh.dgid) &&
		       there->ports[to->attr.port_num - 1].state == IBV_PORT_ACTIVE;
	return to->number == send->wr.remote_qpn && path_leads_to(&send->path, there);
}

enum sent send_datagram(struct queue_pair *qp, struct send *send, enum ibv_wc_status *status)
{
	const struct port *port = &qp->object.context->device->ports[send->path.port_num - 1];
	struct spans data;

	if (!spans_of_send(&data, qp, send, 0)) {
		*status = IBV_WC_LOC_PROT_ERR;
		return SEND_FAILED;
	}
	if (send->length > 128U << port->active_mtu || port->state != IBV_PORT_ACTIVE)
		return SENT;
	for (struct queue_pair *to = queue_pairs, *next; to; to = next) {
		next = to->next;
		if (hears(qp, send, to))
			deliver(qp, send, &data, to);
	}
	return SENT;
}

void fail_sends(struct queue_pair *qp)
{
	struct send *send;

	qp->attr.qp_state = IBV_QPS_SQE;
	while ((send = send_take(qp)))
		complete_send(qp, send, IBV_WC_WR_FLUSH_ERR);
}
