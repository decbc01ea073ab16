/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Connections that are given to a child before they are used, with RDMAV_FORK_SAFE. */
#include "preloaded.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a child says that had to find itself on a socket over RDMA and did not. */
#define NOT_OVER_RDMA 3

static int connected_to(const struct sockaddr_in *address)
{
	int client = socket(AF_INET, SOCK_STREAM, 0);

	check(client >= 0, "socket: %m");
	check_ok(connect(client, (const struct sockaddr *)address, sizeof(*address)));
	return client;
}

static int accepted(int listener)
{
	int server = accept(listener, NULL, NULL);

	check(server >= 0, "accept: %m");
	return server;
}

/* Sends back what comes, to the end. */
static int serve(int in, int out)
{
	char data[100];
	ssize_t size;

	while ((size = read(in, data, sizeof(data))) > 0)
		if (write(out, data, size) != size)
			return 1;
	if (size < 0)
		return 2;
	return is_over_rdma(in) == is_preloaded() && is_over_rdma(out) == is_preloaded() ? 0 : NOT_OVER_RDMA;
}

static void check_child(pid_t child)
{
	int status;

	check(waitpid(child, &status, 0) == child && !status, "status %#x", status);
}

static void use(int client)
{
	char data[5];

	send_all(client, "hello", 5);
	receive_all(client, data, 5);
	check(!memcmp(data, "hello", 5), "%.5s", data);
	check_over_rdma(client);
	check_ok(close(client));
}

/* A child for each connection, which begins. */
static pid_t fork_server(int listener)
{
	int server = accepted(listener);
	pid_t child = fork();

	if (!child) {
		close(listener);
		_exit(serve(server, server));
	}
	check_ok(close(server));
	return child;
}

static void forked_server(void)
{
	struct sockaddr_in address;
	int listener = listening_socket(&address);

	for (int round = 0; round < 2; round++) {
		int client = connected_to(&address);
		pid_t child = fork_server(listener);

		use(client);
		check_child(child);
	}
	check_ok(close(listener));
}

static void *use_in_thread(void *arg)
{
	int *client = arg;

	use(*client);
	return NULL;
}

/* They cannot listen at the same address at the same time, and each has its own peer. */
static void children_at_once(void)
{
	struct sockaddr_in address;
	int listener = listening_socket(&address), clients[3];
	pthread_t threads[3];
	pid_t children[3];

	for (int i = 0; i < 3; i++) {
		clients[i] = connected_to(&address);
		children[i] = fork_server(listener);
	}
	for (int i = 0; i < 3; i++)
		threads[i] = start_thread(use_in_thread, &clients[i]);
	for (int i = 0; i < 3; i++) {
		join_thread(threads[i]);
		check_child(children[i]);
	}
	check_ok(close(listener));
}

/* As inetd does. */
static void another_program(void)
{
	struct sockaddr_in address;
	int listener = listening_socket(&address), client = connected_to(&address), server = accepted(listener);
	pid_t child = fork();

	if (!child) {
		dup2(server, 0);
		dup2(server, 1);
		close(server);
		close(listener);
		execl("/proc/self/exe", "handed_over", "--serve", NULL);
		_exit(1);
	}
	check_ok(close(server));
	use(client);
	check_child(child);
	check_ok(close(listener));
}

static void *use_late(void *arg)
{
	sleep_ms(200);
	return use_in_thread(arg);
}

/* Who waits for data has the connection made. */
static void server_that_polls(void)
{
	struct sockaddr_in address;
	int listener = listening_socket(&address), client = connected_to(&address), server = accepted(listener), copy = dup(server);
	pthread_t thread = start_thread(use_late, &client);
	char data[5];

	check(poll_one(server, POLLIN, 10000) == POLLIN, "nothing came");
	check_over_rdma(server);
	check_over_rdma(copy);
	receive_all(copy, data, 5);
	check_ok(close(copy));
	send_all(server, data, 5);
	join_thread(thread);
	check(read(server, data, 1) == 0, "not the end");
	check_ok(close(server));
	check_ok(close(listener));
}

/* A peer that knows nothing of this. */
static void peer_over_tcp(void)
{
	struct sockaddr_in address;
	socklen_t length = sizeof(address);
	int listener = plain_socket(), client, server;
	char data[5];

	memset(&address, 0, sizeof(address));
	address.sin_family = AF_INET;
	inet_pton(AF_INET, SOCKETS_ADDRESS, &address.sin_addr);
	check_ok(bind(listener, (struct sockaddr *)&address, sizeof(address)));
	check_ok(listen(listener, 1));
	check_ok(getsockname(listener, (struct sockaddr *)&address, &length));
	client = connected_to(&address);
	server = accepted(listener);
	send_all(server, "hello", 5);
	receive_all(client, data, 5);
	check(!memcmp(data, "hello", 5), "%.5s", data);
	check(!is_over_rdma(client), "over RDMA");
	check_works(client, server);
	check_ok(close(server));
	check(read(client, data, 1) == 0, "not the end");
	check_ok(close(client));
	check_ok(close(listener));
}

/* A process that ends in the middle is in nobody's way. */
static void peer_that_dies(void)
{
	struct sockaddr_in address;
	int listener = listening_socket(&address), client = connected_to(&address), server = accepted(listener);
	pid_t child = fork();

	if (!child) {
		char byte;

		close(listener);
		read(server, &byte, 1);
		_exit(0);
	}
	check_ok(close(server));
	sleep_ms(300);
	check_ok(kill(child, SIGKILL));
	waitpid(child, NULL, 0);
	check_ok(close(client));

	client = connected_to(&address);
	child = fork_server(listener);
	use(client);
	check_child(child);
	check_ok(close(listener));
}

/* The other way round: the socket stays one of the kernel's, for a next program too. */
static void client_over_tcp(void)
{
	struct sockaddr_in address;
	int listener = listening_socket(&address), client = plain_socket(), server;
	char data[4];

	check_ok(connect(client, (struct sockaddr *)&address, sizeof(address)));
	server = accepted(listener);
	send_all(client, "x", 1);
	receive_all(server, data, 1);
	check(!is_over_rdma(server), "over RDMA");
	check(fcntl(server, F_GETSIG) == 0, "still marked");
	if (is_preloaded())
		receive_all(client, data, 4);
	check_works(client, server);
	check_ok(close(server));
	check(read(client, data, 1) == 0, "not the end");
	check_ok(close(client));
	check_ok(close(listener));
}

static void do_nothing(int number)
{
	(void)number;
}

/* A signal while one side waits for the other is no reason to stay with TCP. */
static void interrupted(void)
{
	struct sigaction action = { .sa_handler = do_nothing };
	struct sockaddr_in address;
	int listener = listening_socket(&address);
	char byte;

	check_ok(sigaction(SIGUSR1, &action, NULL));
	for (int side = 0; side < 2; side++) {
		int client = connected_to(&address), ends[] = { client, accepted(listener) };
		pid_t child = fork();

		if (!child) {
			close(listener);
			close(ends[!side]);
			if (write(ends[side], "x", 1) != 1)
				_exit(1);
			_exit(is_over_rdma(ends[side]) == is_preloaded() && !close(ends[side]) ? 0 : NOT_OVER_RDMA);
		}
		check_ok(close(ends[side]));
		sleep_ms(500);
		check_ok(kill(child, SIGUSR1));
		receive_all(ends[!side], &byte, 1);
		check_over_rdma(ends[!side]);
		check_child(child);
		check_ok(close(ends[!side]));
	}
	check_ok(close(listener));
}

static const struct test tests[] = {
	TEST(forked_server), TEST(children_at_once), TEST(another_program), TEST(server_that_polls), TEST(peer_over_tcp),
	TEST(peer_that_dies), TEST(client_over_tcp), TEST(interrupted),
};

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--serve"))
		return serve(0, 1);
	if (!getenv("RDMAV_FORK_SAFE")) {
		/* It is read when the program begins. */
		setenv("RDMAV_FORK_SAFE", "1", 1);
		execv("/proc/self/exe", argv);
	}
	return RUN_PRELOADED(tests, argc, argv);
}
