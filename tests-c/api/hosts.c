/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "hosts.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

const struct host east = { "east", "/run/netns/east", "rxe-east", "10.88.0.1", "fd88::1" };
const struct host west = { "west", "/run/netns/west", "rxe-west", "10.88.0.2", "fd88::2" };

struct sockaddr *address(const char *text, uint16_t port)
{
	static struct sockaddr_in6 in6;
	struct sockaddr_in *in = (struct sockaddr_in *)&in6;

	memset(&in6, 0, sizeof(in6));
	if (strchr(text, ':')) {
		in6.sin6_family = AF_INET6;
		in6.sin6_port = htons(port);
		check(inet_pton(AF_INET6, text, &in6.sin6_addr) == 1, "address %s", text);
	} else {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		check(inet_pton(AF_INET, text, &in->sin_addr) == 1, "address %s", text);
	}
	return (struct sockaddr *)&in6;
}

struct rdma_cm_id *open_id_on(const struct host *host, struct rdma_event_channel *channel)
{
	int fd = open(host->namespace, O_RDONLY | O_CLOEXEC);

	check(fd >= 0, "%s: %m", host->namespace);
	check_ok(setns(fd, CLONE_NEWNET));
	close(fd);
	return open_id_of(channel, RDMA_PS_TCP);
}

struct rdma_cm_id *open_listener_on(const struct host *host, struct rdma_event_channel *channel, const char *where)
{
	struct rdma_cm_id *id = open_id_on(host, channel);

	check_ok(rdma_bind_addr(id, address(where, 0)));
	check_ok(rdma_listen(id, 0));
	return id;
}

struct rdma_cm_id *open_client_on(const struct host *host, struct rdma_event_channel *channel, const char *to,
				  uint16_t port)
{
	struct rdma_cm_id *id = open_id_on(host, channel);

	check_ok(rdma_resolve_addr(id, NULL, address(to, port), 2000));
	check(!pass_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED, id), "address");
	check(!strcmp(ibv_get_device_name(id->verbs->device), host->device), "on another device");
	check_ok(rdma_resolve_route(id, 2000));
	check(!pass_event(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, id), "route");
	return id;
}

void prepare_over(struct connection *connection, const char *to, uint16_t port)
{
	connection->server_channel = open_channel();
	connection->client_channel = open_channel();
	connection->listener = open_listener_on(&west, connection->server_channel, to);
	connection->client = open_client_on(&east, connection->client_channel, to,
					    port ? port : port_of(connection->listener));
	create_qp(connection->client);
}
