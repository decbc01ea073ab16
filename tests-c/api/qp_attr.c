/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rdma_init_qp_attr: what a queue pair of the program's own is to be given at each step. */
#include "connection.h"

#include <arpa/inet.h>
#include <string.h>

static const char *gid_text(const union ibv_gid *gid)
{
	static char text[INET6_ADDRSTRLEN];

	return inet_ntop(AF_INET6, gid->raw, text, sizeof(text));
}

/* Packet numbers and the peer's queue pair are random; lids are bytes of hardware addresses on Ethernet. */
static void observe_attr(const char *when, struct rdma_cm_id *id, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	const struct ibv_ah_attr *ah = &attr.ah_attr;
	int mask = 0;

	if (rdma_init_qp_attr(id, &attr, &mask)) {
		observe("%s %d: %s", when, (int)state, errno_name(errno));
		return;
	}
	observe("%s %d: mask %#x state %d pkey %d port %d access %#x mtu %d", when, (int)state, (unsigned int)mask,
		(int)attr.qp_state, attr.pkey_index, attr.port_num, attr.qp_access_flags, (int)attr.path_mtu);
	observe("%s %d: depth %d/%d timer %d timeout %d retry %d rnr %d qkey %#x alternative %d/%d", when, (int)state,
		attr.max_rd_atomic, attr.max_dest_rd_atomic, attr.min_rnr_timer, attr.timeout, attr.retry_cnt,
		attr.rnr_retry, attr.qkey, attr.alt_port_num, attr.alt_timeout);
	observe("%s %d: global %d gid %s index %d hops %d class %d sl %d bits %d rate %d port %d", when, (int)state,
		ah->is_global, gid_text(&ah->grh.dgid), ah->grh.sgid_index, ah->grh.hop_limit, ah->grh.traffic_class,
		ah->sl, ah->src_path_bits, ah->static_rate, ah->port_num);
}

static void observe_states(const char *when, struct rdma_cm_id *id)
{
	observe_attr(when, id, IBV_QPS_INIT);
	observe_attr(when, id, IBV_QPS_RTR);
	observe_attr(when, id, IBV_QPS_RTS);
}

static void at_each_step(void)
{
	struct connection connection = { 0 };

	prepare(&connection);
	observe_states("prepared", connection.client);
	request(&connection, NULL);
	observe_states("client that asks", connection.client);
	observe_states("server that is asked", connection.server);
	establish(&connection);
	observe_states("connected client", connection.client);
	observe_states("connected server", connection.server);
	disconnect(&connection);
	observe_states("disconnected", connection.client);
	dismantle(&connection);
}

static void of_the_peer(void)
{
	struct connection connection = { 0 };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	int mask;

	establish(&connection);
	check_ok(rdma_init_qp_attr(connection.client, &attr, &mask));
	check(mask & IBV_QP_DEST_QPN && attr.dest_qp_num == connection.server->qp->qp_num, "the server's number");
	attr.qp_state = IBV_QPS_RTR;
	check_ok(rdma_init_qp_attr(connection.server, &attr, &mask));
	check(mask & IBV_QP_DEST_QPN && attr.dest_qp_num == connection.client->qp->qp_num, "the client's number");
	dismantle(&connection);
}

static void bound_and_datagram_ids(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_bound_id(channel);

	observe_states("bound", id);
	check_ok(rdma_destroy_id(id));
	id = open_client(channel, RDMA_PS_UDP, 7499);
	observe_states("datagram", id);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void without_a_device(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_id(channel);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 77 };
	int mask = 4711;

	check_fails(rdma_init_qp_attr(id, &attr, &mask), EINVAL);
	check(mask == 4711 && attr.port_num == 77, "written to");
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void unknown_states(void)
{
	static const int states[] = { IBV_QPS_ERR + 1, IBV_QPS_UNKNOWN, -1, 4711 };
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_client(channel, RDMA_PS_TCP, 7499);
	struct ibv_qp_attr attr = { 0 };
	int mask;

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		attr.qp_state = (enum ibv_qp_state)states[i];
		check_fails(rdma_init_qp_attr(id, &attr, &mask), EINVAL);
	}
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void null_pointers(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_client(channel, RDMA_PS_TCP, 7499);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	int mask;

	check_fails(rdma_init_qp_attr(NULL, &attr, &mask), EINVAL);
	check_fails(rdma_init_qp_attr(id, NULL, &mask), EINVAL);
	check_fails(rdma_init_qp_attr(id, &attr, NULL), EINVAL);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(at_each_step),
		TEST(of_the_peer, .needs = "handshake"),
		TEST(bound_and_datagram_ids),
		TEST(without_a_device),
		TEST(unknown_states),
		TEST(null_pointers),
	};

	return RUN_TESTS(tests, argc, argv);
}
