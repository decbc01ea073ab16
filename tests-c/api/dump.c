/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every public field of the ids and of the events at each step of a connection, for the comparison of two libraries. Of
 * pointers it says whether they are there, of numbers that are new each time (ports, queue pairs) whether they are
 * right. Left out is what on Ethernet holds bytes of hardware addresses: the lids, and the flow label.
 */
#include "connection.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static struct connection connection;
/* What each line begins with. */
static const char *step;

static const char *gid_text(const union ibv_gid *gid)
{
	static char texts[2][INET6_ADDRSTRLEN];
	static unsigned int turn;

	return inet_ntop(AF_INET6, gid->raw, texts[turn++ % 2], INET6_ADDRSTRLEN);
}

static const char *hex(const void *data, size_t length)
{
	static char text[2 * sizeof(struct sockaddr_in6) + 1];
	const uint8_t *bytes = data;

	*text = '\0';
	for (size_t i = 0; i < length; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return text;
}

/* The port is at the same place in both families. */
static void dump_address(const char *name, const struct sockaddr_storage *storage)
{
	struct sockaddr_storage copy = *storage;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&copy;
	const uint8_t *bytes = (const uint8_t *)&copy;
	bool rest = false, listens = connection.listener && in6->sin6_port == rdma_get_src_port(connection.listener);
	const char *port = !in6->sin6_port ? "none" : listens ? "the listener's" : "another";

	in6->sin6_port = 0;
	for (size_t i = sizeof(*in6); i < sizeof(copy); i++)
		rest |= bytes[i] != 0;
	observe("%s: %s %s port %s rest %d", step, name, hex(bytes, sizeof(*in6)), port, rest);
}

static void dump_path(const struct ibv_sa_path_rec *path)
{
	observe("%s: path gids %s %s raw %d hops %d class %d reversible %d number %d", step, gid_text(&path->dgid),
		gid_text(&path->sgid), path->raw_traffic, path->hop_limit, path->traffic_class, path->reversible,
		path->numb_path);
	observe("%s: path pkey %#x sl %d mtu %d %d rate %d %d life %d %d preference %d", step, ntohs(path->pkey), path->sl,
		path->mtu_selector, path->mtu, path->rate_selector, path->rate, path->packet_life_time_selector,
		path->packet_life_time, path->preference);
}

static void dump_id(const struct rdma_cm_id *id)
{
	const struct rdma_route *route = &id->route;
	const char *channel = id->channel == connection.server_channel   ? "server's"
			      : id->channel == connection.client_channel ? "client's"
									 : "another";

	observe("%s: device %s channel %s context %d space %#x type %d port %d event %d", step,
		id->verbs ? ibv_get_device_name(id->verbs->device) : "none", channel, id->context == &connection,
		(unsigned int)id->ps, (int)id->qp_type, id->port_num, !!id->event);
	observe("%s: qp %d pd %d srq %d cqs %d %d channels %d %d paths %d", step, !!id->qp, !!id->pd, !!id->srq,
		!!id->send_cq, !!id->recv_cq, !!id->send_cq_channel, !!id->recv_cq_channel, route->num_paths);
	dump_address("source", &route->addr.src_storage);
	dump_address("destination", &route->addr.dst_storage);
	observe("%s: gids %s %s pkey %#x", step, gid_text(&route->addr.addr.ibaddr.sgid),
		gid_text(&route->addr.addr.ibaddr.dgid), ntohs(route->addr.addr.ibaddr.pkey));
	check(!route->num_paths == !route->path_rec, "path_rec");
	for (int i = 0; i < route->num_paths; i++)
		dump_path(&route->path_rec[i]);
}

static const char *name_of(const struct rdma_cm_id *id)
{
	return !id		       ? "none"
	       : id == connection.listener ? "listener"
	       : id == connection.client   ? "client"
	       : id == connection.server   ? "server"
					   : "new";
}

static const char *number_of(uint32_t number)
{
	return !number ? "none"
	       : connection.client && connection.client->qp && number == connection.client->qp->qp_num ? "the client's"
	       : connection.server && connection.server->qp && number == connection.server->qp->qp_num ? "the server's"
												       : "another";
}

static void dump_data(const void *data, uint8_t length)
{
	const uint8_t *bytes = data;
	unsigned int used = length;

	while (used && !bytes[used - 1])
		used--;
	observe("%s: data %d bytes %d, of which not zero %u: %s", step, !!data, length, used,
		hex(data, used < 16 ? used : 16));
}

static void dump_datagram(const struct rdma_ud_param *param)
{
	const struct ibv_ah_attr *ah = &param->ah_attr;

	dump_data(param->private_data, param->private_data_len);
	observe("%s: number %s qkey %#x", step, number_of(param->qp_num), param->qkey);
	observe("%s: gid %s index %d hops %d class %d sl %d bits %d rate %d global %d port %d", step,
		gid_text(&ah->grh.dgid), ah->grh.sgid_index, ah->grh.hop_limit, ah->grh.traffic_class, ah->sl,
		ah->src_path_bits, ah->static_rate, ah->is_global, ah->port_num);
}

static void dump_connection(const struct rdma_conn_param *param)
{
	dump_data(param->private_data, param->private_data_len);
	observe("%s: resources %d depth %d flow %d retry %d rnr %d srq %d number %s", step, param->responder_resources,
		param->initiator_depth, param->flow_control, param->retry_count, param->rnr_retry_count, param->srq,
		number_of(param->qp_num));
}

/* The next event of the channel, and its id as it is then. */
static struct rdma_cm_id *dump_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = next_event(channel, type, NULL);
	struct rdma_cm_id *id = event->id;

	step = rdma_event_str(event->event) + strlen("RDMA_CM_EVENT_");
	observe("%s: status %d id %s listener %s", step, event->status, name_of(id), name_of(event->listen_id));
	if (id->ps == RDMA_PS_UDP)
		dump_datagram(&event->param.ud);
	else
		dump_connection(&event->param.conn);
	dump_id(id);
	check_ok(rdma_ack_cm_event(event));
	return id;
}

static void dump_at(const char *when, const struct rdma_cm_id *id)
{
	step = when;
	dump_id(id);
}

static void dump_preparations(int family, enum rdma_port_space space)
{
	connection.server_channel = open_channel();
	connection.client_channel = open_channel();
	check_ok(rdma_create_id(connection.server_channel, &connection.listener, &connection, space));
	dump_at("created", connection.listener);
	check_ok(rdma_bind_addr(connection.listener, device_address(family, 0)));
	dump_at("bound", connection.listener);
	check_ok(rdma_listen(connection.listener, 4));
	dump_at("listening", connection.listener);
	check_ok(rdma_create_id(connection.client_channel, &connection.client, &connection, space));
	check_ok(rdma_resolve_addr(connection.client, NULL, device_address(family, port_of(connection.listener)), 2000));
	dump_event(connection.client_channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	check_ok(rdma_resolve_route(connection.client, 2000));
	dump_event(connection.client_channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	create_qp(connection.client);
	dump_at("with a queue pair", connection.client);
}

static void dump_request(void)
{
	struct rdma_conn_param param = {
		.private_data = "question",
		.private_data_len = 8,
		.responder_resources = 3,
		.initiator_depth = 4,
		.retry_count = 5,
		.rnr_retry_count = 6,
	};

	check_ok(rdma_connect(connection.client, &param));
	dump_at("connecting", connection.client);
	connection.server = dump_event(connection.server_channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	create_qp(connection.server);
	dump_at("server with a queue pair", connection.server);
	param.private_data = "answer";
	param.private_data_len = 6;
	check_ok(rdma_accept(connection.server, &param));
	dump_at("accepted", connection.server);
	dump_event(connection.client_channel, RDMA_CM_EVENT_ESTABLISHED);
}

static void connected(int family)
{
	dump_preparations(family, RDMA_PS_TCP);
	dump_request();
	dump_event(connection.server_channel, RDMA_CM_EVENT_ESTABLISHED);
	check_ok(rdma_disconnect(connection.client));
	dump_at("disconnecting", connection.client);
	dump_event(connection.server_channel, RDMA_CM_EVENT_DISCONNECTED);
	check_ok(rdma_disconnect(connection.server));
	dump_event(connection.client_channel, RDMA_CM_EVENT_DISCONNECTED);
	dismantle(&connection);
}

static void datagrams(int family)
{
	dump_preparations(family, RDMA_PS_UDP);
	dump_request();
	dismantle(&connection);
}

static void connected_over_ipv4(void)
{
	connected(AF_INET);
}

static void connected_over_ipv6(void)
{
	connected(AF_INET6);
}

static void datagrams_over_ipv4(void)
{
	datagrams(AF_INET);
}

static void datagrams_over_ipv6(void)
{
	datagrams(AF_INET6);
}

static void rejected(void)
{
	dump_preparations(AF_INET, RDMA_PS_TCP);
	check_ok(rdma_connect(connection.client, NULL));
	connection.server = dump_event(connection.server_channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	check_ok(rdma_reject(connection.server, "reason", 6));
	dump_at("rejecting", connection.server);
	dump_event(connection.client_channel, RDMA_CM_EVENT_REJECTED);
	dismantle(&connection);
}

static void datagram_rejected(void)
{
	dump_preparations(AF_INET, RDMA_PS_UDP);
	check_ok(rdma_connect(connection.client, NULL));
	connection.server = dump_event(connection.server_channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	check_ok(rdma_reject(connection.server, "reason", 6));
	dump_event(connection.client_channel, RDMA_CM_EVENT_UNREACHABLE);
	dismantle(&connection);
}

static void joined(void)
{
	connection.client_channel = open_channel();
	check_ok(rdma_create_id(connection.client_channel, &connection.client, &connection, RDMA_PS_UDP));
	check_ok(rdma_bind_addr(connection.client, device_address(AF_INET, 0)));
	create_qp(connection.client);
	check_ok(rdma_join_multicast(connection.client, group_address("239.99.1.7"), NULL));
	dump_event(connection.client_channel, RDMA_CM_EVENT_MULTICAST_JOIN);
	check_ok(rdma_leave_multicast(connection.client, group_address("239.99.1.7")));
	dump_at("left", connection.client);
	connection.server_channel = open_channel();
	dismantle(&connection);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(connected_over_ipv4),
		TEST(connected_over_ipv6),
		TEST(datagrams_over_ipv4, .needs = "datagrams"),
		TEST(datagrams_over_ipv6, .needs = "datagrams"),
		TEST(rejected),
		TEST(datagram_rejected, .needs = "datagrams"),
		TEST(joined, .needs = "multicast"),
	};

	return RUN_TESTS(tests, argc, argv);
}
