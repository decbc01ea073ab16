/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What rpoll() and rselect() say, and when. */
#include "sockets.h"

#include <string.h>
#include <unistd.h>

static char in[1000];

static void connected(void)
{
	struct connection connection = open_connection();
	short both = POLLIN | POLLOUT;

	check(poll_one(connection.client, both, 1000) == POLLOUT, "nothing sent");
	send_all(connection.server, "x", 1);
	check(poll_one(connection.client, POLLIN, 5000) == POLLIN, "something sent");
	check(poll_one(connection.client, both, 5000) == both, "both");
	check(poll_one(connection.client, POLLRDNORM, 0) == POLLRDNORM, "POLLRDNORM");
	check(poll_one(connection.client, POLLWRNORM, 0) == POLLWRNORM, "POLLWRNORM");
	check(!poll_one(connection.client, POLLPRI, 0), "POLLPRI");
	check(!poll_one(connection.client, 0, 0), "nothing asked");
	receive_all(connection.client, in, 1);
	check(!poll_one(connection.client, POLLIN, 0), "taken");
	close_connection(&connection);
}

static void after_the_end(void)
{
	struct connection connection = open_connection();

	check_ok(sockets()->shutdown(connection.server, SHUT_WR));
	check(poll_one(connection.client, POLLIN | POLLRDHUP, 5000) == (POLLIN | POLLRDHUP), "half an end");
	check(poll_one(connection.client, POLLOUT, 5000) == POLLOUT, "the other half");
	check_ok(sockets()->shutdown(connection.client, SHUT_WR));
	check(poll_one(connection.client, 0, 5000) == POLLHUP, "the end");
	check(poll_one(connection.server, POLLIN, 5000) & POLLIN, "the end on the other side");
	close_connection(&connection);
}

static void listener(void)
{
	struct sockaddr_in address;
	int listener = listening_socket(&address), client, server;

	check(!poll_one(listener, POLLIN, 0), "nobody came");
	set_blocking(listener, false);
	check_fails(sockets()->accept(listener, NULL, NULL), EAGAIN);
	client = sockets()->socket(AF_INET, SOCK_STREAM, 0);
	check_ok(sockets()->connect(client, (struct sockaddr *)&address, sizeof(address)));
	check(poll_one(listener, POLLIN, 5000) == POLLIN, "somebody came");
	server = sockets()->accept(listener, NULL, NULL);
	check(server >= 0, "accept: %m");
	check(!poll_one(listener, POLLIN, 0), "nobody else came");
	check_ok(sockets()->close(client));
	check_ok(sockets()->close(server));
	check_ok(sockets()->close(listener));
}

static void time_limit(void)
{
	struct connection connection = open_connection();

	for (int ms = 0; ms <= 900; ms += 300) {
		uint64_t start = now_ms(), took;

		check(!poll_one(connection.client, POLLIN, ms), "ready");
		took = now_ms() - start;
		check(took + 5 >= (uint64_t)ms, "%u ms instead of %d", (unsigned int)took, ms);
		check(took < (uint64_t)ms + 2000 * time_scale(), "%u ms instead of %d", (unsigned int)took, ms);
	}
	close_connection(&connection);
}

static void *send_late(void *arg)
{
	int *socket = arg;

	sleep_ms(100);
	send_all(*socket, "x", 1);
	return NULL;
}

static void sleeping(void)
{
	struct connection connection = open_connection();

	for (int round = 0; round < 3; round++) {
		pthread_t thread = start_thread(send_late, &connection.server);

		check(poll_one(connection.client, POLLIN, -1) == POLLIN, "not ready");
		receive_all(connection.client, in, 1);
		join_thread(thread);
	}
	close_connection(&connection);
}

static void *poll_reading(void *arg)
{
	int *socket = arg;

	check(poll_one(*socket, POLLIN, -1) & POLLIN, "not ready");
	return NULL;
}

/* Everybody who waits for a socket learns of its data, whoever takes note of it first. */
static void many_pollers(void)
{
	struct connection connection = open_connection();
	pthread_t threads[8];

	for (int i = 0; i < 8; i++)
		threads[i] = start_thread(poll_reading, &connection.client);
	sleep_ms(100);
	send_all(connection.server, "x", 1);
	for (int i = 0; i < 8; i++)
		join_thread(threads[i]);
	receive_all(connection.client, in, 1);
	close_connection(&connection);
}

/* A thread that sends, and takes note of what comes, does not keep another from learning of it. */
static void poller_and_sender(void)
{
	struct connection connection = open_connection();
	pthread_t thread = start_thread(poll_reading, &connection.client);

	for (int i = 0; i < 200; i++)
		send_all(connection.client, in, 100);
	send_all(connection.server, "x", 1);
	for (int i = 0; i < 20; i++)
		send_all(connection.client, in, 100);
	join_thread(thread);
	close_connection(&connection);
}

static void other_descriptors(void)
{
	struct connection connection = open_connection();
	struct pollfd fds[4] = { { .events = POLLIN } };
	int ends[2];
	pthread_t thread;

	check_ok(pipe(ends));
	fds[0].fd = connection.client;
	fds[1] = (struct pollfd){ .fd = -1, .events = POLLIN, .revents = 7 };
	fds[2] = (struct pollfd){ .fd = ends[0], .events = POLLIN };
	fds[3] = (struct pollfd){ .fd = ends[1], .events = POLLOUT };
	check(sockets()->poll(fds, 4, 0) == 1 && fds[3].revents == POLLOUT && !fds[1].revents, "the pipe's other end");
	check(write(ends[1], "x", 1) == 1, "write: %m");
	check(sockets()->poll(fds, 3, -1) == 1 && fds[2].revents == POLLIN && !fds[0].revents, "the pipe");
	check(read(ends[0], in, 1) == 1, "read: %m");
	thread = start_thread(send_late, &connection.server);
	check(sockets()->poll(fds, 3, -1) == 1 && fds[0].revents == POLLIN && !fds[2].revents, "the socket");
	join_thread(thread);
	check_ok(close(ends[1]));
	check_ok(close(ends[0]));
	check(sockets()->poll(fds, 3, 0) == 2 && fds[2].revents == POLLNVAL, "a closed one");
	check(sockets()->poll(NULL, 0, 10) == 0, "no descriptor");
	close_connection(&connection);
}

static void closed_socket(void)
{
	struct connection connection = open_connection();

	check_ok(sockets()->close(connection.server));
	check_ok(sockets()->close(connection.client));
	check(poll_one(connection.client, POLLIN, 0) == POLLNVAL, "a closed socket");
}

static void sets(void)
{
	struct connection connection = open_connection();
	int top = (connection.client > connection.server ? connection.client : connection.server) + 1;
	struct timeval limit = { .tv_usec = 100000 };
	fd_set read, write, except;

	FD_ZERO(&read);
	FD_SET(connection.client, &read);
	write = except = read;
	check(sockets()->select(top, &read, &write, &except, &limit) == 1, "ready to send only");
	check(!FD_ISSET(connection.client, &read) && FD_ISSET(connection.client, &write), "the wrong set");
	check(!FD_ISSET(connection.client, &except), "an exception");
	FD_SET(connection.client, &read);
	check(sockets()->select(top, &read, NULL, NULL, &limit) == 0, "ready");
	check(!FD_ISSET(connection.client, &read), "still in the set");
	send_all(connection.server, "x", 1);
	FD_SET(connection.client, &read);
	FD_SET(connection.client, &write);
	check(sockets()->select(top, &read, NULL, NULL, NULL) == 1 && FD_ISSET(connection.client, &read), "not ready");
	check(sockets()->select(top, &read, &write, NULL, NULL) == 2, "not both");
	check_ok(sockets()->close(connection.server));
	receive_all(connection.client, in, 1);
	FD_ZERO(&except);
	FD_SET(connection.client, &except);
	check(sockets()->select(top, &read, NULL, &except, NULL) == 1 && FD_ISSET(connection.client, &read), "no end");
	limit.tv_sec = -1;
	check_fails(sockets()->select(top, &read, NULL, NULL, &limit), EINVAL);
	check_fails(sockets()->select(-1, &read, NULL, NULL, NULL), EINVAL);
	check_ok(sockets()->close(connection.client));
}

static void wait_many(void)
{
	enum { COUNT = 20 };
	struct connection connections[COUNT];
	struct pollfd fds[COUNT];

	for (int i = 0; i < COUNT; i++) {
		connections[i] = open_connection();
		fds[i] = (struct pollfd){ .fd = connections[i].server, .events = POLLIN };
	}
	for (int i = 0; i < 3 * COUNT; i++) {
		int one = i * 7 % COUNT;

		send_all(connections[one].client, "x", 1);
		check(sockets()->poll(fds, COUNT, -1) == 1, "not one");
		check(fds[one].revents == POLLIN, "another one");
		receive_all(connections[one].server, in, 1);
	}
	for (int i = 0; i < COUNT; i++)
		close_connection(&connections[i]);
}

enum { IDLE = 40, LOOKS = 50 };

static void *read_one(void *arg)
{
	receive_all(*(int *)arg, &(char){ 0 }, 1);
	return NULL;
}

static void check_idle(struct pollfd *fds, int ready)
{
	for (int look = 0; look < LOOKS; look++)
		check(sockets()->poll(fds, IDLE, 0) == ready, "not %d", ready);
}

static struct pollfd awaited(const struct connection *connection)
{
	return (struct pollfd){ .fd = connection->server, .events = POLLIN };
}

/* Nothing happens for long, and then on one of them; whoever else looks there. */
static void many_idle(void)
{
	struct connection connections[IDLE];
	struct pollfd fds[IDLE];

	for (int i = 0; i < IDLE; i++) {
		connections[i] = open_connection();
		fds[i] = awaited(&connections[i]);
	}
	for (int i = 0; i < IDLE; i++) {
		check_idle(fds, 0);
		if (i % 4 == 1) {
			pthread_t reader = start_thread(read_one, &connections[i].server);

			sleep_ms(20);
			send_all(connections[i].client, "x", 1);
			join_thread(reader);
		}
		send_all(connections[i].client, "x", 1);
		check(sockets()->poll(fds, IDLE, i % 2 ? 5000 * (int)time_scale() : -1) == 1, "nothing");
		check(fds[i].revents == POLLIN, "not %d", i);
		check_idle(fds, 1);
		receive_all(connections[i].server, in, 1);
	}
	check_idle(fds, 0);
	for (int i = 0; i < IDLE; i += 2) {
		check_ok(sockets()->close(connections[i].client));
		check(poll_one(connections[i].server, POLLIN, 5000) & POLLIN, "no end");
	}
	check_idle(fds, IDLE / 2);
	for (int i = 0; i < IDLE; i += 2)
		check_ok(sockets()->close(connections[i].server));
	check_idle(fds, IDLE / 2);
	check(fds[0].revents == POLLNVAL, "not closed");
	/* Their numbers are others' now. */
	for (int i = 0; i < IDLE; i += 2) {
		connections[i] = open_connection();
		fds[i] = awaited(&connections[i]);
	}
	check_idle(fds, 0);
	for (int i = 0; i < IDLE; i++) {
		send_all(connections[i].client, "x", 1);
		check(poll_one(connections[i].server, POLLIN, 5000) == POLLIN, "no data");
	}
	check_idle(fds, IDLE);
	for (int i = 0; i < IDLE; i++)
		close_connection(&connections[i]);
}

static const struct test tests[] = {
	TEST(connected),
	TEST(after_the_end),
	TEST(listener),
	TEST(time_limit),
	TEST(sleeping),
	TEST(many_pollers),
	TEST(poller_and_sender),
	TEST(other_descriptors),
	TEST(closed_socket),
	TEST(sets),
	SLOW_TEST(wait_many, 60),
	SLOW_TEST(many_idle, 60),
};

int main(int argc, char **argv)
{
	return RUN_TESTS(tests, argc, argv);
}
