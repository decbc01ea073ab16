/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* User events written and taken by one thread: values, order, wrong arguments. */
#include "helper.h"

#include <limits.h>

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;

static void fields(void)
{
	struct rdma_cm_event *event;

	open_pair(&channel, &id);
	write_event(id, 7, 0x0123456789abcdef);
	check_ok(rdma_get_cm_event(channel, &event));
	observe("event %d status %d arg %#llx own id %d listen_id %d", (int)event->event, event->status,
		(unsigned long long)event->param.arg, event->id == id, !!event->listen_id);
	check(event->event == RDMA_CM_EVENT_USER && event->event == 18, "event %d", (int)event->event);
	check(event->status == 7, "status %d", event->status);
	check(event->param.arg == 0x0123456789abcdef, "arg");
	check(event->id == id, "id");
	check(!event->listen_id, "listen_id");
	check_ok(rdma_ack_cm_event(event));
	check_empty(channel);
	close_pair(channel, id);
}

static void status_range(void)
{
	static const int values[] = { 0, 1, -1, INT_MAX, INT_MIN, -ETIMEDOUT };

	open_pair(&channel, &id);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		write_event(id, values[i], i);
		take_event(channel, id, values[i], i);
	}
	close_pair(channel, id);
}

static void arg_range(void)
{
	static const uint64_t values[] = { 0, 1, UINT32_MAX, 1ull << 32, INT64_MAX, UINT64_MAX };

	open_pair(&channel, &id);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		write_event(id, 0, values[i]);
		take_event(channel, id, 0, values[i]);
	}
	close_pair(channel, id);
}

static void in_order(void)
{
	struct rdma_cm_id *other;

	open_pair(&channel, &id);
	other = open_id(channel);
	for (unsigned int i = 0; i < 100; i++)
		write_event(i % 3 ? id : other, (int)i, i);
	for (unsigned int i = 0; i < 100; i++)
		take_event(channel, i % 3 ? id : other, (int)i, i);
	check_ok(rdma_destroy_id(other));
	close_pair(channel, id);
}

/* Several events may be held at once, and acknowledged in any order. */
static void ack_in_reverse(void)
{
	struct rdma_cm_event *events[3];

	open_pair(&channel, &id);
	for (unsigned int i = 0; i < 3; i++)
		write_event(id, 0, i);
	for (unsigned int i = 0; i < 3; i++)
		events[i] = get_event(channel, id, 0, i);
	for (int i = 2; i >= 0; i--) {
		check(events[i]->param.arg == (uint64_t)i, "a later event changed arg %d", i);
		check_ok(rdma_ack_cm_event(events[i]));
	}
	close_pair(channel, id);
}

static void wrong_event(void)
{
	static const int values[] = { -1, RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_ADDRINFO_ERROR,
				      RDMA_CM_EVENT_INTERNAL, 20, 1000, INT_MAX, INT_MIN };

	open_pair(&channel, &id);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		check_fails(rdma_write_cm_event(id, (enum rdma_cm_event_type)values[i], 0, 0), EINVAL);
	check_empty(channel);
	close_pair(channel, id);
}

static void every_port_space(void)
{
	static const enum rdma_port_space spaces[] = { RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB, RDMA_PS_IPOIB };

	channel = open_channel();
	for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
		check_ok(rdma_create_id(channel, &id, NULL, spaces[i]));
		write_event(id, 1, i);
		take_event(channel, id, 1, i);
		check_ok(rdma_destroy_id(id));
	}
	rdma_destroy_event_channel(channel);
}

/* An id without a channel of the caller has one of its own. */
static void synchronous_id(void)
{
	check_ok(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	check(id->channel, "no channel");
	write_event(id, 3, 4);
	take_event(id->channel, id, 3, 4);
	check_ok(rdma_destroy_id(id));
}

/* The application's context pointer is found through the event. */
static void context(void)
{
	struct rdma_cm_event *event;
	int mark;

	channel = open_channel();
	check_ok(rdma_create_id(channel, &id, &mark, RDMA_PS_TCP));
	write_event(id, 0, 0);
	event = get_event(channel, id, 0, 0);
	check(event->id->context == &mark, "context");
	check_ok(rdma_ack_cm_event(event));
	close_pair(channel, id);
}

static void null_id(void)
{
	check_fails(rdma_write_cm_event(NULL, RDMA_CM_EVENT_USER, 0, 0), EINVAL);
}

static void null_channel(void)
{
	struct rdma_cm_event *event;

	check_fails(rdma_get_cm_event(NULL, &event), EINVAL);
}

static void null_event(void)
{
	open_pair(&channel, &id);
	check_fails(rdma_get_cm_event(channel, NULL), EINVAL);
	check_fails(rdma_ack_cm_event(NULL), EINVAL);
	close_pair(channel, id);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(fields),	      TEST(status_range),   TEST(arg_range), TEST(in_order),
		TEST(ack_in_reverse), TEST(wrong_event),    TEST(every_port_space), TEST(synchronous_id),
		TEST(context),	      TEST(null_id),	    TEST(null_channel),	    TEST(null_event),
	};

	return RUN_TESTS(tests, argc, argv);
}
