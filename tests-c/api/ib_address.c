/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Connections by InfiniBand's own addresses: GIDs, service identifiers, partitions. */
#include "subnet.h"

#include <arpa/inet.h>
#include <string.h>

enum { PORT = 7471, REQUEST_DATA = 92 };

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;

static void open_both(enum rdma_port_space space)
{
	need_subnet();
	channel = open_channel();
	id = open_id_of(channel, space);
}

static void close_both(void)
{
	close_pair(channel, id);
}

static struct sockaddr_ib *ib(struct sockaddr *address)
{
	check(address->sa_family == AF_IB, "family %d", address->sa_family);
	return (struct sockaddr_ib *)address;
}

static void check_gid(const struct ib_addr *gid, const struct port *port)
{
	struct ib_addr wanted = gid_of(port);

	check(!memcmp(gid, &wanted, sizeof(wanted)), "not the GID of %s", port->host);
}

static void observe_address(const char *what, struct sockaddr *address)
{
	const struct sockaddr_ib *is = ib(address);
	char gid[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, &is->sib_addr, gid, sizeof(gid));
	observe("%s: %s service %#llx/%#llx pkey %#x flow %u scope %llu", what, gid,
		(unsigned long long)be64toh(is->sib_sid), (unsigned long long)be64toh(is->sib_sid_mask),
		ntohs(is->sib_pkey), ntohl(is->sib_flowinfo), (unsigned long long)is->sib_scope_id);
}

static struct rdma_addrinfo *find(const struct port *port, const char *service, int flags)
{
	struct rdma_addrinfo hints = {
		.ai_flags = flags | RAI_FAMILY | RAI_NUMERICHOST, .ai_family = AF_IB, .ai_port_space = RDMA_PS_TCP,
	};
	struct rdma_addrinfo *list = NULL;

	check_ok(rdma_getaddrinfo(port->gid, service, &hints, &list));
	check(list && list->ai_family == AF_IB && list->ai_port_space == RDMA_PS_TCP, "entry");
	return list;
}

static void found_by_name(void)
{
	struct rdma_addrinfo *list;

	need_subnet();
	list = find(&south, "7471", 0);
	check(list->ai_dst_len == sizeof(struct sockaddr_ib) && !list->ai_src_addr, "destination");
	check_gid(&ib(list->ai_dst_addr)->sib_addr, &south);
	observe_address("destination", list->ai_dst_addr);
	rdma_freeaddrinfo(list);
	list = find(&north, "7471", RAI_PASSIVE);
	check(list->ai_src_len == sizeof(struct sockaddr_ib) && !list->ai_dst_addr, "source");
	observe_address("source", list->ai_src_addr);
	rdma_freeaddrinfo(list);
}

static void bound(void)
{
	open_both(RDMA_PS_TCP);
	check_ok(rdma_bind_addr(id, ib_address(&north, PORT)));
	check(id->verbs && !strcmp(ibv_get_device_name(id->verbs->device), north.device) && id->port_num == 1, "device");
	check_gid((struct ib_addr *)&id->route.addr.addr.ibaddr.sgid, &north);
	check(ntohs(id->route.addr.addr.ibaddr.pkey) == 0xffff, "pkey");
	check(ntohs(rdma_get_src_port(id)) == PORT, "port %d", ntohs(rdma_get_src_port(id)));
	observe_address("local", rdma_get_local_addr(id));
	close_both();
}

static void bound_to_any_port_number(void)
{
	open_both(RDMA_PS_TCP);
	check_ok(rdma_bind_addr(id, ib_address(&north, 0)));
	check(rdma_get_src_port(id), "no port");
	close_both();
}

static void bound_to_another_partition(void)
{
	open_both(RDMA_PS_TCP);
	check_ok(rdma_bind_addr(id, ib_address_in(&north, PORT, PARTITION)));
	check(ntohs(id->route.addr.addr.ibaddr.pkey) == PARTITION, "pkey");
	close_both();
}

static void bound_to_a_gid_of_another_host(void)
{
	open_both(RDMA_PS_TCP);
	check_fails(rdma_bind_addr(id, ib_address(&south, PORT)), ENODEV);
	check(!id->verbs, "device");
	check_ok(rdma_bind_addr(id, ib_address(&north, PORT)));
	close_both();
}

static void taken_service(void)
{
	struct rdma_cm_id *other;

	open_both(RDMA_PS_TCP);
	check_ok(rdma_bind_addr(id, ib_address(&north, PORT)));
	other = open_id(channel);
	check_fails(rdma_bind_addr(other, ib_address(&north, PORT)), EADDRINUSE);
	check_ok(rdma_bind_addr(other, ib_address(&north, PORT + 1)));
	check_ok(rdma_destroy_id(other));
	close_both();
}

static void service_of_another_space(void)
{
	open_both(RDMA_PS_UDP);
	check(rdma_bind_addr(id, ib_address(&north, PORT)) == -1, "success");
	observe("errno %s", errno_name(errno));
	close_both();
}

static void connected(struct sockaddr *here, struct sockaddr *there, uint16_t pkey)
{
	struct connection connection = { 0 };
	unsigned char data[REQUEST_DATA];
	struct rdma_conn_param param = { .private_data = data, .private_data_len = sizeof(data) };
	struct rdma_cm_event *event;

	memset(data, 0x5a, sizeof(data));
	prepare_at(&connection, here, there);
	check(connection.client->route.num_paths == 1, "%d paths", connection.client->route.num_paths);
	check(ntohs(connection.client->route.path_rec->pkey) == pkey, "pkey of the path");
	check_gid(&ib(rdma_get_local_addr(connection.client))->sib_addr, &north);
	observe_address("client there", rdma_get_peer_addr(connection.client));
	check_ok(rdma_connect(connection.client, &param));
	event = next_event(connection.server_channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL);
	/* No address of IP takes a part of it. */
	check(event->param.conn.private_data_len == REQUEST_DATA, "%d bytes", event->param.conn.private_data_len);
	check(!memcmp(event->param.conn.private_data, data, sizeof(data)), "data");
	connection.server = event->id;
	check_ok(rdma_ack_cm_event(event));
	check(connection.server->verbs && ntohs(connection.server->route.addr.addr.ibaddr.pkey) == pkey, "server's pkey");
	check_gid((struct ib_addr *)&connection.server->route.addr.addr.ibaddr.dgid, &north);
	observe_address("server here", rdma_get_local_addr(connection.server));
	observe_address("server there", rdma_get_peer_addr(connection.server));
	create_qp(connection.server);
	establish(&connection);
	send_message(&connection);
	disconnect(&connection);
	dismantle(&connection);
}

static void connected_by_gid(void)
{
	need_subnet();
	connected(ib_address(&north, PORT), ib_address(&north, PORT), 0xffff);
}

static void connected_to_a_listener_at_any_gid(void)
{
	need_subnet();
	connected(ib_address(NULL, PORT), ib_address(&north, PORT), 0xffff);
}

static void connected_in_another_partition(void)
{
	need_subnet();
	connected(ib_address(NULL, PORT), ib_address_in(&north, PORT, PARTITION), PARTITION);
}

static void connected_by_name(void)
{
	struct rdma_addrinfo *here, *there;

	need_subnet();
	here = find(&north, "7471", RAI_PASSIVE);
	there = find(&north, "7471", 0);
	connected(here->ai_src_addr, there->ai_dst_addr, 0xffff);
	rdma_freeaddrinfo(here);
	rdma_freeaddrinfo(there);
}

static void client_that_was_bound(void)
{
	struct connection connection = { 0 };

	need_subnet();
	connection.server_channel = open_channel();
	connection.client_channel = open_channel();
	connection.listener = open_id(connection.server_channel);
	check_ok(rdma_bind_addr(connection.listener, ib_address(&north, PORT)));
	check_ok(rdma_listen(connection.listener, 0));
	connection.client = open_id(connection.client_channel);
	check_ok(rdma_bind_addr(connection.client, ib_address(&north, PORT + 1)));
	resolve_to(connection.client, ib_address(&north, PORT));
	create_qp(connection.client);
	establish(&connection);
	send_message(&connection);
	disconnect(&connection);
	dismantle(&connection);
}

static void partition_that_the_port_is_not_in(void)
{
	open_both(RDMA_PS_TCP);
	check_fails(rdma_resolve_addr(id, NULL, ib_address_in(&north, PORT, 0x8077), 2000), ENODEV);
	resolve_to(id, ib_address(&north, PORT));
	close_both();
}

static void nobody_listens(void)
{
	struct rdma_conn_param param = { 0 };
	int status;

	open_both(RDMA_PS_TCP);
	resolve_to(id, ib_address(&north, PORT));
	create_qp(id);
	check_ok(rdma_connect(id, &param));
	status = pass_event(channel, RDMA_CM_EVENT_REJECTED, id);
	check(status == 8, "status %d", status);
	rdma_destroy_qp(id);
	close_both();
}

/* A listener at an IP address is not reached by a GID. */
static void listener_at_an_ip_address(void)
{
	struct rdma_conn_param param = { 0 };
	struct rdma_cm_id *listener;

	open_both(RDMA_PS_TCP);
	listener = open_id(channel);
	check_ok(rdma_bind_addr(listener, device_address(AF_INET, PORT)));
	check_ok(rdma_listen(listener, 0));
	resolve_to(id, ib_address(&north, PORT));
	create_qp(id);
	check_ok(rdma_connect(id, &param));
	pass_event(channel, RDMA_CM_EVENT_REJECTED, id);
	rdma_destroy_qp(id);
	check_ok(rdma_destroy_id(listener));
	close_both();
}

static void *accept_one(void *arg)
{
	struct rdma_cm_id *server;

	check_ok(rdma_get_request(arg, &server));
	check_ok(rdma_accept(server, NULL));
	check_ok(rdma_disconnect(server));
	rdma_destroy_ep(server);
	return NULL;
}

static void endpoints(void)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC), server_attr = attr;
	struct rdma_addrinfo *here, *there;
	struct rdma_cm_id *listener, *client;
	pthread_t server;

	need_subnet();
	here = find(&north, "7471", RAI_PASSIVE);
	there = find(&north, "7471", 0);
	check_ok(rdma_create_ep(&listener, here, NULL, &server_attr));
	check_ok(rdma_listen(listener, 0));
	server = start_thread(accept_one, listener);
	check_ok(rdma_create_ep(&client, there, NULL, &attr));
	check_ok(rdma_connect(client, NULL));
	check_ok(rdma_disconnect(client));
	join_thread(server);
	rdma_destroy_ep(client);
	rdma_destroy_ep(listener);
	rdma_freeaddrinfo(here);
	rdma_freeaddrinfo(there);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(found_by_name),
		TEST(bound),
		TEST(bound_to_any_port_number),
		TEST(bound_to_another_partition),
		TEST(bound_to_a_gid_of_another_host),
		TEST(taken_service),
		TEST(service_of_another_space),
		TEST(connected_by_gid),
		TEST(connected_to_a_listener_at_any_gid),
		TEST(connected_in_another_partition),
		TEST(connected_by_name),
		TEST(client_that_was_bound),
		TEST(partition_that_the_port_is_not_in),
		TEST(nobody_listens),
		TEST(listener_at_an_ip_address),
		TEST(endpoints),
	};

	return RUN_TESTS(tests, argc, argv);
}
