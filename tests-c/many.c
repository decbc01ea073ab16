/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Many threads on one channel: no event is lost, none comes twice, and each writer's come in its order. */
#include "helper.h"

#include <stdlib.h>

enum { WRITERS = 8, MAX_READERS = 8, STOP = -1 };

static struct rdma_event_channel *channel;
static struct rdma_cm_id *ids[WRITERS];
static unsigned long per_writer;
/* How often each event came: [writer * per_writer + number]. */
static unsigned char *taken;
static unsigned long taken_in_all;

static void *write_all(void *arg)
{
	uint64_t writer = (uintptr_t)arg;

	for (uint64_t number = 0; number < per_writer; number++)
		write_event(ids[writer], (int)writer, number);
	return NULL;
}

static void *read_all(void *arg)
{
	/* What this thread takes from one writer must be ascending, whatever the other readers take. */
	uint64_t next[WRITERS] = { 0 };

	(void)arg;
	for (;;) {
		struct rdma_cm_event *event;
		uint64_t number;
		int writer;

		check_ok(rdma_get_cm_event(channel, &event));
		writer = event->status;
		number = event->param.arg;
		check(event->event == RDMA_CM_EVENT_USER, "event %d", (int)event->event);
		check(writer == STOP || event->id == ids[writer], "event of another id");
		check_ok(rdma_ack_cm_event(event));
		if (writer == STOP)
			return NULL;
		check(number < per_writer, "no such event");
		check(number >= next[writer], "writer %d: out of order", writer);
		next[writer] = number + 1;
		__atomic_add_fetch(&taken[(unsigned long)writer * per_writer + number], 1, __ATOMIC_RELAXED);
		__atomic_add_fetch(&taken_in_all, 1, __ATOMIC_RELAXED);
	}
}

/* A minute without a line would be taken for a hang. */
static void show_progress(unsigned long total)
{
	for (unsigned long tenth = 1; tenth <= 10; tenth++) {
		while (__atomic_load_n(&taken_in_all, __ATOMIC_RELAXED) < total * tenth / 10)
			sleep_ms(5);
		observe("%lu of %lu events", total * tenth / 10, total);
	}
}

static void run_threads(unsigned int readers, bool own_id)
{
	pthread_t writer_threads[WRITERS], reader_threads[MAX_READERS];
	unsigned long total;

	per_writer = number_from_env("TEST_EVENTS", 100000) / WRITERS;
	total = per_writer * WRITERS;
	taken = calloc(total, 1);
	check(taken, "calloc: %m");
	channel = open_channel();
	for (unsigned int i = 0; i < WRITERS; i++)
		ids[i] = i && !own_id ? ids[0] : open_id(channel);

	for (unsigned int i = 0; i < readers; i++)
		reader_threads[i] = start_thread(read_all, NULL);
	for (unsigned int i = 0; i < WRITERS; i++)
		writer_threads[i] = start_thread(write_all, (void *)(uintptr_t)i);
	show_progress(total);
	for (unsigned int i = 0; i < WRITERS; i++)
		join_thread(writer_threads[i]);
	/* The channel is in order: whoever takes one of these has nothing left to take. */
	for (unsigned int i = 0; i < readers; i++)
		write_event(ids[0], STOP, 0);
	for (unsigned int i = 0; i < readers; i++)
		join_thread(reader_threads[i]);

	for (unsigned long i = 0; i < total; i++)
		check(taken[i] == 1, "writer %lu, event %lu came %u times", i / per_writer, i % per_writer, taken[i]);
	check_empty(channel);
	for (unsigned int i = 0; i < (own_id ? WRITERS : 1); i++)
		check_ok(rdma_destroy_id(ids[i]));
	rdma_destroy_event_channel(channel);
	free(taken);
}

static void eight_readers(void)
{
	run_threads(MAX_READERS, true);
}

static void eight_readers_one_id(void)
{
	run_threads(MAX_READERS, false);
}

/* A lone reader sees all of each writer's events, so "ascending and none lost" is the exact order. */
static void one_reader(void)
{
	run_threads(1, true);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		SLOW_TEST(eight_readers, 240),
		SLOW_TEST(eight_readers_one_id, 120),
		SLOW_TEST(one_reader, 120),
	};

	return RUN_TESTS(tests, argc, argv);
}
