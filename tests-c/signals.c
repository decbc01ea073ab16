/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Signals while a thread waits for events: it is interrupted or goes on as the handler says, and nothing is lost. */
#include "helper.h"

#include <signal.h>

static void ignore_signal(int number)
{
	(void)number;
}

static void handle_signal(int flags)
{
	struct sigaction action = { .sa_handler = ignore_signal, .sa_flags = flags };

	check_ok(sigaction(SIGUSR1, &action, NULL));
}

static void interrupted(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct waiter waiter;

	handle_signal(0);
	start_waiter(&waiter, channel);
	check(!pthread_kill(waiter.thread, SIGUSR1), "pthread_kill");
	join_thread(waiter.thread);
	check(waiter.ret == -1 && waiter.error == EINTR, "get is %d, errno %s", waiter.ret,
	      errno_name(waiter.error));
	rdma_destroy_event_channel(channel);
}

static void restarted(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_id(channel);
	struct waiter waiter;

	handle_signal(SA_RESTART);
	start_waiter(&waiter, channel);
	check(!pthread_kill(waiter.thread, SIGUSR1), "pthread_kill");
	check(!thread_ends(waiter.thread, 50), "get returned %d, errno %s", waiter.ret, errno_name(waiter.error));
	write_event(id, 1, 2);
	join_thread(waiter.thread);
	check(waiter.ret == 0 && waiter.event->param.arg == 2, "get: %s", errno_name(waiter.error));
	check_ok(rdma_ack_cm_event(waiter.event));
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

struct storm {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	uint64_t events;
	bool restarts;
	bool done;
};

static void *read_in_order(void *arg)
{
	struct storm *storm = arg;

	for (uint64_t next = 0; next < storm->events;) {
		struct rdma_cm_event *event;

		if (rdma_get_cm_event(storm->channel, &event)) {
			check(errno == EINTR && !storm->restarts, "get: %s", errno_name(errno));
			continue;
		}
		check(event->id == storm->id && event->param.arg == next, "event %llu comes after %llu",
		      (unsigned long long)event->param.arg, (unsigned long long)next);
		check_ok(rdma_ack_cm_event(event));
		next++;
	}
	__atomic_store_n(&storm->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static void *write_in_order(void *arg)
{
	struct storm *storm = arg;

	for (uint64_t i = 0; i < storm->events; i++)
		write_event(storm->id, 0, i);
	return NULL;
}

static void run_storm(int flags)
{
	struct rdma_event_channel *channel = open_channel();
	struct storm storm = { .channel = channel, .id = open_id(channel), .restarts = flags & SA_RESTART,
			       .events = number_from_env("TEST_EVENTS", 100000) / 20 };
	pthread_t reader, writer;

	handle_signal(flags);
	reader = start_thread(read_in_order, &storm);
	writer = start_thread(write_in_order, &storm);
	/* The threads stay joinable until the end, so they can be signalled until then. */
	while (!__atomic_load_n(&storm.done, __ATOMIC_ACQUIRE)) {
		check(!pthread_kill(reader, SIGUSR1), "pthread_kill");
		check(!pthread_kill(writer, SIGUSR1), "pthread_kill");
		sched_yield();
	}
	join_thread(reader);
	join_thread(writer);
	check_empty(channel);
	check_ok(rdma_destroy_id(storm.id));
	rdma_destroy_event_channel(channel);
}

static void storm_of_interruptions(void)
{
	run_storm(0);
}

static void storm_of_restarts(void)
{
	run_storm(SA_RESTART);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(interrupted),
		TEST(restarted),
		SLOW_TEST(storm_of_interruptions, 60),
		SLOW_TEST(storm_of_restarts, 60),
	};

	return RUN_TESTS(tests, argc, argv);
}
