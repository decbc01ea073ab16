/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rdma_destroy_id with user events around: still in the channel, or taken and not acknowledged yet. */
#include "helper.h"

static struct rdma_event_channel *channel;

static void undelivered(void)
{
	struct rdma_cm_id *id, *other;

	channel = open_channel();
	id = open_id(channel);
	other = open_id(channel);
	for (unsigned int i = 0; i < 4; i++)
		write_event(i == 2 ? other : id, 0, i);
	check_ok(rdma_destroy_id(id));
	take_event(channel, other, 0, 2);
	check_empty(channel);
	check_ok(rdma_destroy_id(other));
	rdma_destroy_event_channel(channel);
}

static void delivered_and_acknowledged(void)
{
	struct rdma_cm_id *id;

	channel = open_channel();
	id = open_id(channel);
	for (unsigned int i = 0; i < 3; i++)
		write_event(id, 0, i);
	take_event(channel, id, 0, 0);
	take_event(channel, id, 0, 1);
	check_ok(rdma_destroy_id(id));
	check_empty(channel);
	rdma_destroy_event_channel(channel);
}

/* Nobody but the caller could acknowledge: to wait for it would be to wait for ever. */
static void held_by_the_caller(void)
{
	struct rdma_cm_event *events[2];
	struct rdma_cm_id *id;

	channel = open_channel();
	id = open_id(channel);
	for (unsigned int i = 0; i < 2; i++)
		write_event(id, 0, i);
	for (unsigned int i = 0; i < 2; i++)
		events[i] = get_event(channel, id, 0, i);
	check_ok(rdma_destroy_id(id));
	for (unsigned int i = 0; i < 2; i++) {
		check(events[i]->id == id && events[i]->param.arg == i, "the event changed");
		check_ok(rdma_ack_cm_event(events[i]));
	}
	rdma_destroy_event_channel(channel);
}

struct destroyer {
	struct rdma_cm_id *id;
	/* Set by the thread after its rdma_destroy_id. */
	bool done;
	/* An event that the thread itself takes first and never acknowledges before. */
	bool holds;
	struct rdma_cm_event *event;
	bool ready;
};

static void *run_destroyer(void *arg)
{
	struct destroyer *destroyer = arg;

	if (destroyer->holds)
		destroyer->event = get_event(channel, destroyer->id, 0, 1);
	__atomic_store_n(&destroyer->ready, true, __ATOMIC_RELEASE);
	check_ok(rdma_destroy_id(destroyer->id));
	__atomic_store_n(&destroyer->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* The thread that runs the case holds an event, another thread destroys: it must wait for the acknowledgement. */
static void destroy_waits(bool both_hold)
{
	struct destroyer destroyer = { .holds = both_hold };
	struct rdma_cm_event *event;
	pthread_t thread;

	channel = open_channel();
	destroyer.id = open_id(channel);
	write_event(destroyer.id, 0, 0);
	event = get_event(channel, destroyer.id, 0, 0);
	if (both_hold)
		write_event(destroyer.id, 0, 1);
	thread = start_thread(run_destroyer, &destroyer);
	while (!__atomic_load_n(&destroyer.ready, __ATOMIC_ACQUIRE))
		sleep_ms(1);
	sleep_ms(200);
	check(!__atomic_load_n(&destroyer.done, __ATOMIC_ACQUIRE), "destroyed before the acknowledgement");
	check(event->id == destroyer.id && event->param.arg == 0, "the event changed");
	check_ok(rdma_ack_cm_event(event));
	join_thread(thread);
	if (both_hold)
		check_ok(rdma_ack_cm_event(destroyer.event));
	rdma_destroy_event_channel(channel);
}

static void held_by_another_thread(void)
{
	destroy_waits(false);
}

static void held_by_both(void)
{
	destroy_waits(true);
}

/* Which thread acknowledges does not matter. */
static void *acknowledge(void *arg)
{
	check_ok(rdma_ack_cm_event(arg));
	return NULL;
}

static void acknowledged_by_another_thread(void)
{
	struct rdma_cm_id *id;

	channel = open_channel();
	id = open_id(channel);
	write_event(id, 0, 0);
	join_thread(start_thread(acknowledge, get_event(channel, id, 0, 0)));
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

/* Other ids of the channel do not notice. */
static void neighbours_go_on(void)
{
	enum { IDS = 50 };
	struct rdma_cm_id *ids[IDS];

	channel = open_channel();
	for (unsigned int i = 0; i < IDS; i++)
		ids[i] = open_id(channel);
	for (unsigned int i = 0; i < IDS; i++)
		write_event(ids[i], 0, i);
	for (unsigned int i = 0; i < IDS; i += 2)
		check_ok(rdma_destroy_id(ids[i]));
	for (unsigned int i = 1; i < IDS; i += 2) {
		take_event(channel, ids[i], 0, i);
		check_ok(rdma_destroy_id(ids[i]));
	}
	check_empty(channel);
	rdma_destroy_event_channel(channel);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(undelivered),
		TEST(delivered_and_acknowledged),
		SLOW_TEST(held_by_the_caller, 5),
		TEST(held_by_another_thread),
		SLOW_TEST(held_by_both, 5),
		TEST(acknowledged_by_another_thread),
		TEST(neighbours_go_on),
	};

	return RUN_TESTS(tests, argc, argv);
}
