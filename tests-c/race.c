/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls that meet by chance, so that the results of a library that gets them wrong differ from run to run: not for a
 * comparison.
 */
#include "helper.h"

#include <poll.h>

enum { CHANNELS = 2 };

static struct rdma_event_channel *channels[CHANNELS];
static struct rdma_cm_id *id;
static unsigned int events;
static bool all_taken;

static void *write_all(void *unused)
{
	(void)unused;
	for (unsigned int i = 0; i < events; i++)
		write_event(id, 0, i);
	return NULL;
}

static void *take_all(void *unused)
{
	struct pollfd ready[CHANNELS];
	unsigned int taken = 0;

	(void)unused;
	for (unsigned int i = 0; i < CHANNELS; i++)
		ready[i] = (struct pollfd){ .fd = channels[i]->fd, .events = POLLIN };
	while (taken < events) {
		struct rdma_cm_event *event;

		/* Not for ever: while poll looks at one channel the id may move to it from the other, which wakes nobody. */
		poll(ready, CHANNELS, 10);
		for (unsigned int i = 0; i < CHANNELS; i++) {
			while (!rdma_get_cm_event(channels[i], &event)) {
				check(event->param.arg == taken, "event %llu, not %u",
				      (unsigned long long)event->param.arg, taken);
				check_ok(rdma_ack_cm_event(event));
				taken++;
			}
			check(errno == EAGAIN, "get: %s", errno_name(errno));
		}
	}
	__atomic_store_n(&all_taken, true, __ATOMIC_RELEASE);
	return NULL;
}

static void moved_while_written(void)
{
	int ids_before = count_kernel_ids();
	unsigned int moves = 0;
	pthread_t writer, reader;

	events = (unsigned int)number_from_env("TEST_EVENTS", 100000) / 10;
	for (unsigned int i = 0; i < CHANNELS; i++) {
		channels[i] = open_channel();
		set_nonblocking(channels[i]->fd);
	}
	id = open_id(channels[0]);
	reader = start_thread(take_all, NULL);
	writer = start_thread(write_all, NULL);
	while (!__atomic_load_n(&all_taken, __ATOMIC_ACQUIRE))
		check_ok(rdma_migrate_id(id, channels[++moves % CHANNELS]));
	join_thread(writer);
	join_thread(reader);
	check_ok(rdma_destroy_id(id));
	for (unsigned int i = 0; i < CHANNELS; i++) {
		check_empty(channels[i]);
		rdma_destroy_event_channel(channels[i]);
	}
	check(count_kernel_ids() == ids_before, "%d ids left in the kernel", count_kernel_ids() - ids_before);
}

static void *write_on(void *unused)
{
	(void)unused;
	while (!__atomic_load_n(&all_taken, __ATOMIC_ACQUIRE))
		write_event(id, 0, 0);
	return NULL;
}

/* Nobody has an interest in the channel any more that the id has left. */
static void former_channel_destroyed_while_written(void)
{
	struct rdma_event_channel *former = open_channel(), *next;
	int ids_before = count_kernel_ids();
	struct rdma_cm_event *event;
	pthread_t writer;

	id = open_id(former);
	writer = start_thread(write_on, NULL);
	for (int i = 0; i < 50; i++) {
		next = open_channel();
		check_ok(rdma_migrate_id(id, next));
		rdma_destroy_event_channel(former);
		set_nonblocking(next->fd);
		for (int taken = 0; taken < 1000 && !rdma_get_cm_event(next, &event); taken++)
			check_ok(rdma_ack_cm_event(event));
		former = next;
	}
	__atomic_store_n(&all_taken, true, __ATOMIC_RELEASE);
	join_thread(writer);
	close_pair(former, id);
	check(count_kernel_ids() == ids_before, "%d ids left in the kernel", count_kernel_ids() - ids_before);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		SLOW_TEST(moved_while_written, 60),
		SLOW_TEST(former_channel_destroyed_while_written, 60),
	};

	return RUN_TESTS(tests, argc, argv);
}
