/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rules of epoll(7), which hold for sets of sockets of either kind. */
#include "sets.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static char in[1000];

static void level(void)
{
	struct connection connection = open_connection();
	int set = open_set();

	add(set, connection.client, EPOLLIN);
	check_nothing(set, 0);
	send_all(connection.server, "xy", 2);
	check_one(set, connection.client, EPOLLIN);
	check_one(set, connection.client, EPOLLIN);
	receive_all(connection.client, in, 1);
	check_one(set, connection.client, EPOLLIN);
	receive_all(connection.client, in, 1);
	check_nothing(set, 0);
	check_nothing(set, 50);
	modify(set, connection.client, EPOLLIN | EPOLLOUT);
	check_one(set, connection.client, EPOLLOUT);
	send_all(connection.server, "x", 1);
	wait_for(set, connection.client, EPOLLIN | EPOLLOUT);
	modify(set, connection.client, 0);
	check_nothing(set, 50);
	close_set(set);
	close_connection(&connection);
}

static void edge(void)
{
	struct connection connection = open_connection();
	int set = open_set();

	add(set, connection.client, EPOLLIN | EPOLLET);
	check_nothing(set, 0);
	send_all(connection.server, "xy", 2);
	check_one(set, connection.client, EPOLLIN);
	check_nothing(set, 50);
	receive_all(connection.client, in, 1);
	check_nothing(set, 50);
	send_all(connection.server, "x", 1);
	check_one(set, connection.client, EPOLLIN);
	check_nothing(set, 50);
	modify(set, connection.client, EPOLLIN | EPOLLET);
	check_one(set, connection.client, EPOLLIN);
	modify(set, connection.client, EPOLLIN | EPOLLOUT | EPOLLET);
	check_one(set, connection.client, EPOLLIN | EPOLLOUT);
	check_nothing(set, 50);
	receive_all(connection.client, in, 2);
	check_nothing(set, 50);
	close_set(set);
	close_connection(&connection);
}

static void one_shot(void)
{
	struct connection connection = open_connection();
	int set = open_set();

	add(set, connection.client, EPOLLIN | EPOLLONESHOT);
	send_all(connection.server, "x", 1);
	check_one(set, connection.client, EPOLLIN);
	check_nothing(set, 50);
	send_all(connection.server, "x", 1);
	check_nothing(set, 50);
	modify(set, connection.client, EPOLLIN | EPOLLONESHOT);
	check_one(set, connection.client, EPOLLIN);
	receive_all(connection.client, in, 2);
	modify(set, connection.client, EPOLLIN | EPOLLONESHOT);
	check_nothing(set, 50);
	send_all(connection.server, "x", 1);
	check_one(set, connection.client, EPOLLIN);
	close_set(set);
	close_connection(&connection);
}

/* Sets that share a socket are told each what they asked for. */
static void two_sets(void)
{
	struct connection connection = open_connection();
	int one = open_set(), other = open_set(), writing = open_set();

	add(one, connection.client, EPOLLIN);
	add(other, connection.client, EPOLLIN | EPOLLET);
	add(writing, connection.client, EPOLLOUT);
	send_all(connection.server, "x", 1);
	check_one(other, connection.client, EPOLLIN);
	check_one(one, connection.client, EPOLLIN);
	check_one(writing, connection.client, EPOLLOUT);
	check_nothing(other, 0);
	close_set(one);
	send_all(connection.server, "x", 1);
	check_one(other, connection.client, EPOLLIN);
	close_set(writing);
	close_set(other);
	receive_all(connection.client, in, 2);
	close_connection(&connection);
}

struct waiter {
	int set, told;
	struct epoll_event event;
};

static void *wait_in_set(void *arg)
{
	struct waiter *waiter = arg;

	waiter->told = sockets()->epoll_wait(waiter->set, &waiter->event, 1, 1500);
	return NULL;
}

enum { SETS = 4 };

/* How many of the threads, each waiting in a set of its own, one event wakes. */
static int told_of_one_event(void)
{
	struct connection connection = open_connection();
	struct epoll_event event = { .events = EPOLLIN | EPOLLEXCLUSIVE };
	struct waiter waiters[SETS];
	pthread_t threads[SETS];
	int told = 0;

	for (int i = 0; i < SETS; i++) {
		waiters[i].set = open_set();
		check_ok(sockets()->epoll_ctl(waiters[i].set, EPOLL_CTL_ADD, connection.client, &event));
		threads[i] = start_thread(wait_in_set, &waiters[i]);
	}
	sleep_ms(300);
	send_all(connection.server, "x", 1);
	for (int i = 0; i < SETS; i++) {
		join_thread(threads[i]);
		told += waiters[i].told;
		check_fails(sockets()->epoll_ctl(waiters[i].set, EPOLL_CTL_MOD, connection.client, &event), EINVAL);
		close_set(waiters[i].set);
	}
	close_connection(&connection);
	check(told >= 1, "nobody was told");
	return told;
}

/* One is told, and mostly no more. A thread that begins to wait only now, on a busy machine, finds the event too. */
static void exclusive(void)
{
	for (int rounds = 0; rounds < 6; rounds++)
		if (told_of_one_event() < SETS)
			return;
	fail("all are told every time");
}

/* Every thread that waits in the same set gets work, and each event goes to one. */
static void *work(void *arg)
{
	struct waiter *waiter = arg;
	struct epoll_event event;

	while (sockets()->epoll_wait(waiter->set, &event, 1, 2000) == 1) {
		char data[10];
		ssize_t received = sockets()->recv(event.data.fd, data, sizeof(data), MSG_DONTWAIT);

		check(received > 0, "recv is %zd, %m", received);
		__atomic_add_fetch(&waiter->told, received, __ATOMIC_SEQ_CST);
		modify(waiter->set, event.data.fd, EPOLLIN | EPOLLONESHOT);
	}
	return NULL;
}

static void many_threads(void)
{
	enum { THREADS = 6, CONNECTIONS = 5, ROUNDS = 60 };
	struct connection connections[CONNECTIONS];
	struct waiter waiter = { .set = open_set() };
	pthread_t threads[THREADS];

	for (int i = 0; i < CONNECTIONS; i++) {
		connections[i] = open_connection();
		add(waiter.set, connections[i].client, EPOLLIN | EPOLLONESHOT);
	}
	for (int i = 0; i < THREADS; i++)
		threads[i] = start_thread(work, &waiter);
	for (int round = 0; round < ROUNDS; round++)
		send_all(connections[round % CONNECTIONS].server, "xyz", 3);
	for (int i = 0; i < THREADS; i++)
		join_thread(threads[i]);
	check(waiter.told == 3 * ROUNDS, "%d bytes of %d", waiter.told, 3 * ROUNDS);
	close_set(waiter.set);
	for (int i = 0; i < CONNECTIONS; i++)
		close_connection(&connections[i]);
}

static void nested(void)
{
	struct connection connection = open_connection();
	int outer = open_set(), inner = open_set();

	add(inner, connection.client, EPOLLIN);
	add(outer, inner, EPOLLIN);
	check_nothing(outer, 0);
	send_all(connection.server, "x", 1);
	check_one(outer, inner, EPOLLIN);
	check_one(inner, connection.client, EPOLLIN);
	check_one(outer, inner, EPOLLIN);
	receive_all(connection.client, in, 1);
	check_nothing(inner, 0);
	check_nothing(outer, 0);
	check_fails(sockets()->epoll_ctl(inner, EPOLL_CTL_ADD, outer, &(struct epoll_event){ 0 }), ELOOP);
	close_set(inner);
	check_nothing(outer, 0);
	close_set(outer);
	close_connection(&connection);
}

static void no_room(void)
{
	struct connection connection = open_connection();
	size_t sent = 0;
	ssize_t last;
	int set = open_set();

	set_blocking(connection.server, false);
	add(set, connection.server, EPOLLOUT | EPOLLET);
	check_one(set, connection.server, EPOLLOUT);
	while ((last = sockets()->send(connection.server, in, sizeof(in), MSG_NOSIGNAL)) > 0)
		sent += last;
	check(errno == EAGAIN, "send: %m");
	check_nothing(set, 50);
	while (sent) {
		char out[4096];
		size_t most = sent < sizeof(out) ? sent : sizeof(out);

		receive_all(connection.client, out, most);
		sent -= most;
	}
	wait_for(set, connection.server, EPOLLOUT);
	close_set(set);
	close_connection(&connection);
}

static void *read_one(void *arg)
{
	receive_all(*(int *)arg, in, 1);
	return NULL;
}

/* A thread that waits in the socket takes the events; one that waits in the set is told nevertheless. */
static void reader_besides(void)
{
	struct connection connection = open_connection();
	int set = open_set();

	add(set, connection.client, EPOLLIN);
	for (int round = 0; round < 20; round++) {
		pthread_t thread = start_thread(read_one, &connection.client);

		sleep_ms(round % 4 * 5);
		send_all(connection.server, "xy", 2);
		join_thread(thread);
		check_one(set, connection.client, EPOLLIN);
		receive_all(connection.client, in, 1);
		check_nothing(set, 0);
	}
	close_set(set);
	close_connection(&connection);
}

static void ignore(int signal)
{
	(void)signal;
}

static void interrupted(void)
{
	struct connection connection = open_connection();
	struct sigaction action = { .sa_handler = ignore };
	struct epoll_event event;
	int set = open_set();

	add(set, connection.client, EPOLLIN);
	check_ok(sigaction(SIGALRM, &action, NULL));
	/* The limit of the case is a signal's too. */
	ualarm(200000, 200000);
	check_fails(sockets()->epoll_wait(set, &event, 1, -1), EINTR);
	ualarm(0, 0);
	close_set(set);
	close_connection(&connection);
}

static void time_limit(void)
{
	struct connection connection = open_connection();
	int set = open_set();

	add(set, connection.client, EPOLLIN);
	for (int ms = 0; ms <= 600; ms += 300) {
		uint64_t start = now_ms(), took;

		check_nothing(set, ms);
		took = now_ms() - start;
		check(took + 5 >= (uint64_t)ms, "%u ms instead of %d", (unsigned int)took, ms);
	}
	close_set(set);
	close_connection(&connection);
}

/* Nobody is left out if there is little room for events. */
static void turns(void)
{
	enum { COUNT = 5 };
	struct connection connections[COUNT];
	int set = open_set(), told[COUNT] = { 0 };

	for (int i = 0; i < COUNT; i++) {
		connections[i] = open_connection();
		add(set, connections[i].client, EPOLLIN);
		send_all(connections[i].server, "x", 1);
		check_one(set, connections[i].client, EPOLLIN);
		modify(set, connections[i].client, 0);
	}
	for (int i = 0; i < COUNT; i++)
		modify(set, connections[i].client, EPOLLIN);
	for (int i = 0; i < 4 * COUNT; i++) {
		struct epoll_event event;

		check(sockets()->epoll_wait(set, &event, 1, 1000) == 1, "nothing");
		for (int j = 0; j < COUNT; j++)
			told[j] += event.data.fd == connections[j].client;
	}
	for (int i = 0; i < COUNT; i++) {
		check(told[i] == 4, "%d of %d were told %d times", i, COUNT, told[i]);
		close_connection(&connections[i]);
	}
	close_set(set);
}

static const struct test tests[] = {
	TEST(level),
	TEST(edge),
	TEST(one_shot),
	TEST(two_sets),
	SLOW_TEST(exclusive, 60),
	SLOW_TEST(many_threads, 60),
	TEST(nested),
	SLOW_TEST(no_room, 60),
	SLOW_TEST(reader_besides, 60),
	TEST(interrupted),
	TEST(time_limit),
	TEST(turns),
};

int main(int argc, char **argv)
{
	return RUN_TESTS(tests, argc, argv);
}
