/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What happens in a moment in which it is easily missed. */
#include "between.h"
#include "sets.h"

#include <unistd.h>

/* Until what can happen has happened, and for what must come. */
enum { MEANWHILE_MS = 300, SOON_MS = 5000, BUFFER = 16384 };

static char bytes[BUFFER];
static struct connection connection;
static size_t half;

static void *receive_one(void *arg)
{
	receive_all(*(int *)arg, &(char){ 0 }, 1);
	return NULL;
}

static void *wait_for_data(void *arg)
{
	wait_for(*(int *)arg, connection.server, EPOLLIN);
	return NULL;
}

static void send_one_more(void)
{
	send_all(connection.client, "y", 1);
	sleep_ms(MEANWHILE_MS);
}

/*
 * A thread that waits in the socket has taken an event, and still has the turn when the next one comes. Of that one the
 * kernel tells a thread in the set, once.
 */
static void event_while_another_has_the_turn(void)
{
	pthread_t reader, waiter;
	int set = open_set();

	connection = open_connection();
	reader = start_thread(receive_one, &connection.server);
	sleep_ms(MEANWHILE_MS);
	add(set, connection.server, EPOLLIN);
	waiter = start_thread(wait_for_data, &set);
	sleep_ms(MEANWHILE_MS);
	after_next_arming(send_one_more);
	send_all(connection.client, "x", 1);
	join_thread(reader);
	check(thread_ends(waiter, SOON_MS), "the second byte");
	receive_all(connection.server, bytes, 1);
	check_nothing(set, 0);
	waiter = start_thread(wait_for_data, &set);
	sleep_ms(MEANWHILE_MS);
	send_all(connection.client, "z", 1);
	check(thread_ends(waiter, SOON_MS), "the third byte");
	close_set(set);
	close_connection(&connection);
}

static void linger(void)
{
	sleep_ms(MEANWHILE_MS);
}

static void *send_half(void *unused)
{
	(void)unused;
	send_all(connection.client, bytes, half);
	return NULL;
}

/* With a small buffer of the server's. */
static void open_small(void)
{
	struct sockaddr_in address;
	int listener = listening_socket(&address);

	set_int(listener, SOL_SOCKET, SO_RCVBUF, BUFFER);
	connection = connect_through(listener, &address);
}

/*
 * A socket cannot tell its peer of room before earlier such words have arrived, and the application makes no further call:
 * the library's own thread sees to it, although another thread takes the event that it waits for.
 */
static void room_that_is_told_late(void)
{
	pthread_t reader, sender;

	open_small();
	half = get_int(connection.server, SOL_SOCKET, SO_RCVBUF) / 2;
	keep_sends_back(true);
	for (int told = 0; told < 4; told++) {
		send_all(connection.client, bytes, half);
		receive_all(connection.server, bytes, half);
	}
	reader = start_thread(receive_one, &connection.server);
	sleep_ms(MEANWHILE_MS);
	after_next_event(linger);
	send_all(connection.client, "x", 1);
	join_thread(reader);
	keep_sends_back(false);
	send_all(connection.client, "y", 1);
	sender = start_thread(send_half, NULL);
	check(thread_ends(sender, SOON_MS), "there is no room");
	receive_all(connection.server, bytes, half);
	close_connection(&connection);
}

static void *close_client(void *unused)
{
	(void)unused;
	sockets()->close(connection.client);
	return NULL;
}

static void check_descriptors(int wanted)
{
	uint64_t end = now_ms() + SOON_MS * time_scale();

	while (count_fds(NULL) != wanted && now_ms() < end)
		sleep_ms(10);
	check(count_fds(NULL) == wanted, "%d descriptors, not %d", count_fds(NULL), wanted);
}

/* A thread that is cancelled while it closes a socket leaves nothing behind. */
static void cancelled_while_closing(void)
{
	pthread_t closer;
	void *result;
	int descriptors;

	connection = open_connection();
	close_connection(&connection);
	sleep_ms(MEANWHILE_MS);
	descriptors = count_fds(NULL);
	connection = open_connection();
	send_all(connection.client, bytes, sizeof(bytes));
	keep_sends_back(true);
	closer = start_thread(close_client, NULL);
	sleep_ms(MEANWHILE_MS);
	check(!pthread_cancel(closer) && !pthread_join(closer, &result), "pthread_cancel, pthread_join");
	check(result == PTHREAD_CANCELED, "it did not wait");
	keep_sends_back(false);
	receive_all(connection.server, bytes, sizeof(bytes));
	check(!sockets()->recv(connection.server, bytes, 1, 0), "no end: %m");
	check_ok(sockets()->close(connection.server));
	check_descriptors(descriptors);
}

static const struct test tests[] = {
	TEST(event_while_another_has_the_turn),
	TEST(room_that_is_told_late),
	TEST(cancelled_while_closing),
};

int main(int argc, char **argv)
{
	return RUN_TESTS(tests, argc, argv);
}
