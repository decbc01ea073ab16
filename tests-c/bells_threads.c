/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* User events while several threads write, read, move ids or are cancelled: none lost, none doubled, nothing left. */
#include "helper.h"

#include <sched.h>
#include <sys/epoll.h>
#include <unistd.h>

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;

static void check_kernel_ids(int wanted)
{
	int found = count_kernel_ids();

	check(found == wanted, "%d ids in the kernel, not %d", found, wanted);
}

/* Writes 0 to count - 1, with its own number as status. */
struct writer {
	struct rdma_cm_id *id;
	unsigned int number;
	unsigned int count;
	unsigned int written;
	pthread_t thread;
};

static void *run_writer(void *arg)
{
	struct writer *writer = arg;

	for (unsigned int i = 0; i < writer->count; i++) {
		write_event(writer->id, (int)writer->number, i);
		__atomic_store_n(&writer->written, i + 1, __ATOMIC_RELEASE);
		/* The cancellation point of those cases that cancel. */
		pthread_testcancel();
	}
	return NULL;
}

static void start_writer(struct writer *writer, struct rdma_cm_id *of, unsigned int number, unsigned int count)
{
	*writer = (struct writer){ .id = of, .number = number, .count = count };
	writer->thread = start_thread(run_writer, writer);
}

static void many_channels(void)
{
	enum { CHANNELS = 50, WRITERS = 4, EVENTS = 10 };
	static struct writer writers[CHANNELS][WRITERS];
	int ids_before = count_kernel_ids();
	struct rdma_event_channel *channels[CHANNELS];
	struct rdma_cm_id *ids[CHANNELS];

	for (unsigned int c = 0; c < CHANNELS; c++) {
		channels[c] = open_channel();
		ids[c] = open_id(channels[c]);
	}
	for (unsigned int w = 0; w < WRITERS; w++)
		for (unsigned int c = 0; c < CHANNELS; c++)
			start_writer(&writers[c][w], ids[c], w, EVENTS);
	for (unsigned int c = 0; c < CHANNELS; c++) {
		uint64_t next[WRITERS] = { 0 };

		for (unsigned int i = 0; i < WRITERS * EVENTS; i++) {
			struct rdma_cm_event *event;

			check_ok(rdma_get_cm_event(channels[c], &event));
			check(event->id == ids[c], "event of another id");
			check(event->param.arg == next[event->status]++, "writer %d: out of order", event->status);
			check_ok(rdma_ack_cm_event(event));
		}
	}
	for (unsigned int c = 0; c < CHANNELS; c++) {
		for (unsigned int w = 0; w < WRITERS; w++)
			join_thread(writers[c][w].thread);
		check_empty(channels[c]);
		check_ok(rdma_destroy_id(ids[c]));
		rdma_destroy_event_channel(channels[c]);
	}
	check_kernel_ids(ids_before);
}

/* No event without a wake-up, and no wake-up without an event: each return of epoll_wait brings at least one. */
static void edge_triggered(void)
{
	int ids_before = count_kernel_ids();
	unsigned int count = (unsigned int)number_from_env("TEST_EVENTS", 100000) / 40, taken = 0;
	struct epoll_event interest = { .events = EPOLLIN | EPOLLET }, ready;
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct rdma_cm_event *event;
	struct writer writer;

	open_pair(&channel, &id);
	set_nonblocking(channel->fd);
	check(epoll >= 0 && !epoll_ctl(epoll, EPOLL_CTL_ADD, channel->fd, &interest), "epoll: %m");
	start_writer(&writer, id, 1, count);
	while (taken < count) {
		unsigned int before = taken;

		check(epoll_wait(epoll, &ready, 1, (int)(5000 * time_scale())) == 1, "a lost wake-up after event %u",
		      taken);
		while (!rdma_get_cm_event(channel, &event)) {
			check(event->param.arg == taken, "out of order");
			check_ok(rdma_ack_cm_event(event));
			taken++;
		}
		check(errno == EAGAIN, "get: %s", errno_name(errno));
		check(taken > before, "a wake-up for nothing after event %u", taken);
	}
	join_thread(writer.thread);
	check(epoll_wait(epoll, &ready, 1, 50) == 0, "a wake-up after the last event");
	close(epoll);
	close_pair(channel, id);
	check_kernel_ids(ids_before);
}

/* A writer that does not live to its end leaves the id usable, and nothing behind. */
static void cancelled_writer(void)
{
	int ids_before = count_kernel_ids();

	for (unsigned int round = 0; round < 20; round++) {
		struct rdma_cm_event *event;
		struct writer writer;

		open_pair(&channel, &id);
		start_writer(&writer, id, 1, UINT32_MAX);
		while (__atomic_load_n(&writer.written, __ATOMIC_ACQUIRE) < 1 + round)
			sched_yield();
		check(!pthread_cancel(writer.thread), "pthread_cancel");
		join_thread(writer.thread);
		write_event(id, 2, 0);
		/* One more may be written than the thread lived to tell. */
		for (unsigned int taken = 0; round % 2; taken++) {
			bool last;

			check_ok(rdma_get_cm_event(channel, &event));
			last = event->status == 2;
			check(last ? taken >= writer.written && taken <= writer.written + 1 : event->param.arg == taken,
			      "lost or doubled: event %u", taken);
			check_ok(rdma_ack_cm_event(event));
			if (last)
				break;
		}
		close_pair(channel, id);
	}
	check_kernel_ids(ids_before);
}

struct reader {
	unsigned int taken;
	pthread_t thread;
};

/* Takes events for ever; they must count up. */
static void *run_reader(void *arg)
{
	struct reader *reader = arg;

	for (;;) {
		struct rdma_cm_event *event;

		check_ok(rdma_get_cm_event(channel, &event));
		check(event->param.arg == reader->taken, "event %llu, not %u", (unsigned long long)event->param.arg,
		      reader->taken);
		check_ok(rdma_ack_cm_event(event));
		__atomic_store_n(&reader->taken, reader->taken + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* What a cancelled reader has not told of is still there. */
static void cancelled_reader(void)
{
	enum { EVENTS = 40 };
	int ids_before = count_kernel_ids();

	for (unsigned int round = 0; round < 20; round++) {
		struct reader reader = { 0 };
		struct writer writer;

		open_pair(&channel, &id);
		reader.thread = start_thread(run_reader, &reader);
		start_writer(&writer, id, 1, EVENTS);
		while (__atomic_load_n(&reader.taken, __ATOMIC_ACQUIRE) < round)
			sched_yield();
		check(!pthread_cancel(reader.thread), "pthread_cancel");
		join_thread(reader.thread);
		join_thread(writer.thread);
		for (unsigned int i = reader.taken; i < EVENTS; i++)
			take_event(channel, id, 1, i);
		close_pair(channel, id);
	}
	check_kernel_ids(ids_before);
}

struct drain {
	bool destroyed;
	unsigned int taken;
};

/* Takes what there is until the id is destroyed and for one look more. */
static void *run_drain(void *arg)
{
	struct drain *drain = arg;
	struct rdma_cm_event *event;
	bool destroyed;

	do {
		destroyed = __atomic_load_n(&drain->destroyed, __ATOMIC_ACQUIRE);
		while (!rdma_get_cm_event(channel, &event)) {
			check(!destroyed, "an event of a destroyed id");
			check(event->param.arg == __atomic_fetch_add(&drain->taken, 1, __ATOMIC_RELAXED), "out of order");
			check_ok(rdma_ack_cm_event(event));
		}
		check(errno == EAGAIN, "get: %s", errno_name(errno));
	} while (!destroyed);
	return NULL;
}

static void destroyed_under_a_reader(void)
{
	int ids_before = count_kernel_ids();

	for (unsigned int round = 0; round < 50; round++) {
		struct drain drain = { 0 };
		struct rdma_cm_id *other;
		pthread_t thread;

		open_pair(&channel, &id);
		other = open_id(channel);
		set_nonblocking(channel->fd);
		for (unsigned int i = 0; i < 20; i++)
			write_event(id, 1, i);
		thread = start_thread(run_drain, &drain);
		while (__atomic_load_n(&drain.taken, __ATOMIC_RELAXED) < round % 20)
			sched_yield();
		check_ok(rdma_destroy_id(id));
		__atomic_store_n(&drain.destroyed, true, __ATOMIC_RELEASE);
		join_thread(thread);
		id = other;
		close_pair(channel, id);
	}
	check_kernel_ids(ids_before);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		SLOW_TEST(many_channels, 60),
		SLOW_TEST(edge_triggered, 60),
		TEST(cancelled_writer),
		TEST(cancelled_reader),
		TEST(destroyed_under_a_reader),
	};

	return RUN_TESTS(tests, argc, argv);
}
