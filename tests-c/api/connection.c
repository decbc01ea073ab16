/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "connection.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { EVENT_LIMIT_MS = 15000 };

struct sockaddr *device_address(int family, uint16_t port)
{
	static struct sockaddr_in6 buffers[2];
	static unsigned int turn;
	struct sockaddr_in6 *in6 = &buffers[turn++ % 2];
	struct sockaddr_in *in = (struct sockaddr_in *)in6;

	memset(in6, 0, sizeof(*in6));
	if (family == AF_INET6) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		check(inet_pton(AF_INET6, DEVICE_ADDRESS6, &in6->sin6_addr) == 1, "address");
	} else {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		check(inet_pton(AF_INET, DEVICE_ADDRESS, &in->sin_addr) == 1, "address");
	}
	return (struct sockaddr *)in6;
}

struct sockaddr *group_address(const char *text)
{
	static struct sockaddr_in buffers[2];
	static unsigned int turn;
	struct sockaddr_in *in = &buffers[turn++ % 2];

	*in = (struct sockaddr_in){ .sin_family = AF_INET };
	check(inet_pton(AF_INET, text, &in->sin_addr) == 1, "address %s", text);
	return (struct sockaddr *)in;
}

struct rdma_cm_id *open_id_of(struct rdma_event_channel *channel, enum rdma_port_space space)
{
	struct rdma_cm_id *id;

	check_ok(rdma_create_id(channel, &id, NULL, space));
	return id;
}

struct rdma_cm_id *open_listener(struct rdma_event_channel *channel, enum rdma_port_space space)
{
	struct rdma_cm_id *id = open_id_of(channel, space);

	check_ok(rdma_bind_addr(id, device_address(AF_INET, 0)));
	check_ok(rdma_listen(id, 0));
	return id;
}

struct rdma_cm_id *open_member(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *id = open_id_of(channel, RDMA_PS_UDP);

	check_ok(rdma_bind_addr(id, device_address(AF_INET, 0)));
	return id;
}

uint16_t port_of(struct rdma_cm_id *listener)
{
	return ntohs(rdma_get_src_port(listener));
}

struct rdma_cm_event *next_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type, struct rdma_cm_id *id)
{
	struct pollfd ready = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event = NULL;

	check(poll(&ready, 1, (int)(EVENT_LIMIT_MS * time_scale())) == 1, "no %s comes", rdma_event_str(type));
	check_ok(rdma_get_cm_event(channel, &event));
	check(event->event == type, "%s with status %d, not %s", rdma_event_str(event->event), event->status,
	      rdma_event_str(type));
	check(!id || event->id == id, "%s of another id", rdma_event_str(type));
	return event;
}

int pass_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type, struct rdma_cm_id *id)
{
	struct rdma_cm_event *event = next_event(channel, type, id);
	int status = event->status;

	check_ok(rdma_ack_cm_event(event));
	return status;
}

struct rdma_cm_id *take_request(struct rdma_event_channel *channel, struct rdma_cm_id *listener)
{
	struct rdma_cm_event *event = next_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL);
	struct rdma_cm_id *id = event->id;

	check(event->status == 0, "status %d", event->status);
	check(event->listen_id == listener && id != listener, "ids of the request");
	check_ok(rdma_ack_cm_event(event));
	return id;
}

int refusal_status(const struct rdma_cm_id *id, int reason)
{
	return is_iwarp(id) ? -ECONNREFUSED : reason;
}

void resolve(struct rdma_cm_id *id, uint16_t port)
{
	check_ok(rdma_resolve_addr(id, NULL, device_address(AF_INET, port), 2000));
	check(!pass_event(id->channel, RDMA_CM_EVENT_ADDR_RESOLVED, id), "address");
	check_ok(rdma_resolve_route(id, 2000));
	check(!pass_event(id->channel, RDMA_CM_EVENT_ROUTE_RESOLVED, id), "route");
}

struct rdma_cm_id *open_client(struct rdma_event_channel *channel, enum rdma_port_space space, uint16_t port)
{
	struct rdma_cm_id *id = open_id_of(channel, space);

	resolve(id, port);
	return id;
}

struct rdma_cm_id *open_alone(void)
{
	return open_client(open_channel(), RDMA_PS_TCP, 7499);
}

void close_alone(struct rdma_cm_id *id)
{
	struct rdma_event_channel *channel = id->channel;

	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

void check_answer(struct rdma_cm_id *id, enum rdma_cm_event_type type)
{
	check(id->event, "no answer");
	check(id->event->event == type, "the answer is %s, not %s", rdma_event_str(id->event->event), rdma_event_str(type));
	check(id->event->id == id, "of another id");
}

struct rdma_cm_id *open_waiting(enum rdma_port_space space)
{
	struct rdma_cm_id *id = open_id_of(NULL, space);

	check(id->channel && !id->event, "channel and event");
	return id;
}

void resolve_waiting(struct rdma_cm_id *id, uint16_t port)
{
	check_ok(rdma_resolve_addr(id, NULL, device_address(AF_INET, port), 2000));
	check_answer(id, RDMA_CM_EVENT_ADDR_RESOLVED);
	check_ok(rdma_resolve_route(id, 2000));
	check_answer(id, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

void close_waiting(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	check_ok(rdma_destroy_id(id));
}

struct rdma_addrinfo *endpoint_addresses(uint16_t port, int flags)
{
	struct rdma_addrinfo hints = { .ai_flags = flags | RAI_NUMERICHOST, .ai_port_space = RDMA_PS_TCP };
	struct rdma_addrinfo *list = NULL;
	char service[8];

	snprintf(service, sizeof(service), "%u", port);
	check_ok(rdma_getaddrinfo(DEVICE_ADDRESS, service, &hints, &list));
	check(list, "no addresses");
	return list;
}

void prepare(struct connection *connection)
{
	connection->server_channel = open_channel();
	connection->client_channel = open_channel();
	connection->listener = open_listener(connection->server_channel, RDMA_PS_TCP);
	connection->client = open_client(connection->client_channel, RDMA_PS_TCP, port_of(connection->listener));
	create_qp(connection->client);
}

void request(struct connection *connection, struct rdma_conn_param *param)
{
	check_ok(rdma_connect(connection->client, param));
	connection->server = take_request(connection->server_channel, connection->listener);
}

void establish(struct connection *connection)
{
	if (!connection->listener)
		prepare(connection);
	if (!connection->server)
		request(connection, NULL);
	if (!connection->server->qp)
		create_qp(connection->server);
	check_ok(rdma_accept(connection->server, NULL));
	check(!pass_event(connection->client_channel, RDMA_CM_EVENT_ESTABLISHED, connection->client), "client");
	check(!pass_event(connection->server_channel, RDMA_CM_EVENT_ESTABLISHED, connection->server), "server");
}

void disconnect(struct connection *connection)
{
	check_ok(rdma_disconnect(connection->client));
	pass_event(connection->server_channel, RDMA_CM_EVENT_DISCONNECTED, connection->server);
	/* Its answer: the client would wait for it for long. */
	check_ok(rdma_disconnect(connection->server));
	pass_event(connection->client_channel, RDMA_CM_EVENT_DISCONNECTED, connection->client);
}

static void destroy(struct rdma_cm_id *id)
{
	if (!id)
		return;
	if (id->qp)
		rdma_destroy_qp(id);
	check_ok(rdma_destroy_id(id));
}

void dismantle(struct connection *connection)
{
	destroy(connection->client);
	destroy(connection->server);
	destroy(connection->listener);
	rdma_destroy_event_channel(connection->client_channel);
	rdma_destroy_event_channel(connection->server_channel);
	*connection = (struct connection){ 0 };
}
