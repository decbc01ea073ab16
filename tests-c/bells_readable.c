/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A channel is readable all the time that a user event waits on it, whatever happens beside it. */
#include "helper.h"

#include <arpa/inet.h>
#include <poll.h>

static struct rdma_event_channel *channel, *other_channel;
static struct rdma_cm_id *id, *other;
static bool over;

static bool is_readable(struct rdma_event_channel *of)
{
	struct pollfd ready = { .fd = of->fd, .events = POLLIN };

	return poll(&ready, 1, 0) == 1;
}

static void *destroy_other(void *arg)
{
	check_ok(rdma_destroy_id(other));
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	return arg;
}

static void *move_other(void *arg)
{
	check_ok(rdma_migrate_id(other, other_channel));
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	return arg;
}

/* Hundreds of events of another id go away before those that are looked at, which have no place in the kernel yet. */
static void look_while(void *(*others_go)(void *))
{
	unsigned int looks = 0, missed = 0;
	pthread_t thread;

	open_pair(&channel, &id);
	other = open_id(channel);
	other_channel = open_channel();
	for (unsigned int i = 0; i < 400; i++)
		write_event(other, 0, i);
	for (unsigned int i = 0; i < 10; i++)
		write_event(id, 1, i);
	thread = start_thread(others_go, NULL);
	do {
		looks++;
		missed += !is_readable(channel);
	} while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE));
	join_thread(thread);
	check(!missed, "%u of %u looks found nothing", missed, looks);
	for (unsigned int i = 0; i < 10; i++)
		take_event(channel, id, 1, i);
	check_empty(channel);
	close_pair(channel, id);
}

static void while_another_is_destroyed(void)
{
	look_while(destroy_other);
	rdma_destroy_event_channel(other_channel);
	check(!count_kernel_ids(), "ids are left in the kernel");
}

static void while_another_moves(void)
{
	look_while(move_other);
	for (unsigned int i = 0; i < 400; i++)
		take_event(other_channel, other, 0, i);
	close_pair(other_channel, other);
	check(!count_kernel_ids(), "ids are left in the kernel");
}

/* The kernel does not give out a port again at once: with two in turns there is one for each write, and no second. */
static void written_with_the_last_port(void)
{
	unsigned int missed = 0;

	open_pair(&channel, &id);
	for (unsigned int i = 0; i < 100; i++) {
		set_port_range(i % 2 ? "40001 40001" : "40002 40002");
		if (rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, i))
			continue;
		missed += !is_readable(channel);
		take_event(channel, id, 0, i);
	}
	set_port_range("32768 60999");
	check(!missed, "%u of 100 events were not there", missed);
	close_pair(channel, id);
	check(!count_kernel_ids(), "ids are left in the kernel");
}

/* What a synchronous call met and put off is there when it returns, and after a move. */
static void put_off(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(7471) };
	unsigned int missed = 0, missed_moved = 0;

	address.sin_addr.s_addr = inet_addr(DEVICE_ADDRESS);
	for (unsigned int round = 0; round < 60; round++) {
		unsigned int count = 1 + round % 3;

		channel = open_channel();
		check_ok(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
		for (unsigned int i = 0; i < count; i++)
			write_event(id, 0, i);
		check_ok(rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 2000));
		missed += !is_readable(id->channel);
		check_ok(rdma_migrate_id(id, channel));
		missed_moved += !is_readable(channel);
		for (unsigned int i = 0; i < count; i++)
			take_event(channel, id, 0, i);
		close_pair(channel, id);
	}
	check(!missed && !missed_moved, "of 60: %u not there after the call, %u after the move", missed, missed_moved);
	check(!count_kernel_ids(), "ids are left in the kernel");
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		SLOW_TEST(while_another_is_destroyed, 40),
		SLOW_TEST(while_another_moves, 40),
		SLOW_TEST(written_with_the_last_port, 40),
		SLOW_TEST(put_off, 40),
	};

	return RUN_TESTS(tests, argc, argv);
}
