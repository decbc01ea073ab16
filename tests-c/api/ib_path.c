/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Paths of InfiniBand: those of the subnet administrator, one of its refusals, and the application's own. */
#include "../script.h"
#include "subnet.h"

#include <arpa/inet.h>
#include <string.h>

enum { PORT = 7471, DELAY_MS = 300 };

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;

/* Its address is resolved. */
static void open_both(void)
{
	need_subnet();
	script("sa forget");
	open_pair(&channel, &id);
	check_ok(rdma_resolve_addr(id, NULL, ib_address(&south, PORT), 2000));
	check(!pass_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED, id), "address");
}

static void close_both(void)
{
	close_pair(channel, id);
}

static void observe_paths(const struct rdma_cm_id *of)
{
	for (int i = 0; i < of->route.num_paths; i++) {
		const struct ibv_sa_path_rec *path = &of->route.path_rec[i];

		observe("path %d: lids %#x %#x pkey %#x sl %d mtu %d rate %d life %d hops %d class %d flow %u preference %d "
			"reversible %d number %d selectors %d %d %d", i, ntohs(path->slid), ntohs(path->dlid),
			ntohs(path->pkey), path->sl, path->mtu, path->rate, path->packet_life_time, path->hop_limit,
			path->traffic_class, ntohl(path->flow_label), path->preference, path->reversible, path->numb_path,
			path->mtu_selector, path->rate_selector, path->packet_life_time_selector);
	}
}

static void resolve_route(int paths)
{
	check_ok(rdma_resolve_route(id, 2000));
	check(!pass_event(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, id), "route");
	check(id->route.num_paths == paths, "%d paths", id->route.num_paths);
}

static void one_path(void)
{
	struct ib_addr here = gid_of(&north), there = gid_of(&south);

	open_both();
	resolve_route(1);
	check(!memcmp(&id->route.path_rec->sgid, &here, sizeof(here)), "sgid");
	check(!memcmp(&id->route.path_rec->dgid, &there, sizeof(there)), "dgid");
	observe_paths(id);
	close_both();
}

static void path_with_every_field(void)
{
	open_both();
	script("sa path %s dlid 0x21 slid 0x12 pkey 0x8001 sl 5 mtu 3 rate 7 life 11 hops 9 class 17 flow 0x54321",
	       south.gid);
	resolve_route(1);
	observe_paths(id);
	close_both();
}

static void alternate_path(void)
{
	open_both();
	script("sa path %s dlid 0x21 sl 1", south.gid);
	script("sa path %s dlid 0x22 sl 2", south.gid);
	resolve_route(2);
	check(id->route.path_rec[0].dlid == htons(0x21) && id->route.path_rec[1].dlid == htons(0x22), "order");
	observe_paths(id);
	close_both();
}

/* The paths of the last time are gone. */
static void other_paths_the_next_time(void)
{
	open_both();
	script("sa path %s dlid 0x21", south.gid);
	script("sa path %s dlid 0x22", south.gid);
	resolve_route(2);
	check_ok(rdma_destroy_id(id));
	id = open_id(channel);
	script("sa forget");
	resolve_to(id, ib_address(&south, PORT));
	check(id->route.num_paths == 1, "%d paths", id->route.num_paths);
	close_both();
}

static void connection_with_an_alternate_path(void)
{
	struct connection connection = { 0 };

	need_subnet();
	script("sa forget");
	script("sa path %s sl 1", north.gid);
	script("sa path %s sl 2", north.gid);
	prepare_at(&connection, ib_address(&north, PORT), ib_address(&north, PORT));
	check(connection.client->route.num_paths == 2, "%d paths", connection.client->route.num_paths);
	request(&connection, NULL);
	observe_paths(connection.server);
	establish(&connection);
	send_message(&connection);
	check_ok(rdma_notify(connection.client, IBV_EVENT_PATH_MIG));
	check_ok(rdma_notify(connection.server, IBV_EVENT_PATH_MIG));
	send_message(&connection);
	disconnect(&connection);
	dismantle(&connection);
}

static void refused_path(void)
{
	int status;

	open_both();
	script("sa path %s fail EHOSTUNREACH", south.gid);
	check_ok(rdma_resolve_route(id, 2000));
	status = pass_event(channel, RDMA_CM_EVENT_ROUTE_ERROR, id);
	check(status == -EHOSTUNREACH, "status %d", status);
	check(!id->route.num_paths, "%d paths", id->route.num_paths);
	script("sa forget");
	resolve_route(1);
	close_both();
}

static void refused_path_of_one_that_waits(void)
{
	open_both();
	close_both();
	id = open_waiting(RDMA_PS_TCP);
	check_ok(rdma_resolve_addr(id, NULL, ib_address(&south, PORT), 2000));
	script("sa path any fail EHOSTUNREACH");
	check_fails(rdma_resolve_route(id, 2000), EHOSTUNREACH);
	check_answer(id, RDMA_CM_EVENT_ROUTE_ERROR);
	script("sa forget");
	check_ok(rdma_resolve_route(id, 2000));
	close_waiting(id);
}

static void administrator_that_takes_its_time(void)
{
	uint64_t start;

	open_both();
	script("sa delay %d", DELAY_MS);
	start = now_ms();
	resolve_route(1);
	check(now_ms() - start >= DELAY_MS, "after %d ms", (int)(now_ms() - start));
	close_both();
}

static void administrator_that_takes_too_long(void)
{
	int status;

	open_both();
	script("sa delay 100000");
	check_ok(rdma_resolve_route(id, 50));
	status = pass_event(channel, RDMA_CM_EVENT_ROUTE_ERROR, id);
	check(status == -ETIMEDOUT, "status %d", status);
	script("sa forget");
	resolve_route(1);
	close_both();
}

static void destroyed_before_the_answer(void)
{
	open_both();
	script("sa delay 100000");
	check_ok(rdma_resolve_route(id, 2000));
	close_both();
	script("sa forget");
}

/* What rdma_set_option wants, as the administrator would say it. */
static struct ibv_path_data path_data(const struct ibv_sa_path_rec *path, uint32_t flags, uint8_t sl)
{
	struct ibv_path_data data = { .flags = flags };

	memcpy(data.path.dgid.raw, &path->dgid, sizeof(data.path.dgid.raw));
	memcpy(data.path.sgid.raw, &path->sgid, sizeof(data.path.sgid.raw));
	data.path.dlid = path->dlid;
	data.path.slid = path->slid;
	data.path.pkey = path->pkey;
	data.path.qosclass_sl = htons(sl);
	data.path.reversible_numpath = 0x81;
	data.path.mtu = 2 << 6 | path->mtu;
	data.path.rate = 2 << 6 | path->rate;
	data.path.packetlifetime = 2 << 6 | path->packet_life_time;
	return data;
}

enum { USUAL = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL };

/* A connection over paths of the application, which it learnt from another id. */
static void connected_over(uint32_t first_flags, uint32_t second_flags, int sl)
{
	struct connection connection = { 0 };
	struct ibv_path_data paths[2];
	struct rdma_cm_id *client;

	need_subnet();
	script("sa forget");
	prepare_at(&connection, ib_address(&north, PORT), ib_address(&north, PORT));
	paths[0] = path_data(connection.client->route.path_rec, first_flags, 3);
	paths[1] = path_data(connection.client->route.path_rec, second_flags, 4);
	rdma_destroy_qp(connection.client);
	check_ok(rdma_destroy_id(connection.client));
	/* Nobody is asked. */
	script("sa path any fail EIO");
	client = connection.client = open_id(connection.client_channel);
	check_ok(rdma_resolve_addr(client, NULL, ib_address(&north, PORT), 2000));
	check(!pass_event(client->channel, RDMA_CM_EVENT_ADDR_RESOLVED, client), "address");
	check_ok(rdma_set_option(client, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, paths, sizeof(paths)));
	check(!pass_event(client->channel, RDMA_CM_EVENT_ROUTE_RESOLVED, client), "route");
	check(client->route.num_paths == 1, "%d paths", client->route.num_paths);
	check(client->route.path_rec->sl == sl, "sl %d", client->route.path_rec->sl);
	observe_paths(client);
	script("sa forget");
	create_qp(client);
	establish(&connection);
	send_message(&connection);
	disconnect(&connection);
	dismantle(&connection);
}

static void own_path(void)
{
	connected_over(USUAL, IBV_PATH_FLAG_ALTERNATE, 3);
}

static void own_path_behind_an_alternate_one(void)
{
	connected_over(IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_ALTERNATE | IBV_PATH_FLAG_BIDIRECTIONAL, USUAL, 4);
}

static void own_paths_of_no_use(void)
{
	struct ibv_path_data paths[2] = {
		{ .flags = IBV_PATH_FLAG_ALTERNATE }, { .flags = IBV_PATH_FLAG_OUTBOUND | IBV_PATH_FLAG_PRIMARY },
	};

	open_both();
	check_fails(rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, paths, sizeof(paths)), EINVAL);
	check(!id->route.num_paths, "%d paths", id->route.num_paths);
	resolve_route(1);
	check_fails(rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, paths, sizeof(paths)), EINVAL);
	close_both();
}

/* An endpoint whose addresses bring a route along. */
static void endpoint_with_a_route(void)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct ibv_path_data path;
	struct rdma_addrinfo with_route = { .ai_family = AF_IB, .ai_qp_type = IBV_QPT_RC, .ai_port_space = RDMA_PS_TCP };
	struct rdma_cm_id *endpoint;

	open_both();
	resolve_route(1);
	path = path_data(id->route.path_rec, USUAL, 6);
	close_both();
	script("sa path any fail EIO");
	with_route.ai_dst_addr = ib_address(&south, PORT);
	with_route.ai_dst_len = sizeof(struct sockaddr_ib);
	with_route.ai_route = &path;
	with_route.ai_route_len = sizeof(path);
	check_ok(rdma_create_ep(&endpoint, &with_route, NULL, &attr));
	check(endpoint->route.num_paths == 1 && endpoint->route.path_rec->sl == 6, "path");
	rdma_destroy_ep(endpoint);
	script("sa forget");
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(one_path),
		TEST(path_with_every_field),
		TEST(alternate_path),
		TEST(other_paths_the_next_time),
		TEST(connection_with_an_alternate_path),
		TEST(refused_path),
		TEST(refused_path_of_one_that_waits),
		TEST(administrator_that_takes_its_time),
		TEST(administrator_that_takes_too_long),
		TEST(destroyed_before_the_answer),
		TEST(own_path),
		TEST(own_path_behind_an_alternate_one),
		TEST(own_paths_of_no_use),
		TEST(endpoint_with_a_route),
	};

	return RUN_TESTS(tests, argc, argv);
}
