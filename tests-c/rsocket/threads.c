/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Many threads: none is woken for another's sake, they end sockets from all sides, and leave nothing behind. */
#include "sockets.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CROWD = 32, TRIPS = 200, IDLE_MS = 1500, MOST_WAKE_UPS = 3, ENDS = 30, GENERATIONS = 300, CYCLES = 100,
       GROWTH_KB = 256,
       FEW_BYTES = 4096, LEAVING_MS = 3000 };

/* How often a thread of this process has gone to sleep. */
static long sleeps_of(int tid)
{
	char path[64], line[128];
	long count = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	file = fopen(path, "r");
	check(file, "%s: %m", path);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "voluntary_ctxt_switches: %ld", &count) == 1)
			break;
	fclose(file);
	check(count >= 0, "no count in %s", path);
	return count;
}

struct sleeper {
	struct connection connection;
	pthread_t thread;
	_Atomic int tid;
};

static void *poll_own(void *arg)
{
	struct sleeper *sleeper = arg;

	sleeper->tid = gettid();
	check(poll_one(sleeper->connection.server, POLLIN, -1) == POLLIN, "no data");
	return NULL;
}

static void *answer(void *arg)
{
	struct connection *busy = arg;
	char byte;

	for (int trip = 0; trip < TRIPS; trip++) {
		check(poll_one(busy->server, POLLIN, -1) == POLLIN, "no data");
		receive_all(busy->server, &byte, 1);
		send_all(busy->server, &byte, 1);
	}
	return NULL;
}

/* Whatever others do, and however long it takes, who waits for a socket sleeps until something is there. */
static void no_foreign_wake_ups(void)
{
	static struct sleeper sleepers[CROWD];
	struct connection busy = open_connection();
	long before[CROWD];
	pthread_t server;
	char byte = 'x';

	for (int i = 0; i < CROWD; i++) {
		sleepers[i].connection = open_connection();
		sleepers[i].thread = start_thread(poll_own, &sleepers[i]);
	}
	sleep_ms(500);
	for (int i = 0; i < CROWD; i++)
		before[i] = sleeps_of(sleepers[i].tid);
	server = start_thread(answer, &busy);
	for (int trip = 0; trip < TRIPS; trip++) {
		send_all(busy.client, &byte, 1);
		check(poll_one(busy.client, POLLIN, -1) == POLLIN, "no data");
		receive_all(busy.client, &byte, 1);
	}
	join_thread(server);
	sleep_ms(IDLE_MS);
	for (int i = 0; i < CROWD; i++) {
		long woken = sleeps_of(sleepers[i].tid) - before[i];

		check(woken <= MOST_WAKE_UPS, "thread %d was woken %ld times", i, woken);
	}
	for (int i = 0; i < CROWD; i++) {
		send_all(sleepers[i].connection.client, &byte, 1);
		join_thread(sleepers[i].thread);
		close_connection(&sleepers[i].connection);
	}
	close_connection(&busy);
}

static void *send_to_the_end(void *arg)
{
	static const char bytes[5000];
	int *socket = arg;

	while (sockets()->send(*socket, bytes, sizeof(bytes), MSG_NOSIGNAL) > 0)
		;
	check(errno == EPIPE || errno == ECONNRESET, "send: %m");
	return NULL;
}

static void *receive_to_the_end(void *arg)
{
	static __thread char bytes[5000];
	int *socket = arg;
	ssize_t length;

	while ((length = sockets()->recv(*socket, bytes, sizeof(bytes), 0)) > 0)
		;
	check(!length || errno == ECONNRESET, "recv: %m");
	return NULL;
}

static void *shut(int socket, int how)
{
	/* The peer may have ended it all before. */
	check(!sockets()->shutdown(socket, how) || errno == ENOTCONN, "shutdown: %m");
	return NULL;
}

static void *end_sending(void *arg)
{
	return shut(*(int *)arg, SHUT_WR);
}

static void *end_receiving(void *arg)
{
	return shut(*(int *)arg, SHUT_RD);
}

/* No end is lost, whoever else changes the socket at that moment: everybody learns of it. */
static void ends_from_all_sides(void)
{
	for (int round = 0; round < ENDS; round++) {
		struct connection connection = open_connection();
		pthread_t threads[] = {
			start_thread(send_to_the_end, &connection.client),
			start_thread(send_to_the_end, &connection.server),
			start_thread(receive_to_the_end, &connection.client),
			start_thread(receive_to_the_end, &connection.server),
			start_thread(end_sending, &connection.client),
			start_thread(end_sending, &connection.server),
			start_thread(end_receiving, &connection.client),
		};

		for (int i = 0; i < 7; i++)
			check(thread_ends(threads[i], 10000), "thread %d does not end", i);
		close_connection(&connection);
	}
}

static void *poll_once(void *arg)
{
	struct pollfd *fds = arg, own[CROWD];

	memcpy(own, fds, sizeof(own));
	check(!sockets()->poll(own, CROWD, 1), "something");
	return NULL;
}

/* Of threads that have waited nothing is left when they end. */
static void threads_that_come_and_go(void)
{
	struct connection connection = open_connection();
	struct pollfd fds[CROWD];
	int descriptors = 0;
	long memory = 0;

	for (int i = 0; i < CROWD; i++)
		fds[i] = (struct pollfd){ .fd = connection.client, .events = POLLIN };
	for (int i = 0; i < GENERATIONS; i++) {
		join_thread(start_thread(poll_once, fds));
		if (i == GENERATIONS / 10) {
			descriptors = count_fds(NULL);
			memory = resident_kb();
		}
	}
	check(count_fds(NULL) == descriptors, "%+d descriptors", count_fds(NULL) - descriptors);
	check(resident_kb() <= memory + GROWTH_KB, "the memory grew from %ld to %ld kB", memory, resident_kb());
	close_connection(&connection);
}

/* With no other socket in between, each connection is the last. */
static void last_of_all(void)
{
	int descriptors = 0, threads = 0;
	size_t used = 0;

	for (int i = 0; i < CYCLES; i++) {
		struct connection connection = open_connection();

		close_connection(&connection);
		if (i == CYCLES / 5) {
			descriptors = count_fds(NULL);
			threads = count_threads();
			used = mallinfo2().uordblks;
		}
	}
	/* A device without users is closed a moment later, by a thread. */
	for (uint64_t end = now_ms() + LEAVING_MS * time_scale();
	     now_ms() < end && (count_threads() > threads || count_fds(NULL) > descriptors ||
				mallinfo2().uordblks > used + FEW_BYTES);)
		sleep_ms(100);
	check(count_fds(NULL) <= descriptors, "%+d descriptors", count_fds(NULL) - descriptors);
	check(count_threads() <= threads, "%+d threads", count_threads() - threads);
	check(mallinfo2().uordblks <= used + FEW_BYTES, "%zu bytes after %zu", mallinfo2().uordblks, used);
}

static const struct test tests[] = {
	SLOW_TEST(no_foreign_wake_ups, 120),
	SLOW_TEST(ends_from_all_sides, 120),
	TEST(threads_that_come_and_go),
	SLOW_TEST(last_of_all, 240),
};

int main(int argc, char **argv)
{
	return RUN_TESTS(tests, argc, argv);
}
