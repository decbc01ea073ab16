/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Descriptors and memory: which are inherited, how many there may be, and what happens without. */
#include "../helper.h"
#include "sets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Numbers that a table of 16 bits would not have. */
enum { HIGH = 66000, MOST = 70000, LARGE_BUFFER = 4 << 20, SPARE = 1 << 20, WITHOUT_MS = 500 };

static bool is_close_on_exec(int fd)
{
	return fcntl(fd, F_GETFD) & FD_CLOEXEC;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void *receive_one(void *arg)
{
	receive_all(*(int *)arg, &(char){ 0 }, 1);
	return NULL;
}

/* The application's own descriptors as it asked for, and all others. */
static void close_on_exec(void)
{
	struct sockaddr_in address;
	int listener, client, server, set;
	bool before[1024];
	pthread_t threads[2];

	for (int fd = 0; fd < 1024; fd++)
		before[fd] = is_open(fd);
	listener = listening_socket(&address);
	client = sockets()->socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	check_ok(sockets()->connect(client, (struct sockaddr *)&address, sizeof(address)));
	server = sockets()->accept(listener, NULL, NULL);
	check(server >= 0, "accept: %m");
	set = sockets()->epoll_create(EPOLL_CLOEXEC);
	add(set, client, EPOLLIN);
	/* They wait in different ways. */
	for (int i = 0; i < 2; i++)
		threads[i] = start_thread(receive_one, &server);
	sleep_ms(100);
	check(!poll_one(client, POLLIN, 10), "data");
	for (int fd = 0; fd < 1024; fd++)
		if (!before[fd] && is_open(fd) && fd != listener && fd != server)
			check(is_close_on_exec(fd), "descriptor %d is inherited", fd - client);
	check(!is_close_on_exec(listener), "the listener is not inherited");
	check(!is_close_on_exec(server), "the accepted socket is not inherited");
	send_all(client, "xx", 2);
	for (int i = 0; i < 2; i++)
		join_thread(threads[i]);
	check_ok(sockets()->close(set));
	check_ok(sockets()->close(client));
	check_ok(sockets()->close(server));
	check_ok(sockets()->close(listener));
}

static void limit(int resource, rlim_t most)
{
	struct rlimit limit;

	check_ok(getrlimit(resource, &limit));
	limit.rlim_cur = most;
	if (limit.rlim_max < most)
		limit.rlim_max = most;
	if (setrlimit(resource, &limit))
		skip_test("setrlimit: %m");
}

/* As many as the process may have. */
static void high_numbers(void)
{
	struct connection connection;
	int set;

	limit(RLIMIT_NOFILE, MOST);
	while (dup(STDIN_FILENO) < HIGH)
		;
	connection = open_connection();
	check(connection.client > HIGH && connection.server > HIGH, "%d, %d", connection.client, connection.server);
	set = open_set();
	check(set > HIGH, "%d", set);
	add(set, connection.server, EPOLLIN);
	check(poll_one(connection.client, POLLOUT, 1000) == POLLOUT, "no room");
	send_all(connection.client, "x", 1);
	check_one(set, connection.server, EPOLLIN);
	receive_all(connection.server, &(char){ 0 }, 1);
	close_set(set);
	close_connection(&connection);
}

static long virtual_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;

	check(file && fscanf(file, "%ld", &pages) == 1, "statm: %m");
	fclose(file);
	return pages * sysconf(_SC_PAGESIZE);
}

static void *accept_one(void *arg)
{
	int server = sockets()->accept(*(int *)arg, NULL, NULL);

	check(server >= 0, "accept: %m");
	check_ok(sockets()->close(server));
	return NULL;
}

/* A request that there is no memory for waits until there is some, and leaves nothing behind. */
static void request_without_memory(void)
{
	struct sockaddr_in address;
	int listener = listening_socket(&address), status;
	int ends[2], ids;
	pthread_t acceptor;
	pid_t child;

	check_ok(pipe(ends));
	child = fork();
	check(child >= 0, "fork: %m");
	if (!child) {
		int client;
		char byte;

		check(read(ends[0], &byte, 1) == 1, "read: %m");
		client = sockets()->socket(AF_INET, SOCK_STREAM, 0);
		check_ok(sockets()->connect(client, (struct sockaddr *)&address, sizeof(address)));
		check(sockets()->recv(client, &byte, 1, 0) == 0, "no end: %m");
		check_ok(sockets()->close(client));
		_exit(EXIT_SUCCESS);
	}
	set_int(listener, SOL_SOCKET, SO_RCVBUF, LARGE_BUFFER);
	ids = count_kernel_ids();
	acceptor = start_thread(accept_one, &listener);
	sleep_ms(WITHOUT_MS);
	limit(RLIMIT_AS, virtual_bytes() + SPARE);
	check(write(ends[1], "x", 1) == 1, "write: %m");
	check(!thread_ends(acceptor, WITHOUT_MS), "there was memory");
	limit(RLIMIT_AS, RLIM_INFINITY);
	join_thread(acceptor);
	check(waitpid(child, &status, 0) == child && !status, "status %#x", status);
	check(count_kernel_ids() == ids, "%d ids, not %d", count_kernel_ids(), ids);
	check_ok(sockets()->close(listener));
}

static const struct test tests[] = {
	TEST(close_on_exec),
	SLOW_TEST(high_numbers, 60),
	TEST(request_without_memory),
};

int main(int argc, char **argv)
{
	return RUN_TESTS(tests, argc, argv);
}
