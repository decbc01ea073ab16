/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Connections as such: opened, closed, and watched while nothing happens. */
#include "stream.h"

#include "die.h"
#include "meter.h"
#include "sides.h"

#include <stdlib.h>
#include <sys/resource.h>

enum { PASSES = 20 };

/* All that either side does belongs to a phase, that of the library's own threads too: what is left for later counts. */
void open_and_close(const void *what)
{
	(void)what;
	be_undisturbed();
	await_turn();
	meter_begin();
	for (int i = 0; i < meter_samples(); i++) {
		int socket = connect_socket();

		meter_end(PHASE_CONNECT);
		sockets->close(socket);
		meter_end(PHASE_CLOSE);
		meter_next();
	}
}

/* The client closes first. */
void accept_and_close(const void *what)
{
	int listener = listen_for_connections();
	char byte;

	(void)what;
	be_undisturbed();
	give_turn();
	meter_begin();
	for (int i = 0; i < meter_samples(); i++) {
		int socket = accept_connection(listener);

		meter_end(PHASE_ACCEPT);
		if (sockets->recv(socket, &byte, 1, 0))
			die("receive, at the end");
		sockets->close(socket);
		meter_end(PHASE_CLOSE);
		meter_next();
	}
}

/* A socket may take several descriptors. */
void raise_limit(size_t connections)
{
	const rlim_t wanted = connections * 4 + 100;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		die("getrlimit");
	if (limit.rlim_cur >= wanted)
		return;
	limit = (struct rlimit){ wanted, wanted };
	if (setrlimit(RLIMIT_NOFILE, &limit))
		die("setrlimit");
}

void watch_idle(const void *what)
{
	const size_t number = *(const size_t *)what;
	struct pollfd *fds = calloc(number, sizeof(*fds));

	if (!fds)
		die("calloc");
	raise_limit(number);
	await_turn();
	for (size_t i = 0; i < number; i++)
		fds[i] = (struct pollfd){ .fd = connect_socket(), .events = POLLIN };
	await_turn();
	meter_repeats(PASSES);
	meter_begin();
	for (int sample = 0; sample < meter_samples(); sample++) {
		for (int i = 0; i < PASSES; i++)
			if (sockets->poll(fds, number, 0))
				die("poll");
		meter_end(PHASE_POLL);
		meter_next();
	}
	free(fds);
	give_turn();
}

/* Ends after the other side, and with its connections open: closing is not measured. */
void stay_idle(const void *what)
{
	const size_t number = *(const size_t *)what;
	int listener;

	raise_limit(number);
	listener = listen_for_connections();
	give_turn();
	for (size_t i = 0; i < number; i++)
		accept_connection(listener);
	give_turn();
	await_turn();
}
