/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options and flags of sockets. */
#include "sockets.h"

#include <string.h>
#include <unistd.h>

static int open_socket(int flags)
{
	int socket = sockets()->socket(AF_INET, SOCK_STREAM | flags, 0);

	check(socket >= 0, "socket: %m");
	return socket;
}

static void flags(void)
{
	int socket = open_socket(0);

	check(sockets()->fcntl(socket, F_GETFL) == O_RDWR, "flags %#o", sockets()->fcntl(socket, F_GETFL));
	check_ok(sockets()->fcntl(socket, F_SETFL, O_NONBLOCK));
	check(sockets()->fcntl(socket, F_GETFL) == (O_RDWR | O_NONBLOCK), "flags %#o", sockets()->fcntl(socket, F_GETFL));
	check(sockets()->fcntl(socket, F_GETFD) == 0, "descriptor flags");
	check_ok(sockets()->fcntl(socket, F_SETFD, FD_CLOEXEC));
	check(sockets()->fcntl(socket, F_GETFD) == FD_CLOEXEC, "descriptor flags");
	check(fcntl(socket, F_GETFD) == FD_CLOEXEC, "descriptor flags of the kernel");
	check_fails(sockets()->fcntl(socket, 12345), EINVAL);
	check_ok(sockets()->close(socket));
	socket = open_socket(SOCK_CLOEXEC | SOCK_NONBLOCK);
	check(sockets()->fcntl(socket, F_GETFL) == (O_RDWR | O_NONBLOCK), "flags from the beginning");
	check(sockets()->fcntl(socket, F_GETFD) == FD_CLOEXEC, "descriptor flags from the beginning");
	check_ok(sockets()->close(socket));
}

/* What the kernel says: a thread that waits for data takes what wakes it by one call then. */
static void descriptors_block(void)
{
	struct connection connection = open_connection();

	check(!(fcntl(connection.client, F_GETFL) & O_NONBLOCK), "the client's does not");
	check(!(fcntl(connection.server, F_GETFL) & O_NONBLOCK), "the server's does not");
	close_connection(&connection);
}

static void facts(void)
{
	int socket = open_socket(0);

	check(get_int(socket, SOL_SOCKET, SO_TYPE) == SOCK_STREAM, "SO_TYPE");
	check(get_int(socket, SOL_SOCKET, SO_DOMAIN) == AF_INET, "SO_DOMAIN");
	check(get_int(socket, SOL_SOCKET, SO_PROTOCOL) == IPPROTO_TCP, "SO_PROTOCOL");
	check(get_int(socket, SOL_SOCKET, SO_ACCEPTCONN) == 0, "SO_ACCEPTCONN");
	check(get_int(socket, SOL_SOCKET, SO_ERROR) == 0, "SO_ERROR");
	check_ok(sockets()->close(socket));
}

static void listening(void)
{
	struct sockaddr_in address;
	int listener = listening_socket(&address);

	check(get_int(listener, SOL_SOCKET, SO_ACCEPTCONN) == 1, "SO_ACCEPTCONN");
	check_ok(sockets()->close(listener));
}

static void switches(void)
{
	static const struct { int level, name; } list[] = {
		{ SOL_SOCKET, SO_REUSEADDR }, { SOL_SOCKET, SO_KEEPALIVE }, { SOL_SOCKET, SO_OOBINLINE },
		{ IPPROTO_TCP, TCP_NODELAY },
	};
	int socket = open_socket(0);

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		check(!get_int(socket, list[i].level, list[i].name), "option %d is on", list[i].name);
		set_int(socket, list[i].level, list[i].name, 1);
		check(get_int(socket, list[i].level, list[i].name) == 1, "option %d is off", list[i].name);
		set_int(socket, list[i].level, list[i].name, 0);
		check(!get_int(socket, list[i].level, list[i].name), "option %d is still on", list[i].name);
	}
	set_int(socket, IPPROTO_TCP, TCP_KEEPIDLE, 100);
	check(get_int(socket, IPPROTO_TCP, TCP_KEEPIDLE) == 100, "TCP_KEEPIDLE");
	check_fails(sockets()->setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &(int){ 0 }, 4), EINVAL);
	set_int(socket, IPPROTO_IP, IP_TOS, 0x20);
	check(get_int(socket, IPPROTO_IP, IP_TOS) == 0x20, "IP_TOS");
	check_ok(sockets()->close(socket));
}

static void buffers(void)
{
	int socket = open_socket(0), size;

	set_int(socket, SOL_SOCKET, SO_RCVBUF, 50000);
	check(get_int(socket, SOL_SOCKET, SO_RCVBUF) == 100000, "SO_RCVBUF %d", get_int(socket, SOL_SOCKET, SO_RCVBUF));
	set_int(socket, SOL_SOCKET, SO_SNDBUF, 60000);
	check(get_int(socket, SOL_SOCKET, SO_SNDBUF) == 120000, "SO_SNDBUF");
	set_int(socket, SOL_SOCKET, SO_RCVBUF, 0);
	size = get_int(socket, SOL_SOCKET, SO_RCVBUF);
	check(size > 1000, "SO_RCVBUF %d", size);
	check_ok(sockets()->close(socket));
}

static void lingering(void)
{
	struct linger linger = { 1, 5 }, got = { 0, 0 };
	socklen_t length = sizeof(got);
	int socket = open_socket(0);

	check_ok(sockets()->setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)));
	check_ok(sockets()->getsockopt(socket, SOL_SOCKET, SO_LINGER, &got, &length));
	check(length == sizeof(got) && got.l_onoff == 1 && got.l_linger == 5, "read back %d %d", got.l_onoff, got.l_linger);
	check_ok(sockets()->close(socket));
}

/* No more is written than there is room for, and no more is read than is there. */
static void lengths(void)
{
	unsigned char room[8];
	socklen_t length = 1;
	int socket = open_socket(0);

	memset(room, 0xee, sizeof(room));
	check_ok(sockets()->getsockopt(socket, SOL_SOCKET, SO_TYPE, room, &length));
	check(length == 1 && room[0] == SOCK_STREAM && room[1] == 0xee, "%u bytes", length);
	length = sizeof(room);
	check_ok(sockets()->getsockopt(socket, SOL_SOCKET, SO_TYPE, room, &length));
	check(length == 4 && room[4] == 0xee, "%u bytes", length);
	check_fails(sockets()->setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, room, 1), EINVAL);
	check_fails(sockets()->setsockopt(socket, SOL_SOCKET, SO_LINGER, room, 4), EINVAL);
	check_fails(sockets()->setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, room, 4), EINVAL);
	check_fails(sockets()->setsockopt(socket, SOL_SOCKET, 9999, room, 4), ENOPROTOOPT);
	length = 4;
	check_fails(sockets()->getsockopt(socket, SOL_SOCKET, 9999, room, &length), ENOPROTOOPT);
	check_fails(sockets()->setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, NULL, 4), EFAULT);
	check_fails(sockets()->getsockopt(socket, SOL_SOCKET, SO_TYPE, NULL, &length), EFAULT);
	check_ok(sockets()->close(socket));
}

static int tcp_state(int socket)
{
	unsigned char room[512];
	socklen_t length = 8;

	memset(room, 0xee, sizeof(room));
	check_ok(sockets()->getsockopt(socket, IPPROTO_TCP, TCP_INFO, room, &length));
	check(length == 8 && room[8] == 0xee, "%u bytes", length);
	return room[0];
}

static void states(void)
{
	struct connection connection;
	struct sockaddr_in address;
	int listener = listening_socket(&address), socket = open_socket(0);

	check(tcp_state(socket) == TCP_CLOSE, "state %d", tcp_state(socket));
	check(tcp_state(listener) == TCP_LISTEN, "state %d", tcp_state(listener));
	check_ok(sockets()->close(listener));
	check_ok(sockets()->close(socket));
	connection = open_connection();
	check(tcp_state(connection.client) == TCP_ESTABLISHED, "state %d", tcp_state(connection.client));
	check_ok(sockets()->shutdown(connection.server, SHUT_WR));
	check(poll_one(connection.client, POLLIN, 5000) & POLLIN, "no end");
	check(tcp_state(connection.client) == TCP_CLOSE_WAIT, "state %d", tcp_state(connection.client));
	close_connection(&connection);
}

/* Closed with close(2): the next socket has the number. */
static void number_of_another(void)
{
	int socket = open_socket(0);

	check_ok(close(socket));
	socket = open_socket(0);
	check(fcntl(socket, F_GETFD) >= 0, "the next socket is closed: %m");
	check_ok(sockets()->close(socket));
}

static const struct test tests[] = {
	TEST(flags),
	TEST(descriptors_block),
	TEST(facts),
	TEST(listening),
	TEST(switches),
	TEST(buffers),
	TEST(lingering),
	TEST(lengths),
	TEST(states),
	TEST(number_of_another),
};

int main(int argc, char **argv)
{
	return RUN_TESTS(tests, argc, argv);
}
