/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Enhanced connections: rdma_set_local_ece and rdma_get_remote_ece. Soft RoCE's queue pairs have no such options. */
#include "connection.h"

#include <unistd.h>

enum { VENDOR = 0x15b3, ASKED = 0x15, ANSWERED = 0x11 };

static uint32_t invented_number(void)
{
	static uint32_t count;

	return 0xc00000 | ((uint32_t)getpid() << 8 & 0x3fff00) | (count++ & 0xff);
}

/* What both sides say arrives at the other. */
static void both_ways(void)
{
	struct rdma_conn_param param = { .qp_num = invented_number() };
	struct ibv_ece ece = { .vendor_id = VENDOR, .options = ASKED };
	struct connection connection = { 0 };

	prepare(&connection);
	rdma_destroy_qp(connection.client);
	check_ok(rdma_set_local_ece(connection.client, &ece));
	request(&connection, &param);

	ece = (struct ibv_ece){ .comp_mask = 77 };
	check_ok(rdma_get_remote_ece(connection.server, &ece));
	check(ece.vendor_id == VENDOR && ece.options == ASKED, "%#x %#x", ece.vendor_id, ece.options);
	check(ece.comp_mask == 0, "mask");

	/* The answer's vendor is the request's. */
	ece = (struct ibv_ece){ .vendor_id = VENDOR, .options = ANSWERED };
	check_ok(rdma_set_local_ece(connection.server, &ece));
	param.qp_num = invented_number();
	check_ok(rdma_accept(connection.server, &param));
	pass_event(connection.client_channel, RDMA_CM_EVENT_CONNECT_RESPONSE, connection.client);
	check_ok(rdma_get_remote_ece(connection.client, &ece));
	check(ece.vendor_id == VENDOR && ece.options == ANSWERED, "%#x %#x", ece.vendor_id, ece.options);
	check_ok(rdma_establish(connection.client));
	pass_event(connection.server_channel, RDMA_CM_EVENT_ESTABLISHED, connection.server);
	disconnect(&connection);
	dismantle(&connection);
}

static void nothing_said(void)
{
	struct rdma_conn_param param = { .qp_num = invented_number() };
	struct ibv_ece ece = { .vendor_id = 1, .options = 2, .comp_mask = 3 };
	struct connection connection = { 0 };

	prepare(&connection);
	if (!ibv_query_ece(connection.client->qp, &ece) && ece.options)
		skip_test("queue pairs of this device say something themselves");
	rdma_destroy_qp(connection.client);
	check_ok(rdma_get_remote_ece(connection.client, &ece));
	check(!ece.vendor_id && !ece.options && !ece.comp_mask, "%#x %#x", ece.vendor_id, ece.options);
	request(&connection, &param);
	ece.vendor_id = 1;
	check_ok(rdma_get_remote_ece(connection.server, &ece));
	check(!ece.vendor_id && !ece.options, "%#x %#x", ece.vendor_id, ece.options);
	dismantle(&connection);
}

/* A queue pair of the library has no options here, and connects with a peer that has some. */
static void library_queue_pair_of_the_server(void)
{
	struct rdma_conn_param param = { .qp_num = invented_number() };
	struct ibv_ece ece = { .vendor_id = VENDOR, .options = ASKED };
	struct connection connection = { 0 };

	prepare(&connection);
	rdma_destroy_qp(connection.client);
	check_ok(rdma_set_local_ece(connection.client, &ece));
	request(&connection, &param);
	create_qp(connection.server);
	check_ok(rdma_accept(connection.server, NULL));
	pass_event(connection.client_channel, RDMA_CM_EVENT_CONNECT_RESPONSE, connection.client);
	check_ok(rdma_get_remote_ece(connection.client, &ece));
	observe("vendor %#x options %#x", ece.vendor_id, ece.options);
	dismantle(&connection);
}

static void reserved_for_programs_queue_pairs(void)
{
	struct ibv_ece ece = { .vendor_id = VENDOR, .options = ASKED };
	struct connection connection = { 0 };

	prepare(&connection);
	check_fails(rdma_set_local_ece(connection.client, &ece), EINVAL);
	check_fails(rdma_get_remote_ece(connection.client, &ece), EINVAL);
	check(ece.vendor_id == VENDOR && ece.options == ASKED, "written to");
	dismantle(&connection);
}

static void wrong_arguments(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_id(channel);
	struct ibv_ece good = { .vendor_id = VENDOR };
	struct ibv_ece no_vendor = { .options = ASKED };
	struct ibv_ece masked = { .vendor_id = VENDOR, .comp_mask = 1 };

	check_fails(rdma_set_local_ece(id, &no_vendor), EINVAL);
	check_fails(rdma_set_local_ece(id, &masked), EINVAL);
	check_fails(rdma_set_local_ece(id, NULL), EINVAL);
	check_fails(rdma_set_local_ece(NULL, &good), EINVAL);
	check_fails(rdma_get_remote_ece(id, NULL), EINVAL);
	check_fails(rdma_get_remote_ece(NULL, &good), EINVAL);
	check_ok(rdma_set_local_ece(id, &good));
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(both_ways, .needs = "own-queue-pairs"),
		TEST(nothing_said, .needs = "own-queue-pairs"),
		TEST(library_queue_pair_of_the_server, .needs = "own-queue-pairs"),
		TEST(reserved_for_programs_queue_pairs),
		TEST(wrong_arguments),
	};

	return RUN_TESTS(tests, argc, argv);
}
