/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where there is no way over RDMA, connections are made over TCP; who listens hears both. */
#include "preloaded.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* A listener that only the kernel knows. */
static int plain_listener(struct sockaddr_in *address)
{
	socklen_t length = sizeof(*address);
	int listener = plain_socket();

	memset(address, 0, sizeof(*address));
	address->sin_family = AF_INET;
	inet_pton(AF_INET, SOCKETS_ADDRESS, &address->sin_addr);
	check_ok(bind(listener, (struct sockaddr *)address, sizeof(*address)));
	check_ok(listen(listener, 10));
	check_ok(getsockname(listener, (struct sockaddr *)address, &length));
	return listener;
}

/* The server's end of a new connection. */
static int accepted(int listener)
{
	int server = accept(listener, NULL, NULL);

	check(server >= 0, "accept: %m");
	return server;
}

static void client_without_a_peer_over_rdma(void)
{
	struct sockaddr_in address, own = { .sin_family = AF_INET }, bound;
	int listener = plain_listener(&address), client = socket(AF_INET, SOCK_STREAM, 0), copy = dup(client), server;
	socklen_t length = sizeof(bound);

	inet_pton(AF_INET, SOCKETS_ADDRESS, &own.sin_addr);
	set_int(client, IPPROTO_TCP, TCP_NODELAY, 1);
	set_int(client, SOL_SOCKET, SO_KEEPALIVE, 1);
	check_ok(bind(client, (struct sockaddr *)&own, sizeof(own)));
	check_ok(getsockname(client, (struct sockaddr *)&bound, &length));
	check_over_rdma(client);
	check_ok(connect(client, (struct sockaddr *)&address, sizeof(address)));
	check(!is_over_rdma(client), "over RDMA");
	server = accepted(listener);
	check_works(client, server);
	check_works(copy, server);
	check(get_int(client, IPPROTO_TCP, TCP_NODELAY) == 1, "TCP_NODELAY is lost");
	check(get_int(client, SOL_SOCKET, SO_KEEPALIVE) == 1, "SO_KEEPALIVE is lost");
	length = sizeof(own);
	check_ok(getpeername(server, (struct sockaddr *)&own, &length));
	check(own.sin_port == bound.sin_port, "the port is lost");
	check_ok(close(client));
	check_works(copy, server);
	check_ok(close(copy));
	check_ok(close(server));
	check_ok(close(listener));
}

static void client_that_does_not_wait(void)
{
	struct sockaddr_in address;
	int listener = plain_listener(&address), client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), server;
	int result = connect(client, (struct sockaddr *)&address, sizeof(address));

	check(!result || errno == EINPROGRESS, "connect: %m");
	check(poll_one(client, POLLOUT, 5000) == POLLOUT, "not connected");
	check(get_int(client, SOL_SOCKET, SO_ERROR) == 0, "an error");
	check(fcntl(client, F_GETFL) & O_NONBLOCK, "the flag is lost");
	server = accepted(listener);
	set_blocking(client, true);
	check_works(client, server);
	check_ok(close(client));
	check_ok(close(server));
	check_ok(close(listener));
}

static void refused_by_both(void)
{
	struct sockaddr_in address;
	int listener = plain_listener(&address), client = socket(AF_INET, SOCK_STREAM, 0);

	check_ok(close(listener));
	check_fails(connect(client, (struct sockaddr *)&address, sizeof(address)), ECONNREFUSED);
	check_ok(close(client));
}

static void server_without_a_client_over_rdma(void)
{
	struct sockaddr_in address;
	int listener = listening_socket(&address), plain = plain_socket(), client, servers[2];

	check_over_rdma(listener);
	check_ok(connect(plain, (struct sockaddr *)&address, sizeof(address)));
	check(poll_one(listener, POLLIN, 5000) == POLLIN, "nobody came");
	servers[0] = accepted(listener);
	check(!is_over_rdma(servers[0]), "over RDMA");
	check_works(plain, servers[0]);
	client = socket(AF_INET, SOCK_STREAM, 0);
	check_ok(connect(client, (struct sockaddr *)&address, sizeof(address)));
	check_over_rdma(client);
	servers[1] = accepted(listener);
	check_over_rdma(servers[1]);
	check_works(client, servers[1]);
	check_ok(close(plain));
	check_ok(close(client));
	check_ok(close(servers[0]));
	check_ok(close(servers[1]));
	check_ok(close(listener));
}

static void *accept_one(void *arg)
{
	int *listener = arg, server = accepted(*listener);
	char byte;

	check(read(server, &byte, 1) == 1, "read: %m");
	check_ok(close(server));
	return NULL;
}

/* Threads that wait in accept() hear both kinds, and each takes one. */
static void waiting_for_both(void)
{
	struct sockaddr_in address;
	int listener = listening_socket(&address), clients[4];
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		threads[i] = start_thread(accept_one, &listener);
	sleep_ms(100);
	for (int i = 0; i < 4; i++) {
		clients[i] = i & 1 ? plain_socket() : socket(AF_INET, SOCK_STREAM, 0);
		check_ok(connect(clients[i], (struct sockaddr *)&address, sizeof(address)));
		check(write(clients[i], "x", 1) == 1, "write: %m");
	}
	for (int i = 0; i < 4; i++) {
		join_thread(threads[i]);
		check_ok(close(clients[i]));
	}
	check_ok(close(listener));
}

static int set_with(int member, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.u64 = 4711 };
	int set = epoll_create1(EPOLL_CLOEXEC);

	check(set >= 0, "epoll_create1: %m");
	check_ok(epoll_ctl(set, EPOLL_CTL_ADD, member, &event));
	return set;
}

/* The member is told of by its word, whichever way it goes. */
static void check_told(int set, uint32_t events)
{
	struct epoll_event event[4];
	int count = epoll_wait(set, event, 4, 5000);

	check(count == 1, "epoll_wait is %d, %m", count);
	check(event[0].events == events && event[0].data.u64 == 4711, "%#x", event[0].events);
}

static void member_that_falls_back(void)
{
	struct sockaddr_in address;
	int listener = plain_listener(&address), client = socket(AF_INET, SOCK_STREAM, 0), server;
	int set = set_with(client, EPOLLIN);
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT, .data.u64 = 4711 };

	check_ok(connect(client, (struct sockaddr *)&address, sizeof(address)));
	server = accepted(listener);
	check(epoll_wait(set, &event, 1, 100) == 0, "told");
	check(write(server, "x", 1) == 1, "write: %m");
	check_told(set, EPOLLIN);
	event = (struct epoll_event){ .events = EPOLLIN | EPOLLOUT, .data.u64 = 4711 };
	check_ok(epoll_ctl(set, EPOLL_CTL_MOD, client, &event));
	check_told(set, EPOLLIN | EPOLLOUT);
	check_ok(epoll_ctl(set, EPOLL_CTL_DEL, client, NULL));
	check_fails(epoll_ctl(set, EPOLL_CTL_DEL, client, NULL), ENOENT);
	check_ok(close(client));
	check_ok(close(server));
	check_ok(close(listener));
	check_ok(close(set));
}

/* Both kinds of clients are told of, if the listener was a member before it listened, and if it was not. */
static void listener_in_a_set(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t length = sizeof(address);
	int early = socket(AF_INET, SOCK_STREAM, 0), set;

	inet_pton(AF_INET, SOCKETS_ADDRESS, &address.sin_addr);
	check_ok(bind(early, (struct sockaddr *)&address, sizeof(address)));
	set = set_with(early, EPOLLIN);
	check_ok(listen(early, 5));
	check_ok(getsockname(early, (struct sockaddr *)&address, &length));
	for (int round = 0; round < 2; round++) {
		for (int kind = 0; kind < 2; kind++) {
			int client = kind ? plain_socket() : socket(AF_INET, SOCK_STREAM, 0), server;

			check_ok(connect(client, (struct sockaddr *)&address, sizeof(address)));
			check_told(set, EPOLLIN);
			server = accepted(early);
			check_works(client, server);
			check_ok(close(client));
			check_ok(close(server));
		}
		check_ok(close(set));
		set = set_with(early, EPOLLIN);
	}
	check_ok(close(early));
	check_ok(close(set));
}

static void port_is_taken(void)
{
	struct sockaddr_in address;
	int listener = plain_listener(&address), other = socket(AF_INET, SOCK_STREAM, 0);

	check_fails(bind(other, (struct sockaddr *)&address, sizeof(address)), EADDRINUSE);
	address.sin_port = 0;
	check_ok(bind(other, (struct sockaddr *)&address, sizeof(address)));
	check_over_rdma(other);
	check_ok(close(other));
	check_ok(close(listener));
}

/* No device has this address. */
static void address_without_rdma(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000002) };
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0), server;

	check_ok(bind(listener, (struct sockaddr *)&address, sizeof(address)));
	check_ok(listen(listener, 1));
	check_ok(getsockname(listener, (struct sockaddr *)&address, &length));
	check_ok(connect(client, (struct sockaddr *)&address, sizeof(address)));
	server = accepted(listener);
	check_works(client, server);
	check_ok(close(client));
	check_ok(close(server));
	check_ok(close(listener));
}

static const struct test tests[] = {
	TEST(client_without_a_peer_over_rdma), TEST(client_that_does_not_wait), TEST(refused_by_both),
	TEST(server_without_a_client_over_rdma), TEST(waiting_for_both), TEST(member_that_falls_back),
	TEST(listener_in_a_set), TEST(port_is_taken), TEST(address_without_rdma),
};

int main(int argc, char **argv)
{
	return RUN_PRELOADED(tests, argc, argv);
}
