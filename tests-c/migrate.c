/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rdma_migrate_id: undelivered user events go along, in order. */
#include "helper.h"

static struct rdma_event_channel *first, *second;
static struct rdma_cm_id *id;

static void open_all(void)
{
	first = open_channel();
	second = open_channel();
	id = open_id(first);
}

static void close_all(void)
{
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(first);
	rdma_destroy_event_channel(second);
}

static void pending_events_follow(void)
{
	struct rdma_cm_id *stays;

	open_all();
	stays = open_id(first);
	for (unsigned int i = 0; i < 6; i++)
		write_event(i % 2 ? stays : id, 0, i);
	check_ok(rdma_migrate_id(id, second));
	check(id->channel == second, "id->channel");
	for (unsigned int i = 0; i < 6; i += 2)
		take_event(second, id, 0, i);
	for (unsigned int i = 1; i < 6; i += 2)
		take_event(first, stays, 0, i);
	check_empty(first);
	check_empty(second);
	check_ok(rdma_destroy_id(stays));
	close_all();
}

static void new_events_go_to_the_new_channel(void)
{
	struct waiter waiter;

	open_all();
	check_ok(rdma_migrate_id(id, second));
	start_waiter(&waiter, second);
	write_event(id, 1, 2);
	join_thread(waiter.thread);
	check(waiter.ret == 0 && waiter.event->status == 1 && waiter.event->param.arg == 2, "another event");
	check_ok(rdma_ack_cm_event(waiter.event));
	check_empty(first);
	close_all();
}

/* The events that were there first stay first. */
static void behind_the_events_of_the_new_channel(void)
{
	struct rdma_cm_id *resident;

	open_all();
	resident = open_id(second);
	write_event(id, 0, 1);
	write_event(resident, 0, 2);
	check_ok(rdma_migrate_id(id, second));
	write_event(id, 0, 3);
	take_event(second, resident, 0, 2);
	take_event(second, id, 0, 1);
	take_event(second, id, 0, 3);
	check_ok(rdma_destroy_id(resident));
	close_all();
}

static void there_and_back(void)
{
	open_all();
	write_event(id, 0, 1);
	check_ok(rdma_migrate_id(id, second));
	write_event(id, 0, 2);
	check_ok(rdma_migrate_id(id, first));
	write_event(id, 0, 3);
	for (unsigned int i = 1; i <= 3; i++)
		take_event(first, id, 0, i);
	check_empty(second);
	close_all();
}

static void same_channel(void)
{
	open_all();
	write_event(id, 0, 1);
	check_ok(rdma_migrate_id(id, first));
	take_event(first, id, 0, 1);
	close_all();
}

/* Without a channel of the caller the id gets one of its own, and gives it back. */
static void to_synchronous_and_back(void)
{
	int fds;

	open_all();
	fds = count_fds(NULL);
	write_event(id, 0, 1);
	check_ok(rdma_migrate_id(id, NULL));
	check(id->channel && id->channel != first, "id->channel");
	take_event(id->channel, id, 0, 1);
	write_event(id, 0, 2);
	check_ok(rdma_migrate_id(id, second));
	take_event(second, id, 0, 2);
	check(count_fds(NULL) == fds, "its channel is still open");
	close_all();
}

static void synchronous_to_synchronous(void)
{
	check_ok(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	check_fails(rdma_migrate_id(id, NULL), EINVAL);
	check_ok(rdma_destroy_id(id));
}

/* As with rdma_destroy_id: nobody but the caller could acknowledge. */
static void held_by_the_caller(void)
{
	struct rdma_cm_event *event;

	open_all();
	write_event(id, 0, 1);
	write_event(id, 0, 2);
	event = get_event(first, id, 0, 1);
	check_ok(rdma_migrate_id(id, second));
	check_ok(rdma_ack_cm_event(event));
	take_event(second, id, 0, 2);
	close_all();
}

static void *migrate(void *arg)
{
	check_ok(rdma_migrate_id(id, second));
	__atomic_store_n((bool *)arg, true, __ATOMIC_RELEASE);
	return NULL;
}

/* After the call no event of the id is handled as one of the old channel any more. */
static void held_by_another_thread(void)
{
	struct rdma_cm_event *event;
	pthread_t thread;
	bool done = false;

	open_all();
	write_event(id, 0, 1);
	event = get_event(first, id, 0, 1);
	thread = start_thread(migrate, &done);
	sleep_ms(200);
	check(!__atomic_load_n(&done, __ATOMIC_ACQUIRE), "migrated before the acknowledgement");
	check_ok(rdma_ack_cm_event(event));
	join_thread(thread);
	write_event(id, 0, 2);
	take_event(second, id, 0, 2);
	close_all();
}

static void *go_there_and_back(void *traveller)
{
	struct rdma_cm_id *other = traveller;

	for (unsigned long i = 0; i < number_from_env("TEST_ROUNDS", 200); i++) {
		check_ok(rdma_migrate_id(other, first));
		check_ok(rdma_migrate_id(other, second));
	}
	return NULL;
}

/* Each has an event that goes along. */
static void in_opposite_directions(void)
{
	struct rdma_cm_id *other;
	pthread_t thread;

	open_all();
	other = open_id(second);
	write_event(id, 0, 1);
	write_event(other, 0, 2);
	thread = start_thread(go_there_and_back, other);
	for (unsigned long i = 0; i < number_from_env("TEST_ROUNDS", 200); i++) {
		check_ok(rdma_migrate_id(id, second));
		check_ok(rdma_migrate_id(id, first));
	}
	join_thread(thread);
	take_event(first, id, 0, 1);
	take_event(second, other, 0, 2);
	check_ok(rdma_destroy_id(other));
	close_all();
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(pending_events_follow),
		TEST(new_events_go_to_the_new_channel),
		TEST(behind_the_events_of_the_new_channel),
		TEST(there_and_back),
		TEST(same_channel),
		TEST(to_synchronous_and_back),
		TEST(synchronous_to_synchronous),
		SLOW_TEST(held_by_the_caller, 5),
		TEST(held_by_another_thread),
		TEST(in_opposite_directions),
	};

	return RUN_TESTS(tests, argc, argv);
}
