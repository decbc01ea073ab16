/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Asking for the queue pair of a datagram service: one question, one answer, no connection. */
#include "cm.h"

#include <errno.h>
#include <string.h>

/* Of the answer. */
enum { STATUS_SUCCESS, STATUS_UNSUPPORTED, STATUS_REJECT };

void fill_ah_attr(const struct cm_id *id, const uint8_t dgid[16], struct ib_uverbs_ah_attr *attr)
{
	const struct ib_user_path_rec *path = &id->paths[0].rec;

	memset(attr, 0, sizeof(*attr));
	attr->port_num = id->port;
	attr->sl = path->sl;
	attr->is_global = id->device->link != LINK_INFINIBAND || path->hop_limit > 0;
	if (id->device->link == LINK_INFINIBAND)
		attr->dlid = ntohs(path->dlid);
	if (!attr->is_global)
		return;
	memcpy(attr->grh.dgid, dgid, sizeof(attr->grh.dgid));
	attr->grh.sgid_index = (uint8_t)gid_index(id);
	attr->grh.hop_limit = path->hop_limit ? path->hop_limit : 64;
	attr->grh.traffic_class = path->traffic_class;
}

static void fails(struct cm_id *id, int status)
{
	id->handshake = HANDSHAKE_OVER;
	cm_tell_datagram(id, CM_UNREACHABLE, status, NULL);
}

void ask_by_datagram(void *arg)
{
	struct cm_id *id = arg, *listener, *new_id;
	struct cm_message message = { 0 };
	struct device *device;
	uint8_t port;
	bool is_used = false;

	id->timer = NULL;
	device = find_destination(id, &port);
	listener = device ? find_listener(service_id_of(id, &id->dst), id, device, &is_used) : NULL;
	if (listener) {
		new_id = new_requested_id(id, listener, device, port);
		memcpy(message.conn.private_data, id->sent.conn.private_data, id->sent.conn.private_data_len);
		message.conn.private_data_len =
			id->src.ss_family == AF_IB ? DATAGRAM_REQUEST_DATA : DATAGRAM_REQUEST_DATA - ADDRESS_DATA;
		message.ece = id->sent.ece;
		if (!cm_tell_request(listener, new_id, &message)) {
			id->peer = new_id;
			return;
		}
		new_id->peer = NULL;
		end_cm_id(new_id);
	} else if (device) {
		fails(id, STATUS_UNSUPPORTED);
		return;
	}
	if (++id->tries < REQUEST_TRIES)
		cm_wait(id, REQUEST_PAUSE_MS, ask_by_datagram);
	else
		fails(id, -ETIMEDOUT);
}

int answer_by_datagram(struct cm_id *id, uint32_t status, const struct rdma_ucm_conn_param *conn,
		       const struct rdma_ucm_ece *ece)
{
	struct rdma_ucm_ud_param ud = { 0 };
	struct cm_id *peer = id->peer;

	(void)ece;
	if (id->handshake != HANDSHAKE_REQUESTED || (conn && conn->private_data_len > DATAGRAM_ANSWER_DATA))
		return -EINVAL;
	id->handshake = HANDSHAKE_OVER;
	if (!peer)
		return 0;
	peer->peer = id->peer = NULL;
	peer->handshake = HANDSHAKE_OVER;
	ud.private_data_len = DATAGRAM_ANSWER_DATA;
	if (conn)
		memcpy(ud.private_data, conn->private_data, conn->private_data_len);
	if (status != STATUS_SUCCESS) {
		cm_tell_datagram(peer, CM_UNREACHABLE, (int)status, &ud);
		return 0;
	}
	fill_ah_attr(peer, peer->dgid, &ud.ah_attr);
	ud.qp_num = conn->qp_num;
	ud.qkey = conn->qkey ? conn->qkey : CM_QKEY;
	cm_tell_datagram(peer, CM_ESTABLISHED, 0, &ud);
	return 0;
}
