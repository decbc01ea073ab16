/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What was sent arrives, however the sender ends. */
#include "sockets.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 10, LENGTH = 60000 };

static unsigned char out[LENGTH], in[LENGTH];

static void receive_to_the_end(int socket)
{
	memset(in, 0, sizeof(in));
	receive_all(socket, in, sizeof(in));
	check(is_filled(in, sizeof(in), 3), "other data");
	check(sockets()->recv(socket, in, 1, 0) == 0, "no end: %m");
}

static void *send_and_shut(void *arg)
{
	int *socket = arg;

	for (int i = 0; i < 10; i++)
		send_all(*socket, out, sizeof(out));
	check_ok(sockets()->shutdown(*socket, SHUT_WR));
	return NULL;
}

static void *receive_until_the_end(void *arg)
{
	int *socket = arg;
	static __thread unsigned char room[30000];
	ssize_t length;
	size_t received = 0;

	while ((length = sockets()->recv(*socket, room, sizeof(room), 0)) > 0)
		received += length;
	check(!length && received == 10 * sizeof(out), "recv is %zd after %zu bytes: %m", length, received);
	return NULL;
}

/* The peer learns of the end although nobody looks at the socket afterwards. */
static void shutdown_in_the_thick_of_it(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct connection connection = open_connection();
		pthread_t threads[] = {
			start_thread(send_and_shut, &connection.client),
			start_thread(send_and_shut, &connection.server),
			start_thread(receive_until_the_end, &connection.client),
			start_thread(receive_until_the_end, &connection.server),
		};

		for (int i = 0; i < 4; i++)
			join_thread(threads[i]);
		close_connection(&connection);
	}
}

/* Both directions were ended, one after the other, and then the socket: the data may still be on its way. */
static void close_after_both_ends(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct connection connection = open_connection();

		fill(out, sizeof(out), 3);
		send_all(connection.client, out, sizeof(out));
		check_ok(sockets()->shutdown(connection.client, SHUT_WR));
		check_ok(sockets()->shutdown(connection.server, SHUT_WR));
		check(sockets()->recv(connection.client, in, 1, 0) == 0, "no end: %m");
		check_ok(sockets()->close(connection.client));
		receive_to_the_end(connection.server);
		check_ok(sockets()->close(connection.server));
	}
}

static pid_t send_in_a_child(const struct sockaddr_in *address, bool waits)
{
	pid_t child = fork();

	check(child >= 0, "fork: %m");
	if (child == 0) {
		int socket = sockets()->socket(AF_INET, SOCK_STREAM, 0);

		if (socket < 0 || sockets()->connect(socket, (struct sockaddr *)address, sizeof(*address)))
			_exit(1);
		fill(out, sizeof(out), 3);
		for (size_t sent = 0; sent < sizeof(out);) {
			ssize_t length = sockets()->send(socket, out + sent, sizeof(out) - sent, 0);

			if (length <= 0)
				_exit(2);
			sent += length;
		}
		set_blocking(socket, waits);
		if (sockets()->close(socket))
			_exit(3);
		exit(0);
	}
	return child;
}

/* The process ends as soon as close has returned, which does not wait on a socket that does not block. */
static void exit_after_close(void)
{
	struct sockaddr_in address;
	int listener = listening_socket(&address);

	for (int round = 0; round < ROUNDS; round++) {
		pid_t child = send_in_a_child(&address, round % 2);
		int socket = sockets()->accept(listener, NULL, NULL), status;

		check(socket >= 0, "accept: %m");
		check(waitpid(child, &status, 0) == child && status == 0, "the child ended with %#x", status);
		receive_to_the_end(socket);
		check_ok(sockets()->close(socket));
	}
	check_ok(sockets()->close(listener));
}

static const struct test tests[] = {
	SLOW_TEST(shutdown_in_the_thick_of_it, 120),
	SLOW_TEST(close_after_both_ends, 60),
	SLOW_TEST(exit_after_close, 120),
};

int main(int argc, char **argv)
{
	return RUN_TESTS(tests, argc, argv);
}
