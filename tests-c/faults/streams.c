/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stream sockets, of which the library's own thread does much: that fails too. The other side is another process. Some of
 * what fails is told there, and then here by what the peer does.
 */
#include "scenario.h"
#include "scenarios.h"

#include "../harness.h"
#include "../process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rsocket.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { WAIT_MS = 5000 };

static const char text[] = "hello";
static const socklen_t address_size = sizeof(struct sockaddr_in);

static int listener = -1, stream = -1, set = -1;

/* -1 if that cannot be asked. */
static int port_of(int number)
{
	struct sockaddr_in address;
	socklen_t size = sizeof(address);

	return rgetsockname(number, (struct sockaddr *)&address, &size) ? -1 : ntohs(address.sin_port);
}

/* Sends back what comes, to one after the other. */
static void echo(int link)
{
	int listening = rsocket(AF_INET, SOCK_STREAM, 0), peer;
	char data[sizeof(text)];
	ssize_t size;

	if (listening < 0 || rbind(listening, device_address(0), address_size) || rlisten(listening, 8))
		_exit(EXIT_FAILURE);
	send_port(link, (uint16_t)port_of(listening));
	while ((peer = raccept(listening, NULL, NULL)) >= 0) {
		while ((size = rrecv(peer, data, sizeof(data), 0)) > 0)
			rsend(peer, data, (size_t)size, MSG_NOSIGNAL);
		rclose(peer);
	}
}

/* Connects again and again to the port that it is told, and speaks first. */
static void call(int link)
{
	uint16_t port = receive_port(link);
	char data[sizeof(text)];

	for (;;) {
		int number = rsocket(AF_INET, SOCK_STREAM, 0);

		if (number < 0)
			_exit(EXIT_FAILURE);
		if (!rconnect(number, device_address(port), address_size) &&
		    rsend(number, text, sizeof(text), MSG_NOSIGNAL) == sizeof(text))
			rrecv(number, data, sizeof(data), 0);
		rclose(number);
		sleep_ms(20);
	}
}

static void send_text(void)
{
	ssize_t size;

	attempt_far(((size = rsend(stream, text, sizeof(text), MSG_NOSIGNAL)) < 0));
	require(size == sizeof(text), "%zd bytes are sent", size);
}

/* The text, and not the end. */
static void receive_text(void)
{
	char data[sizeof(text) + 1];
	ssize_t size;

	attempt_far(((size = rrecv(stream, data, sizeof(data), 0)) < 0));
	if (!size)
		abandon(0);
	require(size == sizeof(text) && !memcmp(data, text, sizeof(text)), "%zd bytes come", size);
}

static void await(int number, short events)
{
	struct pollfd ready = { .fd = number, .events = events };
	int count;

	attempt_number(count = rpoll(&ready, 1, (int)(WAIT_MS * time_scale())));
	require(count == 1, "nothing comes");
}

void stream_run(void)
{
	uint16_t port;
	char data[1];
	ssize_t size;

	start_peer(echo);
	port = receive_port(peer_link);
	attempt_number(stream = rsocket(AF_INET, SOCK_STREAM, 0));
	attempt_far(rconnect(stream, device_address(port), address_size));
	send_text();
	await(stream, POLLIN);
	receive_text();
	send_text();
	receive_text();
	attempt_far(rshutdown(stream, SHUT_WR));
	attempt_far(((size = rrecv(stream, data, sizeof(data), 0)) < 0));
	require(!size, "%zd bytes come after the end", size);
}

void listening_stream_run(void)
{
	int port;

	start_peer(call);
	attempt_number(listener = rsocket(AF_INET, SOCK_STREAM, 0));
	attempt(rbind(listener, device_address(0), address_size));
	attempt(rlisten(listener, 4));
	attempt_number(port = port_of(listener));
	send_port(peer_link, (uint16_t)port);
	await(listener, POLLIN);
	attempt_number(stream = raccept(listener, NULL, NULL));
	receive_text();
	send_text();
}

static void await_in_set(uint32_t events)
{
	struct epoll_event event;
	int count;

	attempt_number(count = YOUNG(repoll_wait)(set, &event, 1, (int)(WAIT_MS * time_scale())));
	require(count == 1, "nothing comes");
	require(event.data.fd == stream, "an event of another");
	if (!(event.events & events)) {
		int error = 0;
		socklen_t size = sizeof(error);

		attempt(rgetsockopt(stream, SOL_SOCKET, SO_ERROR, &error, &size));
		abandon(error);
	}
}

void stream_set_run(void)
{
	struct epoll_event event = { .events = EPOLLOUT };
	uint16_t port;

	start_peer(echo);
	port = receive_port(peer_link);
	attempt_number(set = YOUNG(repoll_create)(0));
	attempt_number(stream = rsocket(AF_INET, SOCK_STREAM, 0));
	attempt(rfcntl(stream, F_SETFL, O_NONBLOCK));
	event.data.fd = stream;
	attempt_far(rconnect(stream, device_address(port), address_size) && errno != EINPROGRESS);
	attempt(YOUNG(repoll_ctl)(set, EPOLL_CTL_ADD, stream, &event));
	await_in_set(EPOLLOUT);
	event.events = EPOLLIN;
	attempt(YOUNG(repoll_ctl)(set, EPOLL_CTL_MOD, stream, &event));
	send_text();
	await_in_set(EPOLLIN);
	receive_text();
	attempt(YOUNG(repoll_ctl)(set, EPOLL_CTL_DEL, stream, NULL));
}

/* Whatever it returns, the number is free. */
static void close_number(int *number)
{
	if (*number >= 0)
		attempt_void(rclose(*number));
	*number = -1;
}

void stream_clean(void)
{
	close_number(&stream);
	close_number(&set);
	close_number(&listener);
}
