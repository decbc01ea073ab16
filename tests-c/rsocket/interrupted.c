/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Signals, again and again: nothing is lost, no two threads are where one has to be, and the library's own take none. */
#include "sockets.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { SENDERS = 4, EACH = 300000, CHUNK = 3000, ROUNDS = 50, SETTLE_MS = 300 };

static pthread_t threads[SENDERS + 1];
static atomic_int handled;
static atomic_bool done;

static void count_signal(int signal)
{
	(void)signal;
	handled++;
}

/* Calls are not restarted. */
static void handle_signals(void)
{
	struct sigaction action = { .sa_handler = count_signal };

	check_ok(sigaction(SIGUSR1, &action, NULL));
}

static void *interrupt_all(void *arg)
{
	int *count = arg;

	for (int i = 0; !done; i = (i + 1) % *count) {
		check(!pthread_kill(threads[i], SIGUSR1), "pthread_kill");
		usleep(1000 / *count);
	}
	return NULL;
}

static struct connection connection;

static void *send_own_byte(void *arg)
{
	char own[CHUNK];

	memset(own, *(int *)arg, sizeof(own));
	for (size_t sent = 0; sent < EACH;) {
		ssize_t length = sockets()->send(connection.client, own, EACH - sent < CHUNK ? EACH - sent : CHUNK, 0);

		check(length > 0 || errno == EINTR, "send: %m");
		sent += length > 0 ? length : 0;
	}
	return NULL;
}

static void *count_bytes(void *unused)
{
	static unsigned char in[CHUNK];
	size_t received[256] = { 0 };

	(void)unused;
	for (size_t total = 0; total < SENDERS * EACH;) {
		ssize_t length = sockets()->recv(connection.server, in, sizeof(in), 0);

		check(length > 0 || (length < 0 && errno == EINTR), "recv is %zd: %m", length);
		for (ssize_t i = 0; i < length; i++)
			received[in[i]]++;
		total += length > 0 ? length : 0;
	}
	for (int i = 1; i <= SENDERS; i++)
		check(received[i] == EACH, "%zu bytes of sender %d", received[i], i);
	return NULL;
}

static void many_senders(void)
{
	int own[SENDERS], count = SENDERS + 1;
	pthread_t signaller;

	handle_signals();
	connection = open_connection();
	for (int i = 0; i < SENDERS; i++) {
		own[i] = i + 1;
		threads[i] = start_thread(send_own_byte, &own[i]);
	}
	threads[SENDERS] = start_thread(count_bytes, NULL);
	signaller = start_thread(interrupt_all, &count);
	/* A thread that has ended may still be sent signals until it is joined. */
	sleep_ms(SETTLE_MS);
	done = true;
	join_thread(signaller);
	for (int i = 0; i < count; i++)
		join_thread(threads[i]);
	check(handled, "no signal came");
	close_connection(&connection);
}

static int connect_in_spite_of_signals(const struct sockaddr_in *address)
{
	int client = sockets()->socket(AF_INET, SOCK_STREAM, 0);
	struct pollfd fd = { .fd = client, .events = POLLOUT };

	check(client >= 0, "socket: %m");
	if (sockets()->connect(client, (const struct sockaddr *)address, sizeof(*address))) {
		check(errno == EINTR, "connect: %m");
		while (sockets()->poll(&fd, 1, -1) < 0)
			check(errno == EINTR, "poll: %m");
	}
	check(!get_int(client, SOL_SOCKET, SO_ERROR), "no connection");
	return client;
}

static void connecting_and_closing(void)
{
	struct sockaddr_in address;
	int listener = listening_socket(&address), count = 1;
	pthread_t signaller;

	handle_signals();
	threads[0] = pthread_self();
	signaller = start_thread(interrupt_all, &count);
	for (int round = 0; round < ROUNDS; round++) {
		int client = connect_in_spite_of_signals(&address), server;
		char byte = 'x';

		while ((server = sockets()->accept(listener, NULL, NULL)) < 0)
			check(errno == EINTR, "accept: %m");
		while (sockets()->send(client, &byte, 1, 0) < 0)
			check(errno == EINTR, "send: %m");
		while (sockets()->recv(server, &byte, 1, 0) < 0)
			check(errno == EINTR, "recv: %m");
		check_ok(sockets()->close(client));
		check_ok(sockets()->close(server));
	}
	done = true;
	join_thread(signaller);
	check(handled, "no signal came");
	check_ok(sockets()->close(listener));
}

/* A signal for the process waits until a thread of the program's takes it. */
static void none_for_the_library(void)
{
	sigset_t all, pending;
	int set;

	handle_signals();
	set = sockets()->epoll_create(0);
	connection = open_connection();
	check_ok(sockets()->epoll_ctl(set, EPOLL_CTL_ADD, connection.client, &(struct epoll_event){ .events = EPOLLIN }));
	check(!poll_one(connection.client, POLLIN, 10), "data");
	sigfillset(&all);
	check(!pthread_sigmask(SIG_BLOCK, &all, NULL), "pthread_sigmask");
	check_ok(kill(getpid(), SIGUSR1));
	sleep_ms(SETTLE_MS);
	check(!handled, "a thread of the library has taken it");
	check_ok(sigpending(&pending));
	check(sigismember(&pending, SIGUSR1), "it is gone");
	check_ok(sockets()->close(set));
	close_connection(&connection);
}

static const struct test tests[] = {
	SLOW_TEST(many_senders, 60),
	SLOW_TEST(connecting_and_closing, 60),
	TEST(none_for_the_library),
};

int main(int argc, char **argv)
{
	return RUN_TESTS(tests, argc, argv);
}
