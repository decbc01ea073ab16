/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kernels that number ids high, forget the library's numbers, or answer what they were not asked. Only on the simulator. */
#include "../script.h"
#include "connection.h"

#include <infiniband/ib.h>
#include <stdatomic.h>

enum { HIGH = 70000, LOW = 0 };

/* Old kernels do not know the library's number of an id yet when its connection stands before its acceptance returns. */
static void established_without_a_number(uint32_t from)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;

	script("ids from %u", from);
	open_pair(&channel, &id);
	script("inject event 9 uid 0");
	check(!pass_event(channel, RDMA_CM_EVENT_ESTABLISHED, id), "status");
	close_pair(channel, id);
}

static void established_id_of_a_low_number(void)
{
	established_without_a_number(LOW);
}

static void established_id_of_a_high_number(void)
{
	established_without_a_number(HIGH);
}

/* Whatever else is said of such an id has no meaning, and nothing waits for its acknowledgement. */
static void meaningless_event(uint32_t from)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;

	script("ids from %u", from);
	open_pair(&channel, &id);
	script("inject event 7 uid 0");
	script("inject event 9");
	check(!pass_event(channel, RDMA_CM_EVENT_ESTABLISHED, id), "status");
	close_pair(channel, id);
}

static void other_event_of_a_low_number(void)
{
	meaningless_event(LOW);
}

static void other_event_of_a_high_number(void)
{
	meaningless_event(HIGH);
}

static void *make_ids(void *arg)
{
	struct rdma_event_channel *channel = open_channel();
	atomic_bool *over = arg;

	while (!*over) {
		struct rdma_cm_id *ids[3];

		for (int i = 0; i < 3; i++)
			ids[i] = open_id(channel);
		for (int i = 0; i < 3; i++)
			check_ok(rdma_destroy_id(ids[i]));
	}
	rdma_destroy_event_channel(channel);
	return NULL;
}

/* Numbers are given out again at once, and an id is still found by its own. */
static void while_ids_come_and_go(void)
{
	enum { THREADS = 4 };
	unsigned long rounds = number_from_env("TEST_ROUNDS", 100);
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	pthread_t threads[THREADS];
	atomic_bool over = false;

	script("ids from %u", HIGH);
	open_pair(&channel, &id);
	script("after listen every inject event 9 uid 0 id %u", HIGH);
	for (int i = 0; i < THREADS; i++)
		threads[i] = start_thread(make_ids, &over);
	for (unsigned long i = 0; i < rounds; i++) {
		struct rdma_cm_id *listener = open_id(channel);

		check_ok(rdma_listen(listener, 1));
		check(!pass_event(channel, RDMA_CM_EVENT_ESTABLISHED, id), "status");
		check_ok(rdma_destroy_id(listener));
	}
	over = true;
	for (int i = 0; i < THREADS; i++)
		join_thread(threads[i]);
	close_pair(channel, id);
}

/* An address that only kernels with AF_IB take, and that needs no device. */
static void bind_without_device(struct rdma_event_channel *channel)
{
	struct sockaddr_ib address = { .sib_family = AF_IB };
	struct rdma_cm_id *id = open_id_of(channel, RDMA_PS_IB);

	address.sib_sid = htobe64(RDMA_IB_IP_PS_TCP);
	address.sib_sid_mask = htobe64(RDMA_IB_IP_PS_MASK);
	check_ok(rdma_bind_addr(id, (struct sockaddr *)&address));
	check_ok(rdma_destroy_id(id));
}

/* The library asks the kernel what it can do, and the answer names a device. */
static void probe_that_gets_a_device(void)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;

	/* Number and port of the fabric's first device. */
	script("answer query 1 at 0 020099000000000101");
	channel = open_channel();
	bind_without_device(channel);
	id = open_bound_id(channel);
	close_pair(channel, id);
}

static void *begin(void *arg)
{
	struct rdma_event_channel *channel = open_channel();

	(void)arg;
	bind_without_device(channel);
	rdma_destroy_event_channel(channel);
	return NULL;
}

/* All threads are told the same of a kernel that takes its time to answer the first. */
static void many_that_begin_at_once(void)
{
	enum { THREADS = 64 };
	pthread_t threads[THREADS];

	script("delay bind 1 ms 300");
	for (int i = 0; i < THREADS; i++)
		threads[i] = start_thread(begin, NULL);
	for (int i = 0; i < THREADS; i++)
		join_thread(threads[i]);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(established_id_of_a_low_number),
		TEST(established_id_of_a_high_number),
		TEST(other_event_of_a_low_number),
		TEST(other_event_of_a_high_number),
		TEST(probe_that_gets_a_device, .needs = "af_ib"),
		TEST(many_that_begin_at_once, .needs = "af_ib"),
		/* For the rest of the fabric's life. */
		TEST(while_ids_come_and_go),
	};

	return RUN_TESTS(tests, argc, argv);
}
