/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From an address to a connection, and what the calls say before there is one. */
#include "sockets.h"

#include <signal.h>
#include <string.h>

static int open_socket(int flags)
{
	int socket = sockets()->socket(AF_INET, SOCK_STREAM | flags, 0);

	check(socket >= 0, "socket: %m");
	return socket;
}

static struct sockaddr_in address_of(const char *text, int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };

	inet_pton(AF_INET, text, &address.sin_addr);
	return address;
}

static void names(void)
{
	struct sockaddr_in address, name, other;
	socklen_t length = sizeof(name);
	int listener = listening_socket(&address), client = open_socket(0), server;

	check_ok(sockets()->connect(client, (struct sockaddr *)&address, sizeof(address)));
	server = sockets()->accept(listener, (struct sockaddr *)&name, &length);
	check(server >= 0, "accept: %m");
	check(length == sizeof(name) && name.sin_family == AF_INET, "address of the peer");
	check(!strcmp(inet_ntoa(name.sin_addr), SOCKETS_ADDRESS), "from %s", inet_ntoa(name.sin_addr));
	check_ok(sockets()->getsockname(client, (struct sockaddr *)&other, &length));
	check(!memcmp(&name, &other, 8), "the client has another name for itself");
	check_ok(sockets()->getpeername(client, (struct sockaddr *)&other, &length));
	check(!memcmp(&address, &other, 8), "the client has another name for the server");
	check_ok(sockets()->getpeername(server, (struct sockaddr *)&other, &length));
	check(!memcmp(&name, &other, 8), "the server has another name for the client");
	/* Little room. */
	length = 2;
	memset(&other, 0xff, sizeof(other));
	check_ok(sockets()->getpeername(server, (struct sockaddr *)&other, &length));
	check(length == sizeof(other) && other.sin_family == AF_INET && other.sin_port == 0xffff, "more than there was room for");
	check_fails(sockets()->getpeername(listener, (struct sockaddr *)&other, &length), ENOTCONN);
	check_ok(sockets()->close(client));
	check_ok(sockets()->close(server));
	check_ok(sockets()->close(listener));
}

static void finish(int client)
{
	check(poll_one(client, POLLOUT, 10000) & POLLOUT, "no connection");
	check(!get_int(client, SOL_SOCKET, SO_ERROR), "an error");
}

static void without_waiting(void)
{
	struct sockaddr_in address;
	int listener = listening_socket(&address);

	for (int round = 0; round < 2; round++) {
		int client = open_socket(round ? SOCK_NONBLOCK : 0), server;
		uint64_t start;

		if (!round)
			set_blocking(client, false);
		start = now_ms();
		/* The kernel's own sockets are that fast on one machine. */
		if (sockets()->connect(client, (struct sockaddr *)&address, sizeof(address)))
			check(errno == EINPROGRESS, "connect: %m");
		check(now_ms() - start < 2000 * time_scale(), "it waited");
		finish(client);
		server = sockets()->accept(listener, NULL, NULL);
		check(server >= 0, "accept: %m");
		send_all(client, "x", 1);
		receive_all(server, &(char){ 0 }, 1);
		check_ok(sockets()->close(client));
		check_ok(sockets()->close(server));
	}
	check_ok(sockets()->close(listener));
}

/* An earlier call has begun, and did not wait. */
static void waiting_after_all(void)
{
	struct sockaddr_in address;
	int listener = listening_socket(&address), client = open_socket(SOCK_NONBLOCK);

	if (!sockets()->connect(client, (struct sockaddr *)&address, sizeof(address)))
		skip_test("it is connected at once");
	check(errno == EINPROGRESS, "connect: %m");
	set_blocking(client, true);
	check_ok(sockets()->connect(client, (struct sockaddr *)&address, sizeof(address)));
	check_fails(sockets()->connect(client, (struct sockaddr *)&address, sizeof(address)), EISCONN);
	check_ok(sockets()->close(client));
	check_ok(sockets()->close(listener));
}

static void asked_again(void)
{
	struct sockaddr_in address;
	int listener = listening_socket(&address), client = open_socket(0);

	check_ok(sockets()->connect(client, (struct sockaddr *)&address, sizeof(address)));
	check_fails(sockets()->connect(client, (struct sockaddr *)&address, sizeof(address)), EISCONN);
	check_ok(sockets()->close(client));
	check_ok(sockets()->close(listener));
}

static void refused(void)
{
	struct sockaddr_in address;
	int listener = listening_socket(&address), client = open_socket(0);

	check_ok(sockets()->close(listener));
	check_fails(sockets()->connect(client, (struct sockaddr *)&address, sizeof(address)), ECONNREFUSED);
	check_ok(sockets()->close(client));
	client = open_socket(SOCK_NONBLOCK);
	if (sockets()->connect(client, (struct sockaddr *)&address, sizeof(address)) && errno == EINPROGRESS) {
		check(poll_one(client, POLLOUT, 10000) & POLLERR, "no error");
		check(get_int(client, SOL_SOCKET, SO_ERROR) == ECONNREFUSED, "another error");
		check(!get_int(client, SOL_SOCKET, SO_ERROR), "told twice");
	} else {
		check(errno == ECONNREFUSED, "connect: %m");
	}
	check_ok(sockets()->close(client));
}

static void on_sigalrm(int signal)
{
	(void)signal;
}

/* A signal ends the call, not the connection: nobody answers at this address for a while. */
static void interrupted(void)
{
	struct sockaddr_in nobody = address_of("10.99.0.77", 7471);
	struct sigaction action = { .sa_handler = on_sigalrm };
	int client = open_socket(0);

	check_ok(sigaction(SIGALRM, &action, NULL));
	alarm(1);
	check_fails(sockets()->connect(client, (struct sockaddr *)&nobody, sizeof(nobody)), EINTR);
	set_blocking(client, false);
	check_fails(sockets()->connect(client, (struct sockaddr *)&nobody, sizeof(nobody)), EALREADY);
	check_ok(sockets()->close(client));
}

static void not_connected(void)
{
	int client = open_socket(0);
	char byte = 0;

	check_fails((int)sockets()->recv(client, &byte, 1, 0), ENOTCONN);
	check_fails(sockets()->getpeername(client, (struct sockaddr *)&(struct sockaddr_in){ 0 }, &(socklen_t){ 16 }), ENOTCONN);
	check_fails(sockets()->shutdown(client, SHUT_WR), ENOTCONN);
	check_fails(sockets()->accept(client, NULL, NULL), EINVAL);
	check(poll_one(client, POLLIN | POLLOUT, 0) == (POLLOUT | POLLHUP), "ready");
	check_ok(sockets()->close(client));
}

static void wrong_numbers(void)
{
	char byte = 0;
	int numbers[] = { -1, 9999, 70000, 1 << 30 };

	for (int i = 0; i < 4; i++) {
		check_fails((int)sockets()->recv(numbers[i], &byte, 1, 0), EBADF);
		check_fails((int)sockets()->send(numbers[i], &byte, 1, 0), EBADF);
		check_fails(sockets()->listen(numbers[i], 1), EBADF);
		check_fails(sockets()->accept(numbers[i], NULL, NULL), EBADF);
		check_fails(sockets()->shutdown(numbers[i], SHUT_WR), EBADF);
		check_fails(sockets()->close(numbers[i]), EBADF);
		check_fails(sockets()->fcntl(numbers[i], F_GETFL), EBADF);
		check_fails(sockets()->getsockopt(numbers[i], SOL_SOCKET, SO_ERROR, &(int){ 0 }, &(socklen_t){ 4 }), EBADF);
	}
}

static void wrong_addresses(void)
{
	struct sockaddr_storage large;
	struct sockaddr_in address = address_of(SOCKETS_ADDRESS, 0);
	int client = open_socket(0);

	check_fails(sockets()->bind(client, (struct sockaddr *)&address, 2), EINVAL);
	check_fails(sockets()->connect(client, (struct sockaddr *)&address, 4), EINVAL);
	check_fails(sockets()->connect(client, (struct sockaddr *)&address, 4096), EINVAL);
	memset(&large, 0, sizeof(large));
	memcpy(&large, &address, sizeof(address));
	check_ok(sockets()->bind(client, (struct sockaddr *)&large, sizeof(large)));
	check_fails(sockets()->bind(client, (struct sockaddr *)&address, sizeof(address)), EINVAL);
	check_ok(sockets()->close(client));
	client = open_socket(0);
	address.sin_family = 99;
	check_fails(sockets()->connect(client, (struct sockaddr *)&address, sizeof(address)), EAFNOSUPPORT);
	check_ok(sockets()->close(client));
	client = open_socket(0);
	address = address_of("203.0.113.1", 0);
	check_fails(sockets()->bind(client, (struct sockaddr *)&address, sizeof(address)), EADDRNOTAVAIL);
	check_ok(sockets()->close(client));
}

static void port_is_taken(void)
{
	struct sockaddr_in address;
	int listener = listening_socket(&address), other = open_socket(0);

	check_fails(sockets()->bind(other, (struct sockaddr *)&address, sizeof(address)), EADDRINUSE);
	check_ok(sockets()->close(other));
	check_ok(sockets()->close(listener));
}

/* A socket of IPv6 speaks to IPv4 too. */
static void mapped(void)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6 }, name, to;
	socklen_t length = sizeof(any);
	struct sockaddr_in plain = address_of(SOCKETS_ADDRESS, 0);
	int listener = sockets()->socket(AF_INET6, SOCK_STREAM, 0), client, server;

	check(listener >= 0, "socket: %m");
	check_ok(sockets()->bind(listener, (struct sockaddr *)&any, sizeof(any)));
	check_ok(sockets()->listen(listener, 5));
	check_ok(sockets()->getsockname(listener, (struct sockaddr *)&any, &length));
	for (int round = 0; round < 2; round++) {
		if (round) {
			client = sockets()->socket(AF_INET6, SOCK_STREAM, 0);
			memset(&to, 0, sizeof(to));
			to.sin6_family = AF_INET6;
			to.sin6_port = any.sin6_port;
			inet_pton(AF_INET6, "::ffff:" SOCKETS_ADDRESS, &to.sin6_addr);
			check_ok(sockets()->connect(client, (struct sockaddr *)&to, sizeof(to)));
		} else {
			client = open_socket(0);
			plain.sin_port = any.sin6_port;
			check_ok(sockets()->connect(client, (struct sockaddr *)&plain, sizeof(plain)));
		}
		length = sizeof(name);
		server = sockets()->accept(listener, (struct sockaddr *)&name, &length);
		check(server >= 0, "accept: %m");
		check(length == sizeof(name) && name.sin6_family == AF_INET6, "family %d", name.sin6_family);
		check(IN6_IS_ADDR_V4MAPPED(&name.sin6_addr), "not mapped");
		check_ok(sockets()->close(client));
		check_ok(sockets()->close(server));
	}
	check_ok(sockets()->close(listener));
}

/* Nobody has to be there when a client comes. */
static void many_pending(void)
{
	enum { COUNT = 30 };
	struct sockaddr_in address;
	int listener = listening_socket(&address), clients[COUNT];

	for (int i = 0; i < COUNT; i++) {
		clients[i] = open_socket(0);
		check_ok(sockets()->connect(clients[i], (struct sockaddr *)&address, sizeof(address)));
	}
	for (int i = 0; i < COUNT; i++) {
		char byte = i;
		int server = sockets()->accept(listener, NULL, NULL);

		check(server >= 0, "accept: %m");
		send_all(clients[i], &byte, 1);
		byte = -1;
		receive_all(server, &byte, 1);
		check(byte == i, "another client");
		check_ok(sockets()->close(server));
		check_ok(sockets()->close(clients[i]));
	}
	check_ok(sockets()->close(listener));
}

/* Those who were not fetched learn that nobody will. */
static void closed_with_pending(void)
{
	struct sockaddr_in address;
	int listener = listening_socket(&address), client = open_socket(0);
	char byte;

	check_ok(sockets()->connect(client, (struct sockaddr *)&address, sizeof(address)));
	sleep_ms(200);
	check_ok(sockets()->close(listener));
	check(sockets()->recv(client, &byte, 1, 0) <= 0, "data");
	check_ok(sockets()->close(client));
}

static const struct test tests[] = {
	TEST(names),
	TEST(without_waiting),
	TEST(waiting_after_all),
	TEST(asked_again),
	TEST(refused),
	TEST(interrupted),
	TEST(not_connected),
	TEST(wrong_numbers),
	TEST(wrong_addresses),
	TEST(port_is_taken),
	TEST(mapped),
	SLOW_TEST(many_pending, 60),
	TEST(closed_with_pending),
};

int main(int argc, char **argv)
{
	return RUN_TESTS(tests, argc, argv);
}
