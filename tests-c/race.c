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

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		SLOW_TEST(moved_while_written, 60),
	};

	return RUN_TESTS(tests, argc, argv);
}
