/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sets of sockets in long rows of random steps. What the steps say is observed, so that the text is the same for the
 * sockets of the kernel and for those of the library. Data is given the time to arrive before the next step.
 */
#include "sets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOCKETS = 4, SETS = 3, ROOM = 4096 };

static struct connection connections[SOCKETS];
static size_t pending[SOCKETS];
static bool ended[SOCKETS], shut[SOCKETS];
static int sets[SETS];
static uint32_t seed;
static char data[ROOM];

static unsigned int random_below(unsigned int limit)
{
	seed = seed * 1103515245u + 12345;
	return (seed >> 16) % limit;
}

static void open_one(int one)
{
	connections[one] = open_connection();
	set_blocking(connections[one].client, false);
	pending[one] = 0;
	ended[one] = shut[one] = false;
}

static uint32_t random_events(void)
{
	static const uint32_t awaited[] = { EPOLLIN, EPOLLOUT, EPOLLIN | EPOLLOUT, EPOLLIN | EPOLLRDHUP, EPOLLRDHUP, 0,
					    EPOLLIN | EPOLLRDNORM };
	static const uint32_t ways[] = { 0, 0, EPOLLET, EPOLLET, EPOLLONESHOT, EPOLLET | EPOLLONESHOT, EPOLLEXCLUSIVE,
					 EPOLLEXCLUSIVE | EPOLLET };

	return awaited[random_below(sizeof(awaited) / sizeof(*awaited))] | ways[random_below(sizeof(ways) / sizeof(*ways))];
}

static const char *said(int result)
{
	return result < 0 ? errno_name(errno) : "0";
}

static void change(int step, int set, int one)
{
	static const int operations[] = { EPOLL_CTL_ADD, EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_MOD, EPOLL_CTL_DEL };
	int operation = operations[random_below(5)];
	struct epoll_event event = { .events = random_events(), .data.u32 = one };
	int result = sockets()->epoll_ctl(sets[set], operation, connections[one].client, &event);

	observe("%d: set %d, operation %d of %d for %#x: %s", step, set, operation, one, event.events, said(result));
}

static int by_number(const void *left, const void *right)
{
	const struct epoll_event *a = left, *b = right;

	return (int)a->data.u32 - (int)b->data.u32;
}

static void wait_now(int step, int set)
{
	/* The library may need some of the room for itself. */
	struct epoll_event events[4 * SOCKETS];
	int told = sockets()->epoll_wait(sets[set], events, 4 * SOCKETS, 0);
	char text[200] = "";

	check(told >= 0, "epoll_wait: %m");
	qsort(events, told, sizeof(*events), by_number);
	for (int i = 0; i < told; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " %u=%#x", events[i].data.u32, events[i].events);
	observe("%d: set %d has%s", step, set, told ? text : " nothing");
}

/* Until the socket has all that was sent. */
static void arrive(int one)
{
	struct pollfd fd = { .fd = connections[one].client, .events = POLLIN };

	while (pending[one]) {
		ssize_t here = sockets()->recv(connections[one].client, data, ROOM, MSG_PEEK);

		if (here >= (ssize_t)pending[one])
			break;
		check(sockets()->poll(&fd, 1, 5) >= 0, "poll: %m");
	}
}

static void give(int one)
{
	size_t length = 1 + random_below(3);

	if (ended[one] || pending[one] + length > ROOM)
		return;
	send_all(connections[one].server, data, length);
	pending[one] += length;
	arrive(one);
}

static void take(int step, int one)
{
	ssize_t received = sockets()->recv(connections[one].client, data, 1 + random_below(4), 0);

	observe("%d: %d gives %zd", step, one, received);
	if (received > 0)
		pending[one] -= received;
}

/* One side after the other: so the end looks the same, whatever it takes. */
static void end(int step, int one)
{
	if (!ended[one]) {
		check_ok(sockets()->shutdown(connections[one].server, SHUT_WR));
		ended[one] = true;
		check(poll_one(connections[one].client, POLLRDHUP, 5000) & POLLRDHUP, "no end");
	} else if (!shut[one] && !pending[one]) {
		check_ok(sockets()->shutdown(connections[one].client, SHUT_WR));
		shut[one] = true;
		check(poll_one(connections[one].client, 0, 5000) & POLLHUP, "no end of both");
	}
	observe("%d: end of %d", step, one);
}

static void renew(int step, int one)
{
	close_connection(&connections[one]);
	open_one(one);
	observe("%d: another %d", step, one);
}

static void row(uint32_t first)
{
	seed = first;
	for (int i = 0; i < SOCKETS; i++)
		open_one(i);
	for (int i = 0; i < SETS; i++)
		sets[i] = open_set();
	for (int step = 0; step < 300; step++) {
		int one = random_below(SOCKETS), set = random_below(SETS), what = random_below(100);

		if (what < 25)
			change(step, set, one);
		else if (what < 55)
			wait_now(step, set);
		else if (what < 75)
			give(one);
		else if (what < 94)
			take(step, one);
		else if (what < 97)
			end(step, one);
		else
			renew(step, one);
	}
	for (int i = 0; i < SETS; i++)
		close_set(sets[i]);
	for (int i = 0; i < SOCKETS; i++)
		close_connection(&connections[i]);
}

#define ROW(number)                \
	static void row_##number(void) \
	{                          \
		row(number);       \
	}

ROW(1)
ROW(2)
ROW(3)
ROW(4)
ROW(5)
ROW(6)
ROW(7)
ROW(8)

static const struct test tests[] = {
	SLOW_TEST(row_1, 60), SLOW_TEST(row_2, 60), SLOW_TEST(row_3, 60), SLOW_TEST(row_4, 60),
	SLOW_TEST(row_5, 60), SLOW_TEST(row_6, 60), SLOW_TEST(row_7, 60), SLOW_TEST(row_8, 60),
};

int main(int argc, char **argv)
{
	return RUN_TESTS(tests, argc, argv);
}
