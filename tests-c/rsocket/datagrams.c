/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Datagram sockets. */
#include "datagram.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* Most bytes of a datagram over RDMA. */
#define MOST 2024

static unsigned char out[4096];

static void there_and_back(void)
{
	int one = bound_socket(), other = bound_socket();
	struct sockaddr_in one_name = name_of(one), other_name = name_of(other);

	for (unsigned int round = 0; round < 200; round++) {
		size_t length = 1 + round * 5;

		fill(out, length, round);
		send_to(one, out, length, &other_name);
		receive_from(other, length, &one_name);
		check(is_filled(in, length, round), "other bytes");
		send_to(other, in, length, &one_name);
		receive_from(one, length, &other_name);
		check(is_filled(in, length, round), "other bytes back");
	}
	close_both(one, other);
}

static void bounds(void)
{
	int one = bound_socket(), other = bound_socket();
	struct sockaddr_in one_name = name_of(one), other_name = name_of(other);

	/* The first one by another way than the rest. */
	for (int round = 0; round < 5; round++) {
		struct iovec piece = { in, 2 };
		struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };

		send_to(one, "abc", 3, &other_name);
		send_to(one, "", 0, &other_name);
		receive_from(other, 3, &one_name);
		receive_from(other, 0, &one_name);
		send_to(one, "abcdef", 6, &other_name);
		check(poll_one(other, POLLIN, 10000), "nothing has come");
		check(sockets()->recv(other, in, 3, MSG_PEEK) == 3 && !memcmp(in, "abc", 3), "peek");
		check(sockets()->recv(other, in, 3, MSG_PEEK | MSG_TRUNC) == 6, "whole length");
		check(sockets()->recvmsg(other, &message, 0) == 2, "cut");
		check(message.msg_flags == MSG_TRUNC, "flags are %#x", message.msg_flags);
		check(sockets()->recv(other, in, sizeof(in), MSG_DONTWAIT) == -1 && errno == EAGAIN, "the rest is there");
	}
	close_both(one, other);
}

static void sizes(void)
{
	int one = bound_socket(), other = bound_socket();
	struct sockaddr_in one_name = name_of(one), other_name = name_of(other);
	static const size_t lengths[] = { 1, 39, 40, 41, 63, 64, 65, 1015, 1016, 1017, 1023, 1024, 1025, MOST - 1, MOST };

	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
			fill(out, lengths[i], i);
			send_to(one, out, lengths[i], &other_name);
			receive_from(other, lengths[i], &one_name);
			check(is_filled(in, lengths[i], i), "other bytes");
		}
	}
	if (!is_kernel()) {
		check_fails(sockets()->sendto(one, out, MOST + 1, 0, (struct sockaddr *)&other_name, sizeof(other_name)),
			    EMSGSIZE);
		check_ok(sockets()->connect(one, (struct sockaddr *)&other_name, sizeof(other_name)));
		check_fails(sockets()->send(one, out, sizeof(out), 0), EMSGSIZE);
	}
	check(!poll_one(other, POLLIN, 0), "something has come");
	close_both(one, other);
}

static void connected(void)
{
	int one = bound_socket(), other = bound_socket(), third = bound_socket();
	struct sockaddr_in one_name = name_of(one), other_name = name_of(other), name;
	struct sockaddr nobody = { .sa_family = AF_UNSPEC };
	socklen_t length = sizeof(name);

	check_fails(sockets()->send(one, "x", 1, 0), EDESTADDRREQ);
	check_fails(sockets()->getpeername(one, (struct sockaddr *)&name, &length), ENOTCONN);
	check_fails(sockets()->shutdown(third, SHUT_RD), ENOTCONN);
	check_ok(sockets()->connect(one, (struct sockaddr *)&other_name, sizeof(other_name)));
	check_ok(sockets()->getpeername(one, (struct sockaddr *)&name, &length));
	check(same_name(&name, &other_name), "another peer");
	for (int round = 0; round < 10; round++) {
		check(sockets()->send(one, "abc", 3, 0) == 3, "send: %m");
		receive_from(other, 3, &one_name);
		/* Only the peer's come. */
		send_to(third, "third", 5, &one_name);
		check(sockets()->write(one, "d", 1) == 1, "write: %m");
		receive_from(other, 1, &one_name);
		send_to(other, "ef", 2, &one_name);
		receive_from(one, 2, &other_name);
	}
	check_ok(sockets()->connect(one, &nobody, sizeof(nobody)));
	check_fails(sockets()->send(one, "x", 1, 0), EDESTADDRREQ);
	/* The kernel takes a port back that it has chosen. */
	if (!is_kernel())
		check(same_name(&one_name, &(struct sockaddr_in[]){ name_of(one) }[0]), "another name");
	one_name = name_of(one);
	if (!is_kernel())
		send_to(third, "third", 5, &one_name);
	check(is_kernel() || poll_one(one, POLLIN, 10000) == POLLIN, "nothing from the third");
	check_ok(sockets()->close(third));
	close_both(one, other);
}

static void ended(void)
{
	int one = bound_socket(), other = bound_socket();
	struct sockaddr_in other_name = name_of(other);

	check_ok(sockets()->connect(one, (struct sockaddr *)&other_name, sizeof(other_name)));
	check_ok(sockets()->shutdown(one, SHUT_RDWR));
	check(sockets()->recv(one, in, sizeof(in), 0) == 0, "recv: %m");
	check_fails(sockets()->send(one, "x", 1, MSG_NOSIGNAL), EPIPE);
	check(poll_one(one, POLLIN | POLLRDHUP, 0) == (POLLIN | POLLRDHUP | POLLHUP), "poll");
	close_both(one, other);
}

static void messages(void)
{
	int one = bound_socket(), other = bound_socket();
	struct sockaddr_in one_name = name_of(one), other_name = name_of(other), source;

	for (int round = 0; round < 5; round++) {
		struct iovec from[] = { { "ab", 2 }, { "", 0 }, { "cde", 3 } };
		struct iovec to[] = { { in, 1 }, { in + 100, 10 } };
		struct msghdr sent = { &other_name, sizeof(other_name), from, 3, NULL, 0, 0 };
		struct msghdr received = { &source, sizeof(source), to, 2, NULL, 0, 0 };

		check(sockets()->sendmsg(one, &sent, 0) == 5, "sendmsg: %m");
		check(sockets()->recvmsg(other, &received, 0) == 5, "recvmsg: %m");
		check(in[0] == 'a' && !memcmp(in + 100, "bcde", 4), "other bytes");
		check(received.msg_namelen == sizeof(source) && same_name(&source, &one_name), "another source");
		check(!received.msg_flags, "flags are %#x", received.msg_flags);
	}
	close_both(one, other);
}

static void waiting(void)
{
	int one = bound_socket(), other = bound_socket();
	struct sockaddr_in one_name = name_of(one), other_name = name_of(other);
	struct timeval limit = { .tv_usec = 50000 };

	for (int round = 0; round < 3; round++) {
		check(poll_one(other, POLLIN | POLLOUT, 0) == POLLOUT, "before");
		check(!poll_one(other, POLLIN, 20), "nothing sent");
		send_to(one, "x", 1, &other_name);
		check(poll_one(other, POLLIN, 10000) == POLLIN, "something sent");
		check(poll_one(other, POLLIN | POLLOUT, 0) == (POLLIN | POLLOUT), "both");
		receive_from(other, 1, &one_name);
		set_blocking(other, false);
		check_fails(sockets()->recv(other, in, 1, 0), EAGAIN);
		set_blocking(other, true);
	}
	check_ok(sockets()->setsockopt(other, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)));
	check_fails(sockets()->recv(other, in, 1, 0), EAGAIN);
	close_both(one, other);
}

static void *receive_one(void *socket)
{
	check(sockets()->recv(*(int *)socket, in, 1, 0) == 1, "recv: %m");
	return NULL;
}

/* A thread that sleeps is woken, whichever way the datagram comes. */
static void sleeping(void)
{
	int one = bound_socket(), other = bound_socket();
	struct sockaddr_in other_name = name_of(other);

	for (int round = 0; round < 5; round++) {
		pthread_t thread;

		check_ok(pthread_create(&thread, NULL, receive_one, &other));
		usleep(30000);
		send_to(one, "x", 1, &other_name);
		check_ok(pthread_join(thread, NULL));
	}
	close_both(one, other);
}

static void sets(void)
{
	int one = bound_socket(), other = bound_socket(), set = sockets()->epoll_create(0);
	struct sockaddr_in one_name = name_of(one), other_name = name_of(other);
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = 77 }, found;

	check_ok(sockets()->epoll_ctl(set, EPOLL_CTL_ADD, other, &event));
	for (int round = 0; round < 5; round++) {
		check(sockets()->epoll_wait(set, &found, 1, 0) == 0, "too early");
		send_to(one, "x", 1, &other_name);
		check(sockets()->epoll_wait(set, &found, 1, 10000) == 1, "nothing has come");
		check(found.events == EPOLLIN && found.data.u64 == 77, "another event");
		check(sockets()->epoll_wait(set, &found, 1, 0) == 1, "gone");
		receive_from(other, 1, &one_name);
	}
	event.events = EPOLLIN | EPOLLET;
	check_ok(sockets()->epoll_ctl(set, EPOLL_CTL_MOD, other, &event));
	for (int round = 0; round < 5; round++) {
		send_to(one, "x", 1, &other_name);
		check(sockets()->epoll_wait(set, &found, 1, 10000) == 1, "nothing has come");
		check(sockets()->epoll_wait(set, &found, 1, 0) == 0, "twice");
	}
	check_ok(sockets()->close(set));
	close_both(one, other);
}

static void options(void)
{
	int one = bound_socket(), other = bound_socket();
	struct sockaddr_in one_name = name_of(one), other_name = name_of(other);

	check(get_int(one, SOL_SOCKET, SO_TYPE) == SOCK_DGRAM, "type");
	check(get_int(one, SOL_SOCKET, SO_PROTOCOL) == IPPROTO_UDP, "protocol");
	check(get_int(one, SOL_SOCKET, SO_ERROR) == 0, "error");
	set_int(one, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_int(one, SOL_SOCKET, SO_REUSEADDR, 1);
	set_int(one, SOL_SOCKET, SO_BROADCAST, 1);
	set_int(one, IPPROTO_IP, IP_TOS, 0x20);
	check(get_int(one, IPPROTO_IP, IP_TOS) == 0x20, "type of service");
	check_fails(sockets()->setsockopt(one, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int)), ENOPROTOOPT);
	for (int round = 0; round < 3; round++) {
		send_to(one, "x", 1, &other_name);
		receive_from(other, 1, &one_name);
	}
	close_both(one, other);
}

static void wrong_calls(void)
{
	int one = bound_socket();
	struct sockaddr_in name = name_of(one);
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = name.sin_port };

	check_fails(sockets()->listen(one, 1), EOPNOTSUPP);
	check_fails(sockets()->accept(one, NULL, NULL), EOPNOTSUPP);
	check_fails(sockets()->bind(one, (struct sockaddr *)&name, sizeof(name)), EINVAL);
	check_fails(sockets()->sendto(one, "x", 1, 0, (struct sockaddr *)&name, 4), EINVAL);
	check_fails(sockets()->sendto(one, "x", 1, 0, (struct sockaddr *)&six, sizeof(six)), EAFNOSUPPORT);
	check_fails(sockets()->connect(one, (struct sockaddr *)&six, sizeof(six)), EAFNOSUPPORT);
	check_fails(sockets()->connect(one, (struct sockaddr *)&name, 4), EINVAL);
	check_ok(sockets()->close(one));
	check_fails(sockets()->recv(one, in, 1, 0), EBADF);
	if (!is_kernel())
		check_fails(sockets()->socket(AF_INET, SOCK_DGRAM, IPPROTO_TCP), EOPNOTSUPP);
}

#define CLIENTS 8
#define ROUNDS 100

static struct sockaddr_in server_name;

static void *client(void *argument)
{
	int socket = bound_socket();
	unsigned char data[64];

	(void)argument;
	check_ok(sockets()->connect(socket, (struct sockaddr *)&server_name, sizeof(server_name)));
	for (unsigned int round = 0; round < ROUNDS; round++) {
		fill(data, sizeof(data), round);
		check(sockets()->send(socket, data, sizeof(data), 0) == sizeof(data), "send: %m");
		check(sockets()->recv(socket, data, sizeof(data), 0) == sizeof(data), "recv: %m");
		check(is_filled(data, sizeof(data), round), "other bytes");
	}
	check_ok(sockets()->close(socket));
	return NULL;
}

static void many(void)
{
	int server = bound_socket();
	pthread_t threads[CLIENTS];

	server_name = name_of(server);
	for (int i = 0; i < CLIENTS; i++)
		check_ok(pthread_create(&threads[i], NULL, client, NULL));
	for (int i = 0; i < CLIENTS * ROUNDS; i++) {
		struct sockaddr_in source;
		socklen_t length = sizeof(source);
		ssize_t received = sockets()->recvfrom(server, in, sizeof(in), 0, (struct sockaddr *)&source, &length);

		check(received == 64, "recvfrom: %zd, %m", received);
		send_to(server, in, received, &source);
	}
	for (int i = 0; i < CLIENTS; i++)
		check_ok(pthread_join(threads[i], NULL));
	check_ok(sockets()->close(server));
}

static const struct test tests[] = {
	TEST(there_and_back), TEST(bounds), TEST(sizes), TEST(connected), TEST(ended), TEST(messages), TEST(waiting),
	TEST(sleeping), TEST(sets), TEST(options), TEST(wrong_calls), TEST(many),
};

int main(int argc, char **argv)
{
	return RUN_TESTS(tests, argc, argv);
}
