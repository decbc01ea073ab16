/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Thousands of rounds leave no descriptor and no memory behind. */
#include "helper.h"

#include <stdio.h>
#include <string.h>

/* Exact, unlike the sizes in /proc/self/status, which the kernel counts in batches. */
static unsigned long memory_kib(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	unsigned long size = 0;
	char line[128];

	check(file, "/proc/self/smaps_rollup: %m");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "Anonymous: %lu kB", &size) == 1)
			break;
	fclose(file);
	check(size, "no size");
	return size;
}

static void run_rounds(void (*round)(void *), void *arg)
{
	unsigned long rounds = number_from_env("TEST_ROUNDS", 10000), before;
	int fds;

	/* Allocators and tables reach their size in the first rounds. */
	for (unsigned long i = 0; i < rounds / 10; i++)
		round(arg);
	fds = count_fds(NULL);
	before = memory_kib();
	for (unsigned long i = 0; i < rounds; i++)
		round(arg);
	check(count_fds(NULL) == fds, "%d descriptors, not %d", count_fds(NULL), fds);
	/* Sixteen bytes lost in every round would be more than this. */
	check(memory_kib() < before + 128, "grew from %lu KiB to %lu KiB", before, memory_kib());
}

static void id_round(void *channel)
{
	struct rdma_cm_id *id = open_id(channel);

	write_event(id, 1, 2);
	take_event(channel, id, 1, 2);
	check_ok(rdma_destroy_id(id));
}

static void ids(void)
{
	struct rdma_event_channel *channel = open_channel();

	run_rounds(id_round, channel);
	rdma_destroy_event_channel(channel);
}

static void bound_round(void *channel)
{
	check_ok(rdma_destroy_id(open_bound_id(channel)));
}

static void bound_ids(void)
{
	struct rdma_event_channel *channel = open_channel();

	run_rounds(bound_round, channel);
	rdma_destroy_event_channel(channel);
}

static void undelivered_round(void *channel)
{
	struct rdma_cm_id *id = open_id(channel);

	write_event(id, 1, 2);
	check_ok(rdma_destroy_id(id));
}

static void undelivered_events(void)
{
	struct rdma_event_channel *channel = open_channel();

	run_rounds(undelivered_round, channel);
	rdma_destroy_event_channel(channel);
}

static void channel_round(void *unused)
{
	struct rdma_event_channel *channel = open_channel();

	(void)unused;
	id_round(channel);
	rdma_destroy_event_channel(channel);
}

static void channels(void)
{
	run_rounds(channel_round, NULL);
}

static void synchronous_round(void *unused)
{
	struct rdma_cm_id *id;

	(void)unused;
	check_ok(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	check_ok(rdma_destroy_id(id));
}

static void synchronous_ids(void)
{
	run_rounds(synchronous_round, NULL);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		SLOW_TEST(ids, 60),
		SLOW_TEST(bound_ids, 60),
		SLOW_TEST(undelivered_events, 60),
		SLOW_TEST(channels, 60),
		SLOW_TEST(synchronous_ids, 60),
	};

	return RUN_TESTS(tests, argc, argv);
}
