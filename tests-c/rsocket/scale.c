/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Many sockets: in the queue of a listener, more than a process has descriptors for, and one after the other. */
#include "sockets.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* A limit that programs usually have. */
enum { DESCRIPTORS = 1024, SMALL_BUFFER = 4096, MOST_GROWTH_KB = 512 };

static void limit_descriptors(rlim_t count)
{
	struct rlimit limit;

	check_ok(getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = count;
	check_ok(setrlimit(RLIMIT_NOFILE, &limit));
}

static int small_listener(struct sockaddr_in *address, int backlog)
{
	socklen_t length = sizeof(*address);
	int listener = sockets()->socket(AF_INET, SOCK_STREAM, 0);

	check(listener >= 0, "socket: %m");
	set_int(listener, SOL_SOCKET, SO_RCVBUF, SMALL_BUFFER);
	set_int(listener, SOL_SOCKET, SO_SNDBUF, SMALL_BUFFER);
	*address = (struct sockaddr_in){ .sin_family = AF_INET };
	inet_pton(AF_INET, SOCKETS_ADDRESS, &address->sin_addr);
	check_ok(sockets()->bind(listener, (struct sockaddr *)address, sizeof(*address)));
	check_ok(sockets()->listen(listener, backlog));
	check_ok(sockets()->getsockname(listener, (struct sockaddr *)address, &length));
	return listener;
}

static int begin_to_connect(const struct sockaddr_in *address)
{
	int client = sockets()->socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	check(client >= 0, "socket: %m");
	set_int(client, SOL_SOCKET, SO_RCVBUF, SMALL_BUFFER);
	set_int(client, SOL_SOCKET, SO_SNDBUF, SMALL_BUFFER);
	if (sockets()->connect(client, (const struct sockaddr *)address, sizeof(*address)))
		check(errno == EINPROGRESS, "connect: %m");
	return client;
}

/* Another process with this many clients. Each says its number once it is connected, and waits for the end. */
struct clients {
	pid_t pid;
	int count;
	/* Tells them where to connect to. */
	int tell;
};

static void connect_all(const struct clients *clients, const struct sockaddr_in *address)
{
	int *numbers = calloc(clients->count, sizeof(*numbers)), error;
	char byte;

	limit_descriptors(clients->count + 200);
	for (int i = 0; i < clients->count; i++)
		numbers[i] = begin_to_connect(address);
	for (int i = 0; i < clients->count; i++) {
		check(poll_one(numbers[i], POLLOUT, -1) & POLLOUT, "client %d", i);
		error = get_int(numbers[i], SOL_SOCKET, SO_ERROR);
		check(!error, "client %d: %s", i, errno_name(error));
		check(sockets()->send(numbers[i], &i, sizeof(i), MSG_NOSIGNAL) == sizeof(i), "client %d: %m", i);
	}
	for (int i = 0; i < clients->count; i++) {
		set_blocking(numbers[i], true);
		check(sockets()->recv(numbers[i], &byte, 1, 0) <= 0, "data for client %d", i);
		check_ok(sockets()->close(numbers[i]));
	}
}

/* Before this process uses the library. */
static void start_clients(struct clients *clients)
{
	struct sockaddr_in address;
	int ends[2];

	check_ok(pipe(ends));
	clients->tell = ends[1];
	clients->pid = fork();
	check(clients->pid >= 0, "fork: %m");
	if (clients->pid)
		return;
	check(read(ends[0], &address, sizeof(address)) == sizeof(address), "no address");
	connect_all(clients, &address);
	exit(EXIT_SUCCESS);
}

static void check_clients(const struct clients *clients, bool may_run)
{
	int status;

	if (!waitpid(clients->pid, &status, may_run ? WNOHANG : 0))
		return;
	/* The reason that it gave stands already. */
	if (WIFEXITED(status) && WEXITSTATUS(status))
		_exit(WEXITSTATUS(status));
	check(!status && !may_run, "the clients ended with status %#x", status);
}

/* Fetches them all, and keeps as many at a time as there are descriptors for. */
static void serve_all(int listener, const struct clients *clients)
{
	int *numbers = calloc(DESCRIPTORS, sizeof(*numbers)), held = 0, served = 0;
	bool *seen = calloc(clients->count, sizeof(*seen));

	while (served < clients->count) {
		int number, server = -1;

		if (poll_one(listener, POLLIN, 1000)) {
			server = sockets()->accept(listener, NULL, NULL);
			check(server >= 0 || errno == EMFILE, "accept: %m");
		}
		if (server >= 0) {
			receive_all(server, &number, sizeof(number));
			check(number >= 0 && number < clients->count && !seen[number], "client %d", number);
			seen[number] = true;
			numbers[held++] = server;
			served++;
			continue;
		}
		check_clients(clients, true);
		/* No more come while these are here. */
		for (int i = held >= DESCRIPTORS / 2 ? held : 0; i; i--)
			check_ok(sockets()->close(numbers[--held]));
	}
	for (; held; held--)
		check_ok(sockets()->close(numbers[held - 1]));
	check_clients(clients, false);
}

/* Twice as many as this process can have at a time. */
static void more_clients_than_descriptors(void)
{
	struct clients clients = { .count = (int)number_from_env("TEST_CLIENTS", 2000) };
	struct sockaddr_in address;
	int listener;

	start_clients(&clients);
	limit_descriptors(DESCRIPTORS);
	listener = small_listener(&address, 4096);
	check(write(clients.tell, &address, sizeof(address)) == sizeof(address), "write: %m");
	serve_all(listener, &clients);
	check_ok(sockets()->close(listener));
}

/* Whatever waits for a listener, the other sockets of its process go on. */
static void check_others(void)
{
	struct connection connection = open_connection();
	char byte = 'x';

	send_all(connection.client, &byte, 1);
	receive_all(connection.server, &byte, 1);
	close_connection(&connection);
}

static void pending(int count, int backlog)
{
	struct sockaddr_in address;
	int listener = small_listener(&address, backlog), *clients = calloc(count, sizeof(*clients));
	uint64_t start;

	limit_descriptors(4096);
	for (int i = 0; i < count; i++)
		clients[i] = begin_to_connect(&address);
	check_others();
	/* The first of them can be fetched. */
	for (int i = 0; i < 3; i++) {
		int server = sockets()->accept(listener, NULL, NULL);

		check(server >= 0, "accept: %m");
		check_ok(sockets()->close(server));
	}
	check_others();
	start = now_ms();
	check_ok(sockets()->close(listener));
	check(now_ms() - start < 20000 * time_scale(), "closing took %u ms", (unsigned int)(now_ms() - start));
	for (int i = 0; i < count; i++) {
		char byte;

		check(poll_one(clients[i], POLLIN, 20000 * time_scale()), "client %d learns nothing", i);
		check(sockets()->recv(clients[i], &byte, 1, 0) <= 0, "data");
		check_ok(sockets()->close(clients[i]));
	}
	check_others();
}

static void pending_250(void)
{
	pending(250, 1024);
}

static void pending_400(void)
{
	pending(400, 1024);
}

/* More than the listener wanted. */
static void pending_beyond_the_backlog(void)
{
	pending(100, 5);
}

static void open_and_close(void)
{
	unsigned long count = number_from_env("TEST_CONNECTIONS", 10000), warm = count / 10;
	struct sockaddr_in address;
	int listener = small_listener(&address, 16), descriptors = 0, threads = 0;
	long memory = 0;

	for (unsigned long i = 0; i < count; i++) {
		int client = begin_to_connect(&address), server = sockets()->accept(listener, NULL, NULL);
		char byte = 'x';

		check(server >= 0, "accept: %m");
		check(poll_one(client, POLLOUT, 10000 * time_scale()) & POLLOUT, "not connected");
		send_all(client, &byte, 1);
		receive_all(server, &byte, 1);
		check_ok(sockets()->close(i % 2 ? client : server));
		check_ok(sockets()->close(i % 2 ? server : client));
		if (i == warm) {
			descriptors = count_fds(NULL);
			threads = count_threads();
			memory = resident_kb();
		}
	}
	/* A socket that did not wait is closed a moment later. */
	for (int ms = 0; count_fds(NULL) > descriptors && ms < 5000; ms += 100)
		sleep_ms(100);
	check(count_fds(NULL) <= descriptors, "%+d descriptors", count_fds(NULL) - descriptors);
	check(count_threads() <= threads, "%+d threads", count_threads() - threads);
	check(resident_kb() <= memory + MOST_GROWTH_KB, "the memory grew from %ld to %ld kB", memory, resident_kb());
	check_ok(sockets()->close(listener));
}

static const struct test tests[] = {
	SLOW_TEST(more_clients_than_descriptors, 200),
	SLOW_TEST(pending_250, 100),
	SLOW_TEST(pending_400, 100),
	SLOW_TEST(pending_beyond_the_backlog, 100),
	SLOW_TEST(open_and_close, 300),
};

int main(int argc, char **argv)
{
	return RUN_TESTS(tests, argc, argv);
}
