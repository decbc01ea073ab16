/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "subnet.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

const struct port north = { "north", "ib-north", "fe80::200:9900:0:1", "10.99.0.1", "fd00:99::1" };
const struct port south = { "south", "ib-south", "fe80::200:9900:0:2", "10.99.0.2", "fd00:99::2" };

void need_subnet(void)
{
	if (!getenv("RDMACM_SIM"))
		skip_test("needs the simulator");
}

pid_t start_process_at(const struct port *port, void (*run)(void))
{
	pid_t child;

	/* A process is where it began. */
	check_ok(setenv("RDMACM_SIM_HOST", port->host, 1));
	child = start_process(run);
	check_ok(unsetenv("RDMACM_SIM_HOST"));
	return child;
}

struct ib_addr gid_of(const struct port *port)
{
	struct ib_addr gid;

	check(inet_pton(AF_INET6, port->gid, &gid) == 1, "GID %s", port->gid);
	return gid;
}

struct sockaddr *ib_address_in(const struct port *port, uint16_t number, uint16_t pkey)
{
	static struct sockaddr_ib buffers[2];
	static unsigned int turn;
	struct sockaddr_ib *ib = &buffers[turn++ % 2];

	*ib = (struct sockaddr_ib){
		.sib_family = AF_IB,
		.sib_pkey = htons(pkey),
		.sib_sid = htobe64(RDMA_IB_IP_PS_TCP | number),
		.sib_sid_mask = htobe64(RDMA_IB_IP_PS_MASK | (number ? RDMA_IB_IP_PORT_MASK : 0)),
	};
	if (port)
		ib->sib_addr = gid_of(port);
	return (struct sockaddr *)ib;
}

struct sockaddr *ib_address(const struct port *port, uint16_t number)
{
	return ib_address_in(port, number, 0xffff);
}

void resolve_to(struct rdma_cm_id *id, struct sockaddr *there)
{
	check_ok(rdma_resolve_addr(id, NULL, there, 2000));
	check(!pass_event(id->channel, RDMA_CM_EVENT_ADDR_RESOLVED, id), "address");
	check_ok(rdma_resolve_route(id, 2000));
	check(!pass_event(id->channel, RDMA_CM_EVENT_ROUTE_RESOLVED, id), "route");
}

void prepare_at(struct connection *connection, struct sockaddr *here, struct sockaddr *there)
{
	connection->server_channel = open_channel();
	connection->client_channel = open_channel();
	connection->listener = open_id(connection->server_channel);
	check_ok(rdma_bind_addr(connection->listener, here));
	check_ok(rdma_listen(connection->listener, 0));
	connection->client = open_id(connection->client_channel);
	resolve_to(connection->client, there);
	create_qp(connection->client);
}

void send_message(struct connection *connection)
{
	static char here[32] = "a message", there[32];
	struct ibv_mr *sender = rdma_reg_msgs(connection->client, here, sizeof(here));
	struct ibv_mr *receiver = rdma_reg_msgs(connection->server, there, sizeof(there));
	struct ibv_wc completion;

	check(sender && receiver, "rdma_reg_msgs: %m");
	memset(there, 0, sizeof(there));
	check_ok(rdma_post_recv(connection->server, NULL, there, sizeof(there), receiver));
	check_ok(rdma_post_send(connection->client, NULL, here, sizeof(here), sender, IBV_SEND_SIGNALED));
	check(rdma_get_send_comp(connection->client, &completion) == 1 && completion.status == IBV_WC_SUCCESS, "sending");
	check(rdma_get_recv_comp(connection->server, &completion) == 1 && completion.status == IBV_WC_SUCCESS, "receiving");
	check(!strcmp(here, there), "received '%s'", there);
	check_ok(rdma_dereg_mr(sender));
	check_ok(rdma_dereg_mr(receiver));
}
