/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What stream sockets cost: to open and to close, to send little and much, and to watch. Prints "SCENARIO SIDE PHASE VALUE"
 * lines.
 *
 *	stream rsocket|tcp calls|doorbells|cpu|time ADDRESS [SCENARIO...]	by default all scenarios
 */
#include "stream.h"

#include "die.h"
#include "sides.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <rdma/rsocket.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PORT = 7471 };

static const struct sockets kinds[] = {
	{ "rsocket", rsocket, rsetsockopt, rbind, rlisten, raccept, rconnect, rsend, rrecv, rpoll, rclose,
	  repoll_create, repoll_ctl, repoll_wait },
	{ "tcp", socket, setsockopt, bind, listen, accept, connect, send, recv, poll, close,
	  epoll_create1, epoll_ctl, epoll_wait },
};

const struct sockets *sockets;
static struct sockaddr_in address = { .sin_family = AF_INET };

static const struct scenario {
	const char *name;
	void (*server)(const void *what);
	void (*client)(const void *what);
	size_t what;
	int samples;
} scenarios[] = {
	{ "connection", accept_and_close, open_and_close, 0, 20 },
	{ "ping.1", pong, ping, 1, 20 },
	{ "ping.64", pong, ping, 64, 20 },
	{ "ping.1024", pong, ping, 1024, 20 },
	{ "ping.4096", pong, ping, 4096, 20 },
	{ "ping.16384", pong, ping, 16384, 5 },
	{ "ping.65536", pong, ping, 65536, 3 },
	{ "pour.64", drink, pour, 64, 10 },
	{ "pour.1024", drink, pour, 1024, 10 },
	{ "pour.65536", drink, pour, 65536, 3 },
	{ "watch.10", stay_idle, watch_idle, 10, 20 },
	{ "watch.100", stay_idle, watch_idle, 100, 20 },
	{ "watch.500", stay_idle, watch_idle, 500, 20 },
	{ "ask.10", stay_idle, ask_set, 10, 20 },
	{ "ask.100", stay_idle, ask_set, 100, 20 },
	{ "ask.500", stay_idle, ask_set, 500, 20 },
	{ "ask.2000", stay_idle, ask_set, 2000, 20 },
	{ "set.10", serve_set, ping_by_turns, 10, 20 },
	{ "set.100", serve_set, ping_by_turns, 100, 20 },
	{ "set.500", serve_set, ping_by_turns, 500, 20 },
	{ "set.2000", serve_set, ping_by_turns, 2000, 20 },
};

static int new_socket(void)
{
	const int on = 1;
	int socket = sockets->socket(AF_INET, SOCK_STREAM, 0);

	if (socket < 0)
		die("socket");
	if (sockets->setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)))
		die("setsockopt");
	return socket;
}

int connect_socket(void)
{
	int socket = new_socket();

	if (sockets->connect(socket, (struct sockaddr *)&address, sizeof(address)))
		die("connect");
	return socket;
}

int listen_for_connections(void)
{
	const int on = 1;
	int listener = new_socket();

	if (sockets->setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)))
		die("setsockopt");
	if (sockets->bind(listener, (struct sockaddr *)&address, sizeof(address)))
		die("bind");
	if (sockets->listen(listener, SOMAXCONN))
		die("listen");
	return listener;
}

int accept_connection(int listener)
{
	int socket = sockets->accept(listener, NULL, NULL);

	if (socket < 0)
		die("accept");
	return socket;
}

void send_all(int socket, const void *data, size_t length)
{
	while (length) {
		ssize_t sent = sockets->send(socket, data, length, 0);

		if (sent <= 0)
			die("send");
		data = (const char *)data + sent;
		length -= (size_t)sent;
	}
}

void receive_all(int socket, void *data, size_t length)
{
	while (length) {
		ssize_t received = sockets->recv(socket, data, length, 0);

		if (received <= 0)
			die("receive");
		data = (char *)data + received;
		length -= (size_t)received;
	}
}

static bool is_wanted(const struct scenario *scenario, int argc, char **argv)
{
	for (int i = 4; i < argc; i++)
		if (!strcmp(argv[i], scenario->name))
			return true;
	return argc < 5;
}

int main(int argc, char **argv)
{
	enum meter_kind kind;

	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(argv[1], kinds[i].name))
			sockets = &kinds[i];
	if (argc < 4 || !sockets || !meter_kind(argv[2], &kind) || inet_pton(AF_INET, argv[3], &address.sin_addr) != 1) {
		fprintf(stderr, "usage: %s rsocket|tcp calls|doorbells|cpu|time ADDRESS [SCENARIO...]\n", argv[0]);
		return EXIT_FAILURE;
	}
	address.sin_port = htons(PORT);
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		const struct scenario *scenario = &scenarios[i];

		if (is_wanted(scenario, argc, argv))
			run_sides(&(struct sides){ scenario->name, scenario->server, scenario->client, &scenario->what }, kind,
				  scenario->samples);
	}
	return EXIT_SUCCESS;
}
