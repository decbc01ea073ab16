/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Peers that greet wrongly, or not at all. */
#include "attacker.h"
#include "sockets.h"

#include <stdlib.h>

enum { SILENT = 100 };

/* An honest client of the listener gets its connection, and data through it. */
static void check_listener(int listener, const struct sockaddr_in *address)
{
	int client = sockets()->socket(AF_INET, SOCK_STREAM, 0), server;
	char byte = 'x';

	check(client >= 0, "socket: %m");
	check_ok(sockets()->connect(client, (const struct sockaddr *)address, sizeof(*address)));
	server = sockets()->accept(listener, NULL, NULL);
	check(server >= 0, "accept: %m");
	send_all(client, &byte, 1);
	receive_all(server, &byte, 1);
	check_ok(sockets()->close(client));
	check_ok(sockets()->close(server));
}

/* A listener that has served a client, which everything that a process keeps was made for. */
static int warm_listener(struct sockaddr_in *address)
{
	int listener = listening_socket(address);

	check_listener(listener, address);
	note_resources();
	return listener;
}

static void be_refused(const struct sockaddr_in *address, void (*change)(struct greeting *greeting), size_t length)
{
	struct attacker attacker;
	enum rdma_cm_event_type type;

	find_victim(&attacker, address);
	change(&attacker.greeting);
	type = greet(&attacker, length);
	check(type == RDMA_CM_EVENT_REJECTED, "%s", rdma_event_str(type));
	leave(&attacker);
}

static void nothing(struct greeting *greeting)
{
	(void)greeting;
}

static void other_version(struct greeting *greeting)
{
	greeting->version = 2;
}

static void version_zero(struct greeting *greeting)
{
	greeting->version = 0;
}

static void no_list(struct greeting *greeting)
{
	greeting->list.length = 0;
}

static void garbage(struct greeting *greeting)
{
	for (size_t i = 0; i < sizeof(*greeting); i++)
		((unsigned char *)greeting)[i] = (unsigned char)random();
	greeting->version = 7;
}

static void (*const bad[])(struct greeting *) = { other_version, version_zero, no_list, garbage };

static void clients_with_bad_greetings(void)
{
	struct sockaddr_in address;
	int listener = warm_listener(&address);

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		be_refused(&address, bad[i], sizeof(struct greeting));
	check_listener(listener, &address);
	check_nothing_is_left();
	check_ok(sockets()->close(listener));
}

/* Where the rest is zeros, or was never sent. */
static void clients_with_short_greetings(void)
{
	static const size_t lengths[] = { 0, 1, 8, 23 };
	struct sockaddr_in address;
	int listener = warm_listener(&address);

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		be_refused(&address, nothing, lengths[i]);
	check_listener(listener, &address);
	check_nothing_is_left();
	check_ok(sockets()->close(listener));
}

static void servers_with_bad_greetings(void)
{
	struct sockaddr_in address;
	struct attacker attacker;

	lie_in_wait(&attacker, &address);
	for (size_t i = 0; i <= sizeof(bad) / sizeof(bad[0]); i++) {
		int client = sockets()->socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		int error;

		check_fails(sockets()->connect(client, (struct sockaddr *)&address, sizeof(address)), EINPROGRESS);
		await_victim(&attacker);
		if (i < sizeof(bad) / sizeof(bad[0]))
			bad[i](&attacker.greeting);
		answer(&attacker, i < sizeof(bad) / sizeof(bad[0]) ? sizeof(struct greeting) : 0);
		await_established(&attacker);
		check(poll_one(client, POLLOUT, 10000 * time_scale()) & POLLERR, "no error");
		error = get_int(client, SOL_SOCKET, SO_ERROR);
		check(error == EPROTO, "%s", errno_name(error));
		check_fails((int)sockets()->send(client, "x", 1, MSG_NOSIGNAL), ENOTCONN);
		/* It is told that it is not wanted, before the socket is closed. */
		await_disconnected(&attacker);
		leave(&attacker);
		check_ok(sockets()->close(client));
		if (!i)
			note_resources();
	}
	check_nothing_is_left();
	leave_for_good(&attacker);
}

/* Goes away at each step of becoming a connection. */
static void clients_that_leave(void)
{
	struct sockaddr_in address;
	int listener = warm_listener(&address);

	for (int step = 0; step < 6; step++) {
		struct rdma_conn_param param = { .private_data_len = sizeof(struct greeting) };
		struct attacker attacker;

		find_victim(&attacker, &address);
		param.private_data = &attacker.greeting;
		switch (step) {
		case 0:
			break;
		case 1:
		case 2:
			check_ok(rdma_connect(attacker.id, &param));
			/* The request may have arrived, or been answered. */
			sleep_ms(step == 1 ? 0 : 100);
			break;
		default:
			check(greet(&attacker, sizeof(struct greeting)) == RDMA_CM_EVENT_ESTABLISHED, "not connected");
			if (step > 3)
				tell(&attacker, MESSAGE(OP_CONTROL, CONTROL_DISCONNECT));
			if (step > 4)
				sleep_ms(100);
		}
		leave(&attacker);
	}
	/* Those that were there for a moment are connections, with an end. */
	set_blocking(listener, false);
	for (int server; poll_one(listener, POLLIN, 500) && (server = sockets()->accept(listener, NULL, NULL)) >= 0;) {
		char byte;

		set_blocking(server, true);
		check(sockets()->recv(server, &byte, 1, 0) <= 0, "data");
		check_ok(sockets()->close(server));
	}
	set_blocking(listener, true);
	check_listener(listener, &address);
	check_nothing_is_left();
	check_ok(sockets()->close(listener));
}

/* Goes away at each step of becoming a connection. */
static void servers_that_leave(void)
{
	struct sockaddr_in address;
	struct attacker attacker;
	int idle = listening_socket(&address);

	/* A thread that has waited once keeps a descriptor for that. */
	check(!poll_one(idle, POLLIN, 10), "a connection");
	check_ok(sockets()->close(idle));
	lie_in_wait(&attacker, &address);
	for (int step = 0; step < 4; step++) {
		int client = sockets()->socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		char byte;

		check_fails(sockets()->connect(client, (struct sockaddr *)&address, sizeof(address)), EINPROGRESS);
		await_victim(&attacker);
		if (step == 1)
			check_ok(rdma_reject(attacker.id, "no", 2));
		if (step > 1)
			answer(&attacker, sizeof(struct greeting));
		if (step > 2)
			await_established(&attacker);
		leave(&attacker);
		check(poll_one(client, POLLIN, 20000 * time_scale()), "nothing happens");
		set_blocking(client, true);
		check(sockets()->recv(client, &byte, 1, 0) <= 0, "data");
		check_ok(sockets()->close(client));
		if (!step)
			note_resources();
	}
	check_nothing_is_left();
	leave_for_good(&attacker);
}

/* More of them than the listener has asked for. */
static void silent_clients(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	int listener = sockets()->socket(AF_INET, SOCK_STREAM, 0);
	socklen_t length = sizeof(address);
	uint64_t start;

	inet_pton(AF_INET, SOCKETS_ADDRESS, &address.sin_addr);
	check_ok(sockets()->bind(listener, (struct sockaddr *)&address, sizeof(address)));
	check_ok(sockets()->listen(listener, 4));
	check_ok(sockets()->getsockname(listener, (struct sockaddr *)&address, &length));
	for (int i = 0; i < SILENT; i++)
		ask_and_be_silent(&address);
	start = now_ms();
	check_listener(listener, &address);
	check(now_ms() - start < 20000 * time_scale(), "an honest client waits");
	check_ok(sockets()->close(listener));
}

static const struct test tests[] = {
	TEST(clients_with_bad_greetings),
	TEST(clients_with_short_greetings),
	TEST(servers_with_bad_greetings),
	TEST(clients_that_leave),
	TEST(servers_that_leave),
	SLOW_TEST(silent_clients, 120),
};

int main(int argc, char **argv)
{
	return RUN_TESTS(tests, argc, argv);
}
