/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sockets.h"

#include <rdma/rsocket.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct sockets of_library = {
	rsocket, rbind, rlisten, raccept, rconnect, rshutdown, rclose, rrecv, rrecvfrom, rrecvmsg, rsend, rsendto,
	rsendmsg, rread, rreadv, rwrite, rwritev, rpoll, rselect, rgetpeername, rgetsockname, rsetsockopt, rgetsockopt,
	rfcntl, repoll_create, repoll_ctl, repoll_wait,
};

static const struct sockets of_kernel = {
	socket, bind, listen, accept, connect, shutdown, close, recv, recvfrom, recvmsg, send, sendto,
	sendmsg, read, readv, write, writev, poll, select, getpeername, getsockname, setsockopt, getsockopt,
	fcntl, epoll_create1, epoll_ctl, epoll_wait,
};

bool is_kernel(void)
{
	const char *kind = getenv("SOCKETS");

	return kind && !strcmp(kind, "kernel");
}

const struct sockets *sockets(void)
{
	return is_kernel() ? &of_kernel : &of_library;
}

int listening_socket(struct sockaddr_in *address)
{
	socklen_t length = sizeof(*address);
	int listener = sockets()->socket(AF_INET, SOCK_STREAM, 0);

	check(listener >= 0, "socket: %m");
	memset(address, 0, sizeof(*address));
	address->sin_family = AF_INET;
	inet_pton(AF_INET, SOCKETS_ADDRESS, &address->sin_addr);
	check_ok(sockets()->bind(listener, (struct sockaddr *)address, sizeof(*address)));
	check_ok(sockets()->listen(listener, 128));
	check_ok(sockets()->getsockname(listener, (struct sockaddr *)address, &length));
	return listener;
}

struct connection connect_through(int listener, const struct sockaddr_in *address)
{
	struct connection connection;

	connection.client = sockets()->socket(AF_INET, SOCK_STREAM, 0);
	check(connection.client >= 0, "socket: %m");
	check_ok(sockets()->connect(connection.client, (const struct sockaddr *)address, sizeof(*address)));
	connection.server = sockets()->accept(listener, NULL, NULL);
	check(connection.server >= 0, "accept: %m");
	check_ok(sockets()->close(listener));
	return connection;
}

struct connection open_connection(void)
{
	struct sockaddr_in address;
	int listener = listening_socket(&address);

	return connect_through(listener, &address);
}

void close_connection(struct connection *connection)
{
	check_ok(sockets()->close(connection->client));
	check_ok(sockets()->close(connection->server));
}

void set_blocking(int socket, bool on)
{
	check_ok(sockets()->fcntl(socket, F_SETFL, on ? 0 : O_NONBLOCK));
}

void send_all(int socket, const void *data, size_t length)
{
	while (length) {
		ssize_t sent = sockets()->send(socket, data, length, MSG_NOSIGNAL);

		check(sent > 0, "send is %zd, %m", sent);
		data = (const char *)data + sent;
		length -= sent;
	}
}

void receive_all(int socket, void *data, size_t length)
{
	while (length) {
		ssize_t received = sockets()->recv(socket, data, length, 0);

		check(received > 0, "recv is %zd, %m", received);
		data = (char *)data + received;
		length -= received;
	}
}

void fill(unsigned char *data, size_t length, unsigned int seed)
{
	for (size_t i = 0; i < length; i++)
		data[i] = (i * 2654435761u + seed) >> 16;
}

bool is_filled(const unsigned char *data, size_t length, unsigned int seed)
{
	for (size_t i = 0; i < length; i++)
		if (data[i] != (unsigned char)((i * 2654435761u + seed) >> 16))
			return false;
	return true;
}

short poll_one(int socket, short events, int timeout)
{
	struct pollfd fd = { .fd = socket, .events = events };
	int ready = sockets()->poll(&fd, 1, timeout);

	check(ready >= 0, "poll: %m");
	check(ready == !!fd.revents, "poll is %d with revents %#x", ready, fd.revents);
	return fd.revents;
}

int get_int(int socket, int level, int option)
{
	int value = -1;
	socklen_t length = sizeof(value);

	check_ok(sockets()->getsockopt(socket, level, option, &value, &length));
	return value;
}

void set_int(int socket, int level, int option, int value)
{
	check_ok(sockets()->setsockopt(socket, level, option, &value, sizeof(value)));
}
