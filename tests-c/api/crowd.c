/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Many threads that begin at once, and more ids than 16 bits can number. */
#include "connection.h"

#include <stdlib.h>

enum { THREADS = 64, IDS = 70000 };

static pthread_barrier_t barrier;

/* Whatever is found out and opened once in a process, each thread finds it complete. */
static void *begin(void *unused)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_NUMERICHOST, .ai_port_space = RDMA_PS_TCP }, *list;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;

	(void)unused;
	pthread_barrier_wait(&barrier);
	channel = open_channel();
	id = open_id(channel);
	resolve(id, 7499);
	check(id->verbs && id->pd && id->route.num_paths == 1, "what is resolved");
	check_ok(rdma_getaddrinfo(DEVICE_ADDRESS, NULL, &hints, &list));
	rdma_freeaddrinfo(list);
	create_qp(id);
	rdma_destroy_qp(id);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
	return NULL;
}

static void threads_that_begin_at_once(void)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		threads[i] = start_thread(begin, NULL);
	for (int i = 0; i < THREADS; i++)
		join_thread(threads[i]);
}

static void more_ids_than_16_bits_number(void)
{
	unsigned long count = number_from_env("TEST_IDS", IDS);
	struct rdma_cm_id **ids = calloc(count, sizeof(struct rdma_cm_id *));
	struct rdma_event_channel *channel = open_channel();

	check(ids, "calloc: %m");
	for (unsigned long i = 0; i < count; i++)
		ids[i] = open_id(channel);
	/* Each event finds its own. */
	for (unsigned long i = 0; i < count; i += count / 100)
		write_event(ids[count - 1 - i], 1, i);
	for (unsigned long i = 0; i < count; i += count / 100)
		take_event(channel, ids[count - 1 - i], 1, i);
	check_ok(rdma_bind_addr(ids[count - 1], device_address(AF_INET, 0)));
	for (unsigned long i = 0; i < count; i++)
		check_ok(rdma_destroy_id(ids[i]));
	rdma_destroy_event_channel(channel);
	free(ids);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		SLOW_TEST(threads_that_begin_at_once, 120),
		SLOW_TEST(more_ids_than_16_bits_number, 300),
	};

	return RUN_TESTS(tests, argc, argv);
}
