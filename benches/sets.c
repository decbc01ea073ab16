/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sets of connections. */
#include "stream.h"

#include "die.h"
#include "meter.h"
#include "sides.h"

#include <stdlib.h>

enum { ASKED = 50, ROUND_TRIPS = 50 };

static int new_set(void)
{
	int set = sockets->set_create(0);

	if (set < 0)
		die("a set");
	return set;
}

static void add(int set, int socket)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = socket };

	if (sockets->set_ctl(set, EPOLL_CTL_ADD, socket, &event))
		die("a member");
}

void ask_set(const void *what)
{
	const size_t number = *(const size_t *)what;
	struct epoll_event event;
	int set;

	raise_limit(number);
	set = new_set();
	await_turn();
	for (size_t i = 0; i < number; i++)
		add(set, connect_socket());
	await_turn();
	meter_repeats(ASKED);
	meter_begin();
	for (int sample = 0; sample < meter_samples(); sample++) {
		for (int i = 0; i < ASKED; i++)
			if (sockets->set_wait(set, &event, 1, 0))
				die("asking");
		meter_end(PHASE_POLL);
		meter_next();
	}
	give_turn();
}

void serve_set(const void *what)
{
	const size_t number = *(const size_t *)what;
	struct epoll_event event;
	int set, listener;
	char byte;

	raise_limit(number);
	set = new_set();
	listener = listen_for_connections();
	give_turn();
	for (size_t i = 0; i < number; i++)
		add(set, accept_connection(listener));
	give_turn();
	meter_repeats(ROUND_TRIPS);
	meter_begin();
	for (int sample = 0; sample < meter_samples(); sample++) {
		for (int i = 0; i < ROUND_TRIPS; i++) {
			if (sockets->set_wait(set, &event, 1, -1) != 1)
				die("waiting");
			receive_all(event.data.fd, &byte, 1);
			send_all(event.data.fd, &byte, 1);
		}
		meter_end(PHASE_ROUND_TRIP);
		meter_next();
	}
}

void ping_by_turns(const void *what)
{
	const size_t number = *(const size_t *)what;
	int *all = calloc(number, sizeof(*all));
	size_t next = 0;
	char byte = 0;

	if (!all)
		die("calloc");
	raise_limit(number);
	await_turn();
	for (size_t i = 0; i < number; i++)
		all[i] = connect_socket();
	await_turn();
	meter_repeats(ROUND_TRIPS);
	meter_begin();
	for (int sample = 0; sample < meter_samples(); sample++) {
		for (int i = 0; i < ROUND_TRIPS; i++) {
			send_all(all[next], &byte, 1);
			receive_all(all[next], &byte, 1);
			next = (next + 1) % number;
		}
		meter_end(PHASE_ROUND_TRIP);
		meter_next();
	}
	free(all);
}
