/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sets.h"

/* For what must come, on a busy machine. */
enum { PATIENCE_MS = 5000 };

int open_set(void)
{
	int set = sockets()->epoll_create(0);

	check(set >= 0, "epoll_create: %m");
	return set;
}

void close_set(int set)
{
	check_ok(sockets()->close(set));
}

void add(int set, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	check_ok(sockets()->epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
}

void modify(int set, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	check_ok(sockets()->epoll_ctl(set, EPOLL_CTL_MOD, fd, &event));
}

static uint32_t next(int set, int fd)
{
	struct epoll_event events[4];
	int told = sockets()->epoll_wait(set, events, 4, PATIENCE_MS * time_scale());

	check(told == 1, "%d events, %m", told);
	check(events[0].data.fd == fd, "of %d, not %d", events[0].data.fd, fd);
	return events[0].events;
}

void check_one(int set, int fd, uint32_t events)
{
	uint32_t found = next(set, fd);

	check(found == events, "%#x, not %#x", found, events);
}

void wait_for(int set, int fd, uint32_t events)
{
	uint32_t found;

	do
		found = next(set, fd);
	while ((found & events) != events);
}

void check_nothing(int set, int ms)
{
	struct epoll_event event;
	int told = sockets()->epoll_wait(set, &event, 1, ms);

	check(!told, "%d events, of %d, %#x, %m", told, event.data.fd, told > 0 ? event.events : 0);
}
