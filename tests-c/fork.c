/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A child of fork() with an inherited channel: it cannot use it, does no harm to the parent, and can open its own. */
#include "helper.h"

#include <stdlib.h>
#include <unistd.h>

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;

static void parent_goes_on(void)
{
	write_event(id, 1, 2);
	take_event(channel, id, 1, 2);
	close_pair(channel, id);
}

/* With all that runs at the end of a process. */
static void only_exits(void)
{
	exit(EXIT_SUCCESS);
}

static void child_exits(void)
{
	open_pair(&channel, &id);
	run_child(only_exits);
	parent_goes_on();
}

/* The kernel binds a channel to the credentials that opened it; those of a forked child are others. */
static void use_inherited(void)
{
	struct rdma_cm_event *event;

	check(rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, 0) == -1, "the child could write");
	observe("write in the child: %s", errno_name(errno));
	check(rdma_get_cm_event(channel, &event) == -1, "the child could read");
	observe("get in the child: %s", errno_name(errno));
}

static void child_cannot_use_it(void)
{
	open_pair(&channel, &id);
	run_child(use_inherited);
	parent_goes_on();
}

static void close_inherited(void)
{
	close(channel->fd);
}

/* As daemons do. */
static void child_closes_the_descriptor(void)
{
	open_pair(&channel, &id);
	run_child(close_inherited);
	parent_goes_on();
}

static void destroy_inherited(void)
{
	rdma_destroy_event_channel(channel);
}

static void child_destroys_the_channel(void)
{
	open_pair(&channel, &id);
	run_child(destroy_inherited);
	parent_goes_on();
}

/* The parent's waiting thread does not exist in the child. */
static void child_destroys_while_the_parent_waits(void)
{
	struct waiter waiter;

	open_pair(&channel, &id);
	start_waiter(&waiter, channel);
	run_child(destroy_inherited);
	check(!thread_ends(waiter.thread, 50), "the parent's waiter returned %d, errno %s", waiter.ret,
	      errno_name(waiter.error));
	write_event(id, 3, 4);
	join_thread(waiter.thread);
	check(waiter.ret == 0 && waiter.event->param.arg == 4, "get: %s", errno_name(waiter.error));
	check_ok(rdma_ack_cm_event(waiter.event));
	parent_goes_on();
}

static void exit_after_destroying_the_id(void)
{
	/* It may fail; the parent must not notice. */
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	exit(EXIT_SUCCESS);
}

/* The parent's undelivered events are none of the child's business. */
static void with_events_pending(void (*child)(void))
{
	open_pair(&channel, &id);
	for (unsigned int i = 0; i < 5; i++)
		write_event(id, 0, i);
	run_child(child);
	for (unsigned int i = 0; i < 5; i++)
		take_event(channel, id, 0, i);
	check_empty(channel);
	parent_goes_on();
}

static void child_exits_with_events_pending(void)
{
	with_events_pending(only_exits);
}

static void child_destroys_with_events_pending(void)
{
	with_events_pending(exit_after_destroying_the_id);
}

static void use_own(void)
{
	open_pair(&channel, &id);
	parent_goes_on();
}

static void child_opens_its_own(void)
{
	open_pair(&channel, &id);
	run_child(use_own);
	parent_goes_on();
}

/* What the parent holds or waits for at that moment must not block the child. */
static void child_opens_its_own_while_the_parent_waits(void)
{
	struct waiter waiter;

	open_pair(&channel, &id);
	start_waiter(&waiter, channel);
	run_child(use_own);
	write_event(id, 3, 4);
	join_thread(waiter.thread);
	check(waiter.ret == 0, "get: %s", errno_name(waiter.error));
	check_ok(rdma_ack_cm_event(waiter.event));
	parent_goes_on();
}

static bool is_over;

static void *write_and_read(void *unused)
{
	struct rdma_cm_event *event;

	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
		write_event(id, 0, 0);
		check_ok(rdma_get_cm_event(channel, &event));
		check_ok(rdma_ack_cm_event(event));
	}
	return unused;
}

/* The thread of the parent that is in the middle of a call does not exist in the child, and never gets to its end. */
static void use_what_was_in_use(void)
{
	check(rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, 0) == -1, "the child could write");
	observe("write in the child: %s", errno_name(errno));
	/* It may fail; it returns. */
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
}

static void child_of_a_busy_parent(void)
{
	pthread_t busy;

	open_pair(&channel, &id);
	busy = start_thread(write_and_read, NULL);
	for (int i = 0; i < 20; i++) {
		sleep_ms(1 + i % 3);
		run_child(use_what_was_in_use);
	}
	__atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
	join_thread(busy);
	parent_goes_on();
}

static void take_over(void)
{
	struct rdma_event_channel *own = open_channel();

	check_ok(rdma_migrate_id(id, own));
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(own);
}

/* The kernel lets a child move an id to a channel of its own. Nobody there will acknowledge what the parent holds. */
static void child_takes_the_id(void)
{
	struct rdma_cm_event *event;

	open_pair(&channel, &id);
	write_event(id, 1, 2);
	check_ok(rdma_get_cm_event(channel, &event));
	run_child(take_over);
	check_ok(rdma_ack_cm_event(event));
	check_fails(rdma_destroy_id(id), ENOENT);
	rdma_destroy_event_channel(channel);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(child_exits),
		TEST(child_cannot_use_it),
		TEST(child_closes_the_descriptor),
		TEST(child_destroys_the_channel),
		TEST(child_destroys_while_the_parent_waits),
		TEST(child_exits_with_events_pending),
		TEST(child_destroys_with_events_pending),
		TEST(child_opens_its_own),
		TEST(child_opens_its_own_while_the_parent_waits),
		SLOW_TEST(child_of_a_busy_parent, 30),
		TEST(child_takes_the_id, .needs = "migrate_id"),
	};

	return RUN_TESTS(tests, argc, argv);
}
