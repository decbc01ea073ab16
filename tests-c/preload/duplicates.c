/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Duplicates of a descriptor are the same socket, which ends with the last of them. */
#include "preloaded.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_closed(int number)
{
	return fcntl(number, F_GETFD) < 0 && errno == EBADF;
}

static int by_dup(int number)
{
	return dup(number);
}

static int by_dup2(int number)
{
	return dup2(number, 50);
}

static int by_dup3(int number)
{
	return dup3(number, 51, O_CLOEXEC);
}

static int by_fcntl(int number)
{
	return fcntl(number, F_DUPFD, 60);
}

static int by_fcntl_cloexec(int number)
{
	return fcntl(number, F_DUPFD_CLOEXEC, 70);
}

static int (*const ways[])(int) = { by_dup, by_dup2, by_dup3, by_fcntl, by_fcntl_cloexec };
static const int minima[] = { 0, 50, 51, 60, 70 };
static const bool on_exec[] = { false, false, true, false, true };

#define EACH_WAY (size_t way = 0; way < sizeof(ways) / sizeof(ways[0]); way++)

/* The number that stays works, whichever it is; the peer learns of the end when none is left. */
static void last_close_ends(void)
{
	for EACH_WAY {
		for (int first = 0; first < 2; first++) {
			struct connection connection = open_connection();
			int numbers[] = { connection.client, ways[way](connection.client) };
			char byte;

			check(numbers[1] >= minima[way] && numbers[1] != numbers[0], "number %d", numbers[1]);
			check(fcntl(numbers[1], F_GETFD) == (on_exec[way] ? FD_CLOEXEC : 0), "close on exec");
			check_over_rdma(numbers[1]);
			check_works(numbers[1], connection.server);
			check_ok(close(numbers[first]));
			check(is_closed(numbers[first]), "open after close");
			check_works(numbers[!first], connection.server);
			check(!poll_one(connection.server, POLLIN, 50), "ended");
			check_ok(close(numbers[!first]));
			check(recv(connection.server, &byte, 1, 0) == 0, "not the end");
			check_ok(close(connection.server));
		}
	}
}

static void onto_itself(void)
{
	struct connection connection = open_connection();

	check(dup2(connection.client, connection.client) == connection.client, "dup2: %m");
	check_fails(dup3(connection.client, connection.client, 0), EINVAL);
	check_works(connection.client, connection.server);
	close_connection(&connection);
}

static void onto_another(void)
{
	struct connection one = open_connection(), other = open_connection();
	char byte;

	check(dup2(one.client, other.client) == other.client, "dup2: %m");
	check(recv(other.server, &byte, 1, 0) == 0, "not the end of what was there");
	check_works(other.client, one.server);
	check_ok(close(one.client));
	check_works(other.client, one.server);
	check_ok(close(other.client));
	check_ok(close(one.server));
	check_ok(close(other.server));
}

static void onto_a_file(void)
{
	struct connection connection = open_connection();
	int ends[2];

	check_ok(pipe(ends));
	check(dup2(connection.client, ends[0]) == ends[0], "dup2: %m");
	check_works(ends[0], connection.server);
	/* And the other way round. */
	check(dup2(ends[1], connection.client) == connection.client, "dup2: %m");
	check(fcntl(connection.client, F_GETFL) == O_WRONLY, "not the pipe");
	check_works(ends[0], connection.server);
	check_ok(close(ends[0]));
	check_ok(close(ends[1]));
	close_connection(&connection);
}

static void of_nothing(void)
{
	struct connection connection = open_connection();

	check_fails(dup(1000), EBADF);
	check_fails(dup2(1000, connection.client), EBADF);
	check_works(connection.client, connection.server);
	close_connection(&connection);
	check_fails(close(connection.client), EBADF);
}

static void flags_are_shared(void)
{
	struct connection connection = open_connection();
	int other = dup(connection.client);
	char byte;

	check_ok(fcntl(other, F_SETFL, O_NONBLOCK));
	check(fcntl(connection.client, F_GETFL) & O_NONBLOCK, "not shared");
	check_fails((int)read(connection.client, &byte, 1), EAGAIN);
	check_ok(close(other));
	close_connection(&connection);
}

static void range(void)
{
	struct connection connection = open_connection();
	int low = fcntl(connection.client, F_DUPFD, 100), high = fcntl(connection.client, F_DUPFD, 200);
	char byte;

	check(low == 100 && high == 200, "%d, %d", low, high);
	check_ok(close_range(100, 150, 0));
	check(is_closed(low), "still open");
	check_works(high, connection.server);
	check_ok(close(connection.client));
	check_works(high, connection.server);
	check_ok(close_range(150, 220, 0));
	check(recv(connection.server, &byte, 1, 0) == 0, "not the end");
	check_ok(close(connection.server));
}

/* A child that closes its copies does not end the parent's connection. */
static void child_closes(void)
{
	struct connection connection = open_connection();
	int status;
	pid_t child = fork();

	if (!child) {
		close(connection.client);
		close(connection.server);
		_exit(0);
	}
	check(waitpid(child, &status, 0) == child && !status, "status %d", status);
	check_works(connection.client, connection.server);
	close_connection(&connection);
}

/* One of vfork() has descriptors of its own, but its memory is the parent's. */
static void vforked_child_closes(void)
{
	struct connection connection = open_connection();
	int status;
	pid_t child = vfork();

	if (!child) {
		dup2(connection.client, connection.server);
		close(connection.client);
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	check(waitpid(child, &status, 0) == child && !status, "status %d", status);
	check_works(connection.client, connection.server);
	close_connection(&connection);
}

/* A set that was duplicated before it had the member. */
static void of_a_set(void)
{
	struct connection connection = open_connection();
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = 4711 };
	int set = epoll_create1(0), copy = dup(set);

	check_ok(epoll_ctl(set, EPOLL_CTL_ADD, connection.client, &event));
	check(epoll_wait(copy, &event, 1, 50) == 0, "told");
	send_all(connection.server, "x", 1);
	for (int i = 0; i < 2; i++) {
		event.data.u64 = 0;
		check(epoll_wait(i ? set : copy, &event, 1, 5000) == 1, "not told");
		check(event.events == EPOLLIN && event.data.u64 == 4711, "another word");
	}
	check_ok(close(set));
	check_ok(close(copy));
	close_connection(&connection);
}

/* Both were made one set before either had a member. */
static void of_a_set_with_members(void)
{
	struct connection one = open_connection(), other = open_connection();
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = 1 }, events[4];
	int set = epoll_create1(0), copy = dup(set);

	check_ok(epoll_ctl(set, EPOLL_CTL_ADD, one.client, &event));
	event.data.u64 = 2;
	check_ok(epoll_ctl(copy, EPOLL_CTL_ADD, other.client, &event));
	send_all(one.server, "x", 1);
	send_all(other.server, "x", 1);
	check(poll_one(one.client, POLLIN, 5000) == POLLIN && poll_one(other.client, POLLIN, 5000) == POLLIN, "nothing came");
	check(epoll_wait(set, events, 4, 5000) == 2, "not two events");
	check(events[0].data.u64 + events[1].data.u64 == 3, "other words");
	/* With room for one, it is one of the program's too. */
	check(epoll_wait(copy, events, 1, 5000) == 1, "no event");
	check(events[0].data.u64 == 1 || events[0].data.u64 == 2, "another word");
	check_ok(close(set));
	check_ok(close(copy));
	close_connection(&one);
	close_connection(&other);
}

/* A child cannot use the parent's connection, and is told so instead of waiting for ever. */
static void of_a_set_in_a_child(void)
{
	struct connection connection = open_connection();
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = 4711 };
	int set = epoll_create1(0), status;
	pid_t child;

	check_ok(epoll_ctl(set, EPOLL_CTL_ADD, connection.client, &event));
	send_all(connection.server, "x", 1);
	check(poll_one(connection.client, POLLIN, 5000) == POLLIN, "nothing came");
	child = fork();
	if (!child) {
		alarm(20);
		if (epoll_wait(set, &event, 1, -1) == 1)
			_exit(event.data.u64 == 4711 ? 0 : 1);
		_exit(errno == EPERM && is_preloaded() ? 0 : 2);
	}
	check(waitpid(child, &status, 0) == child && !status, "status %d", status);
	check_ok(close(set));
	close_connection(&connection);
}

static void *duplicate_often(void *arg)
{
	int *socket = arg;

	for (int i = 0; i < 300; i++) {
		int copy = dup(*socket);

		check(copy >= 0, "dup: %m");
		check(fcntl(copy, F_GETFL) >= 0, "fcntl: %m");
		check_ok(close(copy));
	}
	return NULL;
}

static void threads(void)
{
	struct connection connection = open_connection();
	pthread_t running[4];

	for (int i = 0; i < 4; i++)
		running[i] = start_thread(duplicate_often, &connection.client);
	for (int i = 0; i < 50; i++)
		check_works(connection.client, connection.server);
	for (int i = 0; i < 4; i++)
		join_thread(running[i]);
	check_works(connection.client, connection.server);
	close_connection(&connection);
}

/* A program that exits has delivered what it sent, and its peer meets the end. */
static void exit_is_an_end(void)
{
	static unsigned char data[300000];
	struct sockaddr_in address;
	int listener = listening_socket(&address), server, status;
	pid_t child = fork();

	if (!child) {
		int client = socket(AF_INET, SOCK_STREAM, 0);

		check_ok(connect(client, (struct sockaddr *)&address, sizeof(address)));
		fill(data, sizeof(data), 3);
		send_all(client, data, sizeof(data));
		exit(0);
	}
	server = accept(listener, NULL, NULL);
	check(server >= 0, "accept: %m");
	receive_all(server, data, sizeof(data));
	check(is_filled(data, sizeof(data), 3), "other data");
	check(recv(server, data, 1, 0) == 0, "not the end: %m");
	check(waitpid(child, &status, 0) == child && !status, "status %d", status);
	check_ok(close(server));
	check_ok(close(listener));
}

static void *read_byte(void *arg)
{
	int *socket = arg;
	char byte;

	read(*socket, &byte, 1);
	return NULL;
}

/* What a cancelled thread was doing does not keep the connection. */
static void cancelled_reader(void)
{
	struct connection connection = open_connection();
	pthread_t thread = start_thread(read_byte, &connection.client);
	char byte;

	sleep_ms(200);
	check(!pthread_cancel(thread), "pthread_cancel");
	join_thread(thread);
	check_works(connection.client, connection.server);
	check_ok(close(connection.client));
	check(recv(connection.server, &byte, 1, 0) == 0, "not the end");
	check_ok(close(connection.server));
}

static const struct test tests[] = {
	TEST(last_close_ends), TEST(onto_itself), TEST(onto_another), TEST(onto_a_file), TEST(of_nothing),
	TEST(flags_are_shared), TEST(range), TEST(child_closes), TEST(vforked_child_closes), TEST(of_a_set),
	TEST(of_a_set_with_members), TEST(of_a_set_in_a_child), TEST(threads), TEST(exit_is_an_end), TEST(cancelled_reader),
};

int main(int argc, char **argv)
{
	return RUN_PRELOADED(tests, argc, argv);
}
