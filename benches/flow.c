/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Data through a connection. */
#include "stream.h"

#include "meter.h"
#include "sides.h"

enum { ROUND_TRIPS = 20, MESSAGES = 64 };

static char data[65536];

static int begin_as_client(int repetitions)
{
	meter_repeats(repetitions);
	await_turn();
	return connect_socket();
}

static int begin_as_server(int repetitions)
{
	int listener = listen_for_connections();

	meter_repeats(repetitions);
	give_turn();
	return accept_connection(listener);
}

void ping(const void *what)
{
	const size_t size = *(const size_t *)what;
	int socket = begin_as_client(ROUND_TRIPS);

	meter_begin();
	for (int sample = 0; sample < meter_samples(); sample++) {
		for (int i = 0; i < ROUND_TRIPS; i++) {
			send_all(socket, data, size);
			receive_all(socket, data, size);
		}
		meter_end(PHASE_ROUND_TRIP);
		meter_next();
	}
	sockets->close(socket);
}

void pong(const void *what)
{
	const size_t size = *(const size_t *)what;
	int socket = begin_as_server(ROUND_TRIPS);

	meter_begin();
	for (int sample = 0; sample < meter_samples(); sample++) {
		for (int i = 0; i < ROUND_TRIPS; i++) {
			receive_all(socket, data, size);
			send_all(socket, data, size);
		}
		meter_end(PHASE_ROUND_TRIP);
		meter_next();
	}
	sockets->close(socket);
}

/* What is sent has arrived when the one byte comes back: a sample is all the way, not only into a buffer. */
void pour(const void *what)
{
	const size_t size = *(const size_t *)what;
	int socket = begin_as_client(MESSAGES);

	meter_begin();
	for (int sample = 0; sample < meter_samples(); sample++) {
		for (int i = 0; i < MESSAGES; i++)
			send_all(socket, data, size);
		receive_all(socket, data, 1);
		meter_end(PHASE_TRANSFER);
		meter_next();
	}
	sockets->close(socket);
}

void drink(const void *what)
{
	const size_t size = *(const size_t *)what;
	int socket = begin_as_server(MESSAGES);

	meter_begin();
	for (int sample = 0; sample < meter_samples(); sample++) {
		for (int i = 0; i < MESSAGES; i++)
			receive_all(socket, data, size);
		send_all(socket, data, 1);
		meter_end(PHASE_TRANSFER);
		meter_next();
	}
	sockets->close(socket);
}
