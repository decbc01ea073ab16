/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "datagram.h"

#include <string.h>

unsigned char in[4096];

struct sockaddr_in name_of(int socket)
{
	struct sockaddr_in name;
	socklen_t length = sizeof(name);

	check_ok(sockets()->getsockname(socket, (struct sockaddr *)&name, &length));
	check(length == sizeof(name) && name.sin_family == AF_INET, "name of %u bytes", length);
	return name;
}

int bound_to(const char *address)
{
	struct sockaddr_in name = { .sin_family = AF_INET };
	int socket = sockets()->socket(AF_INET, SOCK_DGRAM, 0);

	check(socket >= 0, "socket: %m");
	inet_pton(AF_INET, address, &name.sin_addr);
	check_ok(sockets()->bind(socket, (struct sockaddr *)&name, sizeof(name)));
	return socket;
}

int bound_socket(void)
{
	return bound_to(SOCKETS_ADDRESS);
}

void send_to(int socket, const void *data, size_t length, const struct sockaddr_in *to)
{
	ssize_t sent = sockets()->sendto(socket, data, length, 0, (const struct sockaddr *)to, sizeof(*to));

	check(sent == (ssize_t)length, "sendto is %zd, %m", sent);
}

bool same_name(const struct sockaddr_in *one, const struct sockaddr_in *other)
{
	return one->sin_port == other->sin_port && one->sin_addr.s_addr == other->sin_addr.s_addr;
}

void receive_from(int socket, size_t length, const struct sockaddr_in *from)
{
	struct sockaddr_in source;
	socklen_t size = sizeof(source);
	ssize_t received;

	check(poll_one(socket, POLLIN, 10000) == POLLIN, "nothing has come");
	received = sockets()->recvfrom(socket, in, sizeof(in), 0, (struct sockaddr *)&source, &size);
	check(received == (ssize_t)length, "%zd bytes instead of %zu, %m", received, length);
	check(size == sizeof(source), "source of %u bytes", size);
	check(!from || same_name(&source, from), "from another one");
}

void back_and_forth(int one, int other, int rounds)
{
	struct sockaddr_in one_name = name_of(one), other_name = name_of(other);

	for (int round = 0; round < rounds; round++) {
		send_to(one, "abc", 3, &other_name);
		receive_from(other, 3, &one_name);
		send_to(other, "de", 2, &one_name);
		receive_from(one, 2, &other_name);
	}
}

void close_both(int one, int other)
{
	check_ok(sockets()->close(one));
	check_ok(sockets()->close(other));
}
