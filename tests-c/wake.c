/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A user event wakes whoever waits on the channel: in rdma_get_cm_event, poll, epoll, or coming back later. */
#include "helper.h"

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;

static void blocked_thread(void)
{
	struct waiter waiter;

	open_pair(&channel, &id);
	start_waiter(&waiter, channel);
	write_event(id, 5, 6);
	join_thread(waiter.thread);
	check(waiter.ret == 0, "get: %s", errno_name(waiter.error));
	check(waiter.event->event == RDMA_CM_EVENT_USER && waiter.event->id == id, "another event");
	check(waiter.event->status == 5 && waiter.event->param.arg == 6, "values");
	check_ok(rdma_ack_cm_event(waiter.event));
	close_pair(channel, id);
}

/* One event, one thread: of several waiting threads exactly one takes it. */
static void one_of_several(void)
{
	enum { THREADS = 4 };
	struct waiter waiters[THREADS];
	bool seen[THREADS] = { false };

	open_pair(&channel, &id);
	for (int i = 0; i < THREADS; i++)
		start_waiter(&waiters[i], channel);
	for (unsigned int i = 0; i < THREADS; i++)
		write_event(id, 0, i);
	for (int i = 0; i < THREADS; i++) {
		uint64_t arg;

		join_thread(waiters[i].thread);
		check(waiters[i].ret == 0, "get: %s", errno_name(waiters[i].error));
		arg = waiters[i].event->param.arg;
		check(arg < THREADS && !seen[arg], "event %llu twice", (unsigned long long)arg);
		seen[arg] = true;
		check_ok(rdma_ack_cm_event(waiters[i].event));
	}
	check_empty(channel);
	close_pair(channel, id);
}

static void poll_for_event(void)
{
	struct pollfd ready;

	open_pair(&channel, &id);
	ready = (struct pollfd){ .fd = channel->fd, .events = POLLIN };
	check(poll(&ready, 1, 0) == 0, "ready without an event");
	write_event(id, 0, 1);
	write_event(id, 0, 2);
	check(poll(&ready, 1, 0) == 1 && ready.revents == POLLIN, "revents %#x", (unsigned int)ready.revents);
	take_event(channel, id, 0, 1);
	check(poll(&ready, 1, 0) == 1, "not ready with an event left");
	take_event(channel, id, 0, 2);
	check(poll(&ready, 1, 0) == 0, "still ready");
	close_pair(channel, id);
}

static void *write_one(void *arg)
{
	(void)arg;
	sleep_ms(50);
	write_event(id, 0, 9);
	return NULL;
}

static void poll_from_a_thread(void)
{
	struct pollfd ready;
	pthread_t writer;

	open_pair(&channel, &id);
	ready = (struct pollfd){ .fd = channel->fd, .events = POLLIN };
	writer = start_thread(write_one, NULL);
	check(poll(&ready, 1, -1) == 1, "poll: %m");
	join_thread(writer);
	take_event(channel, id, 0, 9);
	close_pair(channel, id);
}

static int open_epoll(uint32_t events)
{
	struct epoll_event interest = { .events = events };
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	check(epoll >= 0 && !epoll_ctl(epoll, EPOLL_CTL_ADD, channel->fd, &interest), "epoll: %m");
	return epoll;
}

static int is_ready(int epoll)
{
	struct epoll_event event;

	return epoll_wait(epoll, &event, 1, 0);
}

static void epoll_level(void)
{
	int epoll;

	open_pair(&channel, &id);
	epoll = open_epoll(EPOLLIN);
	check(is_ready(epoll) == 0, "ready without an event");
	write_event(id, 0, 1);
	check(is_ready(epoll) == 1, "not ready");
	check(is_ready(epoll) == 1, "level not kept");
	take_event(channel, id, 0, 1);
	check(is_ready(epoll) == 0, "still ready");
	close(epoll);
	close_pair(channel, id);
}

static void epoll_edge(void)
{
	int epoll;

	open_pair(&channel, &id);
	epoll = open_epoll(EPOLLIN | EPOLLET);
	write_event(id, 0, 1);
	check(is_ready(epoll) == 1, "no edge");
	check(is_ready(epoll) == 0, "one edge told twice");
	write_event(id, 0, 2);
	check(is_ready(epoll) == 1, "no edge for a second event");
	take_event(channel, id, 0, 1);
	take_event(channel, id, 0, 2);
	check(is_ready(epoll) == 0, "an edge for a read");
	write_event(id, 0, 3);
	check(is_ready(epoll) == 1, "no edge after the channel was empty");
	take_event(channel, id, 0, 3);
	close(epoll);
	close_pair(channel, id);
}

static void nonblocking(void)
{
	struct rdma_cm_event *event;

	open_pair(&channel, &id);
	set_nonblocking(channel->fd);
	check_fails(rdma_get_cm_event(channel, &event), EAGAIN);
	write_event(id, 1, 2);
	take_event(channel, id, 1, 2);
	check_fails(rdma_get_cm_event(channel, &event), EAGAIN);
	close_pair(channel, id);
}

/* What is written is there, also behind other events. */
static void nonblocking_behind_others(void)
{
	struct rdma_cm_event *event;

	open_pair(&channel, &id);
	set_nonblocking(channel->fd);
	for (unsigned int round = 0; round < 100; round++) {
		unsigned int count = 2 + round % 3;

		for (unsigned int i = 0; i < count; i++)
			write_event(id, 0, i);
		for (unsigned int i = 0; i < count; i++)
			take_event(channel, id, 0, i);
		check_fails(rdma_get_cm_event(channel, &event), EAGAIN);
	}
	close_pair(channel, id);
}

static void failure_clears_the_pointer(void)
{
	struct rdma_cm_event stale, *event = &stale;

	open_pair(&channel, &id);
	set_nonblocking(channel->fd);
	check_fails(rdma_get_cm_event(channel, &event), EAGAIN);
	check(!event, "the pointer is left as it was");
	check_fails(rdma_ack_cm_event(event), EINVAL);
	close_pair(channel, id);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(blocked_thread), TEST(one_of_several), TEST(poll_for_event),
		TEST(poll_from_a_thread), TEST(epoll_level), TEST(epoll_edge),
		TEST(nonblocking), TEST(nonblocking_behind_others), TEST(failure_clears_the_pointer),
	};

	return RUN_TESTS(tests, argc, argv);
}
