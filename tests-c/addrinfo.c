/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rdma_resolve_addrinfo reports by an event, rdma_query_addrinfo gives the list. */
#include "helper.h"

#include <arpa/inet.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;
static const struct rdma_addrinfo numeric = { .ai_flags = RAI_NUMERICHOST, .ai_port_space = RDMA_PS_TCP };
static const struct rdma_addrinfo by_administrator = { .ai_flags = RAI_SA };

static void open_both(void)
{
	open_pair(&channel, &id);
}

static void close_both(void)
{
	close_pair(channel, id);
}

static int resolve(void)
{
	return rdma_resolve_addrinfo(id, DEVICE_ADDRESS, "7471", &numeric);
}

static void expect_resolved(struct rdma_event_channel *where)
{
	struct rdma_cm_event *event;

	check_ok(rdma_get_cm_event(where, &event));
	check(event->event == RDMA_CM_EVENT_ADDRINFO_RESOLVED && event->id == id && !event->listen_id,
	      "%s", rdma_event_str(event->event));
	check(event->status == 0, "status %d", event->status);
	check_ok(rdma_ack_cm_event(event));
}

static void take_list(void)
{
	struct rdma_addrinfo *list = NULL;

	check_ok(rdma_query_addrinfo(id, &list));
	check(list && list->ai_family == AF_INET && list->ai_port_space == RDMA_PS_TCP, "entry");
	check(((struct sockaddr_in *)list->ai_dst_addr)->sin_port == htons(7471), "port");
	rdma_freeaddrinfo(list);
}

static void name(void)
{
	struct pollfd ready;

	open_both();
	ready = (struct pollfd){ .fd = channel->fd, .events = POLLIN };
	check_ok(resolve());
	check(poll(&ready, 1, 10000) == 1, "not readable");
	expect_resolved(channel);
	take_list();
	close_both();
}

static void one_list_at_a_time(void)
{
	struct rdma_addrinfo *list;

	open_both();
	check_fails(rdma_query_addrinfo(id, &list), ENOENT);
	check_ok(resolve());
	expect_resolved(channel);
	check_fails(resolve(), EBUSY);
	take_list();
	check_fails(rdma_query_addrinfo(id, &list), ENOENT);
	check_ok(resolve());
	expect_resolved(channel);
	take_list();
	close_both();
}

static void synchronous(void)
{
	open_both();
	check_ok(rdma_destroy_id(id));
	check_ok(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	for (int i = 0; i < 3; i++) {
		check_ok(resolve());
		check(id->event && id->event->event == RDMA_CM_EVENT_ADDRINFO_RESOLVED, "event");
		take_list();
	}
	close_both();
}

/* In its place among the user events of the id. */
static void in_order(void)
{
	open_both();
	write_event(id, 1, 1);
	check_ok(resolve());
	write_event(id, 2, 2);
	take_event(channel, id, 1, 1);
	expect_resolved(channel);
	take_event(channel, id, 2, 2);
	check_empty(channel);
	take_list();
	close_both();
}

static void destroyed_before_the_event(void)
{
	open_both();
	check_ok(resolve());
	close_both();
}

static void destroyed_with_a_list(void)
{
	open_both();
	check_ok(resolve());
	expect_resolved(channel);
	close_both();
}

static void moved_before_the_event(void)
{
	struct rdma_event_channel *other = open_channel();

	open_both();
	check_ok(resolve());
	check_ok(rdma_migrate_id(id, other));
	check_empty(channel);
	expect_resolved(other);
	take_list();
	close_both();
	rdma_destroy_event_channel(other);
}

static void unknown_node(void)
{
	open_both();
	check_fails(rdma_resolve_addrinfo(id, "no.number", "7471", &numeric), ENOENT);
	check_ok(resolve());
	expect_resolved(channel);
	close_both();
}

static void nothing_to_look_for(void)
{
	open_both();
	check_fails(rdma_resolve_addrinfo(id, NULL, NULL, NULL), EINVAL);
	close_both();
}

static void null_pointers(void)
{
	struct rdma_addrinfo *list;

	open_both();
	check_fails(rdma_resolve_addrinfo(NULL, DEVICE_ADDRESS, "7471", &numeric), EINVAL);
	check_fails(rdma_query_addrinfo(NULL, &list), EINVAL);
	check_fails(rdma_query_addrinfo(id, NULL), EINVAL);
	close_both();
}

static void service_and_node(void)
{
	struct rdma_addrinfo both = { .ai_flags = RAI_SA | RAI_DNS };

	open_both();
	check_fails(rdma_resolve_addrinfo(id, DEVICE_ADDRESS, "a service", &by_administrator), EOPNOTSUPP);
	check_fails(rdma_resolve_addrinfo(id, NULL, "a service", &both), EOPNOTSUPP);
	close_both();
}

static void no_service(void)
{
	open_both();
	check_fails(rdma_resolve_addrinfo(id, NULL, NULL, &by_administrator), EINVAL);
	close_both();
}

/* There is no subnet administrator for soft RoCE. */
static void service_without_administrator(void)
{
	static const char *const services[] = { "a service", "0x1234", "" };
	struct rdma_addrinfo *list;

	open_both();
	for (int bound = 0; bound < 2; bound++) {
		for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++) {
			check(rdma_resolve_addrinfo(id, NULL, services[i], &by_administrator) == -1, "success");
			check(errno > 0 && errno != EBUSY, "errno %s", errno_name(errno));
			check_fails(rdma_query_addrinfo(id, &list), ENOENT);
		}
		if (!bound) {
			check_ok(rdma_destroy_id(id));
			id = open_bound_id(channel);
		}
	}
	check_ok(resolve());
	expect_resolved(channel);
	close_both();
}

/* Whatever the kernel may be used for between libraries later. */
static void unknown_internal_event(void)
{
	/* WRITE_CM_EVENT: an event of type INTERNAL that says 99. The kernel reads beyond what is written. */
	uint32_t command[128] = { 24, 24, 0, 0, RDMA_CM_EVENT_INTERNAL, 0, 99 };
	bool written = false;

	open_both();
	for (uint32_t number = 0; number < 1000 && !written; number++) {
		command[2] = number;
		written = write(channel->fd, command, 32) == 32;
		if (!written && errno == EINVAL)
			skip_test("the kernel has no such command");
	}
	check(written, "no number is that of the id");
	write_event(id, 1, 1);
	take_event(channel, id, 1, 1);
	close_both();
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(name), TEST(one_list_at_a_time), TEST(synchronous), TEST(in_order), TEST(destroyed_before_the_event),
		TEST(destroyed_with_a_list), TEST(moved_before_the_event), TEST(unknown_node), TEST(nothing_to_look_for),
		TEST(null_pointers), TEST(service_and_node), TEST(no_service), TEST(service_without_administrator),
		TEST(unknown_internal_event),
	};

	return RUN_TESTS(tests, argc, argv);
}
