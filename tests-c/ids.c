/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Making, binding and resolving ids on the lab's device, and what the id shows after each step. */
#include "helper.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;

/* Good until the next call. */
static struct sockaddr *address(const char *text, uint16_t port)
{
	static struct sockaddr_in buffers[2];
	static unsigned int turn;
	struct sockaddr_in *buffer = &buffers[turn++ % 2];

	*buffer = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
	check(inet_pton(AF_INET, text, &buffer->sin_addr) == 1, "address %s", text);
	return (struct sockaddr *)buffer;
}

/* Waits for an event of the id that is open now, which must have succeeded. */
static void expect(enum rdma_cm_event_type wanted)
{
	struct rdma_cm_event *event;

	check_ok(rdma_get_cm_event(channel, &event));
	observe("%s status %d listen_id %d", rdma_event_str(event->event), event->status, !!event->listen_id);
	check(event->event == wanted, "%s, not %s", rdma_event_str(event->event), rdma_event_str(wanted));
	check(event->id == id && !event->listen_id && event->status == 0, "fields");
	check_ok(rdma_ack_cm_event(event));
}

static void resolve_addr(void)
{
	check_ok(rdma_resolve_addr(id, NULL, address(DEVICE_ADDRESS, 7471), 2000));
	expect(RDMA_CM_EVENT_ADDR_RESOLVED);
}

static void resolve_route(void)
{
	check_ok(rdma_resolve_route(id, 2000));
	expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static const char *gid_text(const union ibv_gid *gid)
{
	static char texts[2][INET6_ADDRSTRLEN];
	static unsigned int turn;

	return inet_ntop(AF_INET6, gid->raw, texts[turn++ % 2], INET6_ADDRSTRLEN);
}

static void observe_address(const char *name, const struct sockaddr_storage *storage, bool with_port)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)storage;
	char text[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text));
	observe("%s family %d address %s port %d", name, in->sin_family, text,
		with_port ? ntohs(in->sin_port) : !!in->sin_port);
}

static void observe_id(const char *when)
{
	const struct rdma_addr *addr = &id->route.addr;

	observe("%s: device %s port %d space %#x type %d qp %d pd %d event %d paths %d", when,
		id->verbs ? ibv_get_device_name(id->verbs->device) : "none", id->port_num, (unsigned int)id->ps,
		(int)id->qp_type, !!id->qp, !!id->pd, !!id->event, id->route.num_paths);
	observe_address("source", &addr->src_storage, false);
	observe_address("destination", &addr->dst_storage, true);
	observe("sgid %s dgid %s pkey %#x", gid_text(&addr->addr.ibaddr.sgid), gid_text(&addr->addr.ibaddr.dgid),
		ntohs(addr->addr.ibaddr.pkey));
}

/* On RoCE the lids, the flow label and the preference hold bytes of the hardware address and of the ports. */
static void observe_path(const struct ibv_sa_path_rec *path)
{
	observe("path sgid %s dgid %s raw %d hops %d class %d reversible %d paths %d", gid_text(&path->sgid),
		gid_text(&path->dgid), path->raw_traffic, path->hop_limit, path->traffic_class, path->reversible,
		path->numb_path);
	observe("path pkey %#x sl %d mtu %d/%d rate %d/%d life %d/%d", ntohs(path->pkey), path->sl,
		path->mtu_selector, path->mtu, path->rate_selector, path->rate, path->packet_life_time_selector,
		path->packet_life_time);
}

static void created(void)
{
	static const enum rdma_port_space spaces[] = { RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB, RDMA_PS_IPOIB };

	channel = open_channel();
	for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
		check_ok(rdma_create_id(channel, &id, &channel, spaces[i]));
		check(id->channel == channel && id->context == &channel && id->ps == spaces[i], "fields");
		check(!id->verbs && !id->send_cq && !id->recv_cq && !id->srq && !id->send_cq_channel &&
		      !id->recv_cq_channel, "not empty");
		observe_id("created");
		check_ok(rdma_destroy_id(id));
	}
	rdma_destroy_event_channel(channel);
}

static void wrong_port_space(void)
{
	channel = open_channel();
	check_fails(rdma_create_id(channel, &id, NULL, (enum rdma_port_space)0x1234), EINVAL);
	rdma_destroy_event_channel(channel);
}

static void bound(void)
{
	open_pair(&channel, &id);
	check_ok(rdma_bind_addr(id, address(DEVICE_ADDRESS, 0)));
	check(id->verbs, "no device");
	check(rdma_get_src_port(id), "no port");
	check(!rdma_get_dst_port(id), "a destination port");
	observe_id("bound");
	close_pair(channel, id);
}

static void bound_to_a_port(void)
{
	struct rdma_cm_id *second;

	open_pair(&channel, &id);
	check_ok(rdma_bind_addr(id, address(DEVICE_ADDRESS, 7471)));
	check(rdma_get_src_port(id) == htons(7471), "port %d", ntohs(rdma_get_src_port(id)));
	second = open_id(channel);
	check_fails(rdma_bind_addr(second, address(DEVICE_ADDRESS, 7471)), EADDRINUSE);
	check(!second->verbs, "a device");
	check_ok(rdma_destroy_id(second));
	close_pair(channel, id);
}

static void bound_to_the_wildcard(void)
{
	open_pair(&channel, &id);
	check_ok(rdma_bind_addr(id, address("0.0.0.0", 7472)));
	check(!id->verbs, "a device");
	check(rdma_get_src_port(id) == htons(7472), "port %d", ntohs(rdma_get_src_port(id)));
	observe_id("bound");
	close_pair(channel, id);
}

static void bound_to_loopback(void)
{
	open_pair(&channel, &id);
	check_ok(rdma_bind_addr(id, address("127.0.0.1", 0)));
	observe_id("bound");
	close_pair(channel, id);
}

static void wrong_binds(void)
{
	struct sockaddr_storage local = { .ss_family = AF_UNIX };

	open_pair(&channel, &id);
	check_fails(rdma_bind_addr(id, NULL), EINVAL);
	check_fails(rdma_bind_addr(id, (struct sockaddr *)&local), EINVAL);
	check_fails(rdma_bind_addr(id, address("10.99.0.99", 0)), EADDRNOTAVAIL);
	check(!id->verbs, "a device");
	check_ok(rdma_bind_addr(id, address(DEVICE_ADDRESS, 0)));
	check_fails(rdma_bind_addr(id, address(DEVICE_ADDRESS, 0)), EINVAL);
	check(id->verbs, "no device");
	close_pair(channel, id);
}

static void resolved(void)
{
	open_pair(&channel, &id);
	resolve_addr();
	check(id->verbs, "no device");
	check(rdma_get_src_port(id), "no source port");
	check(rdma_get_dst_port(id) == htons(7471), "port %d", ntohs(rdma_get_dst_port(id)));
	observe_id("address resolved");
	check(!id->route.path_rec, "a path before the route");
	resolve_route();
	observe_id("route resolved");
	check(is_route_resolved(id), "no route");
	for (int i = 0; i < id->route.num_paths; i++)
		observe_path(&id->route.path_rec[i]);
	close_pair(channel, id);
}

static void resolved_as_udp(void)
{
	channel = open_channel();
	check_ok(rdma_create_id(channel, &id, NULL, RDMA_PS_UDP));
	resolve_addr();
	resolve_route();
	observe_id("route resolved");
	close_pair(channel, id);
}

static void resolved_from_a_source(void)
{
	open_pair(&channel, &id);
	check_ok(rdma_resolve_addr(id, address(DEVICE_ADDRESS, 7473), address(DEVICE_ADDRESS, 7471), 2000));
	expect(RDMA_CM_EVENT_ADDR_RESOLVED);
	check(rdma_get_src_port(id) == htons(7473), "port %d", ntohs(rdma_get_src_port(id)));
	close_pair(channel, id);
}

static void bound_then_resolved(void)
{
	open_pair(&channel, &id);
	check_ok(rdma_bind_addr(id, address(DEVICE_ADDRESS, 7474)));
	resolve_addr();
	check(rdma_get_src_port(id) == htons(7474), "port %d", ntohs(rdma_get_src_port(id)));
	resolve_route();
	observe_id("route resolved");
	close_pair(channel, id);
}

static void wrong_resolves(void)
{
	struct sockaddr_storage local = { .ss_family = AF_UNIX };

	open_pair(&channel, &id);
	check_fails(rdma_resolve_addr(id, NULL, NULL, 2000), EINVAL);
	check_fails(rdma_resolve_addr(id, NULL, (struct sockaddr *)&local, 2000), EINVAL);
	check_fails(rdma_resolve_addr(id, (struct sockaddr *)&local, address(DEVICE_ADDRESS, 1), 2000), EINVAL);
	check_empty(channel);
	resolve_addr();
	check_fails(rdma_resolve_addr(id, NULL, address(DEVICE_ADDRESS, 7471), 2000), EINVAL);
	resolve_route();
	check_fails(rdma_resolve_route(id, 2000), EINVAL);
	check_empty(channel);
	close_pair(channel, id);
}

/* Nobody has this address, and no route leads there. */
static void unreachable(void)
{
	struct rdma_cm_event *event;

	open_pair(&channel, &id);
	if (rdma_resolve_addr(id, NULL, address("192.0.2.1", 7471), 1000)) {
		observe("rdma_resolve_addr: %s", errno_name(errno));
	} else {
		check_ok(rdma_get_cm_event(channel, &event));
		observe("%s status %s", rdma_event_str(event->event), errno_name(-event->status));
		check(event->event == RDMA_CM_EVENT_ADDR_ERROR && event->id == id, "another event");
		check_ok(rdma_ack_cm_event(event));
	}
	check(!id->verbs, "a device");
	close_pair(channel, id);
}

static void route_before_address(void)
{
	open_pair(&channel, &id);
	check_fails(rdma_resolve_route(id, 2000), EINVAL);
	close_pair(channel, id);
}

static void route_of_a_bound_id(void)
{
	open_pair(&channel, &id);
	check_ok(rdma_bind_addr(id, address(DEVICE_ADDRESS, 0)));
	check_fails(rdma_resolve_route(id, 2000), EINVAL);
	close_pair(channel, id);
}

/* An id without a channel of the caller waits itself. */
static void synchronous(void)
{
	check_ok(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	check_ok(rdma_resolve_addr(id, NULL, address(DEVICE_ADDRESS, 7471), 2000));
	check(id->event && id->event->event == RDMA_CM_EVENT_ADDR_RESOLVED, "id->event");
	check_ok(rdma_resolve_route(id, 2000));
	check(id->event && id->event->event == RDMA_CM_EVENT_ROUTE_RESOLVED, "id->event");
	observe_id("route resolved");
	check_ok(rdma_destroy_id(id));
}

/* A user event that is there first is no answer. */
static void synchronous_behind_a_user_event(void)
{
	check_ok(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	write_event(id, 1, 2);
	check_ok(rdma_resolve_addr(id, NULL, address(DEVICE_ADDRESS, 7471), 2000));
	check(id->verbs, "no device");
	check(id->event && id->event->event == RDMA_CM_EVENT_ADDR_RESOLVED, "id->event");
	take_event(id->channel, id, 1, 2);
	check_ok(rdma_destroy_id(id));
}

/* User events and the kernel's own share the channel, in the order of their making. */
static void user_events_between(void)
{
	open_pair(&channel, &id);
	write_event(id, 0, 1);
	check_ok(rdma_resolve_addr(id, NULL, address(DEVICE_ADDRESS, 7471), 2000));
	take_event(channel, id, 0, 1);
	expect(RDMA_CM_EVENT_ADDR_RESOLVED);
	write_event(id, 0, 2);
	take_event(channel, id, 0, 2);
	resolve_route();
	close_pair(channel, id);
}

static void null_pointers(void)
{
	channel = open_channel();
	check_fails(rdma_create_id(channel, NULL, NULL, RDMA_PS_TCP), EINVAL);
	check_fails(rdma_destroy_id(NULL), EINVAL);
	check_fails(rdma_bind_addr(NULL, address(DEVICE_ADDRESS, 0)), EINVAL);
	check_fails(rdma_resolve_addr(NULL, NULL, address(DEVICE_ADDRESS, 0), 1), EINVAL);
	check_fails(rdma_resolve_route(NULL, 1), EINVAL);
	check_fails(rdma_migrate_id(NULL, channel), EINVAL);
	rdma_destroy_event_channel(NULL);
	rdma_destroy_event_channel(channel);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(created),
		TEST(wrong_port_space),
		TEST(bound),
		TEST(bound_to_a_port),
		TEST(bound_to_the_wildcard),
		TEST(bound_to_loopback),
		TEST(wrong_binds),
		TEST(resolved),
		TEST(resolved_as_udp),
		TEST(resolved_from_a_source),
		TEST(bound_then_resolved),
		TEST(wrong_resolves),
		TEST(unreachable),
		TEST(route_before_address),
		TEST(route_of_a_bound_id),
		TEST(synchronous),
		TEST(synchronous_behind_a_user_event),
		TEST(user_events_between),
		TEST(null_pointers),
	};

	return RUN_TESTS(tests, argc, argv);
}
