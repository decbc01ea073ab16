/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rdma_destroy_event_channel: every thread that waits on it gets ECANCELED, soon. */
#include "helper.h"

#include <fcntl.h>

static void check_cancelled(struct waiter *waiter)
{
	check(thread_ends(waiter->thread, 100), "a waiter is still waiting after 100 ms");
	check(waiter->ret == -1 && waiter->error == ECANCELED, "get is %d, errno %s", waiter->ret,
	      errno_name(waiter->error));
	check(!waiter->event, "an event");
}

static void without_waiters(void)
{
	struct rdma_event_channel *channel = open_channel();
	int fd = channel->fd;

	check(fd >= 0, "fd %d", fd);
	rdma_destroy_event_channel(channel);
	check(fcntl(fd, F_GETFD) == -1 && errno == EBADF, "the descriptor is still open");
}

static void closes_on_exec(void)
{
	struct rdma_event_channel *channel = open_channel();

	check(fcntl(channel->fd, F_GETFD) == FD_CLOEXEC, "the descriptor survives an exec");
	rdma_destroy_event_channel(channel);
}

static void four_waiters(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct waiter waiters[4];

	for (int i = 0; i < 4; i++)
		start_waiter(&waiters[i], channel);
	rdma_destroy_event_channel(channel);
	for (int i = 0; i < 4; i++)
		check_cancelled(&waiters[i]);
}

/* Waiters that came and went before do not count. */
static void after_events(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_id(channel);
	struct waiter waiter;

	for (int i = 0; i < 3; i++) {
		start_waiter(&waiter, channel);
		write_event(id, 0, 0);
		join_thread(waiter.thread);
		check_ok(rdma_ack_cm_event(waiter.event));
	}
	start_waiter(&waiter, channel);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
	check_cancelled(&waiter);
}

/* Waiters of another channel are left alone. */
static void other_channel(void)
{
	struct rdma_event_channel *channel = open_channel(), *other = open_channel();
	struct rdma_cm_id *id = open_id(other);
	struct waiter waiter, other_waiter;

	start_waiter(&other_waiter, other);
	start_waiter(&waiter, channel);
	rdma_destroy_event_channel(channel);
	check_cancelled(&waiter);
	check(!thread_ends(other_waiter.thread, 50), "the other channel's waiter returned");
	write_event(id, 0, 0);
	join_thread(other_waiter.thread);
	check(other_waiter.ret == 0, "get: %s", errno_name(other_waiter.error));
	check_ok(rdma_ack_cm_event(other_waiter.event));
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(other);
}

enum { AT_ONCE = 20 };

static void many_rounds(void)
{
	unsigned long rounds = number_from_env("TEST_ROUNDS", 1000);
	int fds = count_fds(NULL);

	/* Each takes its time to return: many at once take no longer. */
	for (unsigned long done = 0; done < rounds; done += AT_ONCE) {
		struct waiter waiters[AT_ONCE];

		for (int i = 0; i < AT_ONCE; i++) {
			struct rdma_event_channel *channel = open_channel();

			start_waiter(&waiters[i], channel);
			rdma_destroy_event_channel(channel);
		}
		for (int i = 0; i < AT_ONCE; i++)
			check_cancelled(&waiters[i]);
	}
	check(count_fds(NULL) == fds, "a descriptor leaks");
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(without_waiters),
		TEST(closes_on_exec),
		SLOW_TEST(four_waiters, 5),
		SLOW_TEST(after_events, 5),
		SLOW_TEST(other_channel, 5),
		SLOW_TEST(many_rounds, 60),
	};

	return RUN_TESTS(tests, argc, argv);
}
