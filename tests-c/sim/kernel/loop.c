/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "loop.h"

#include "memory.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>

struct watch {
	int fd;
	bool dead;		/* freed at the end of the round, in which it may still be named */
	void (*ready)(void *arg);
	void *arg;
	struct watch *next_dead;
};

struct timer {
	uint64_t due;
	void (*run)(void *arg);
	void *arg;
	struct timer *next;
};

static int set = -1;
static struct watch *dead;
static struct timer *timers;

uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static struct watch *add(int fd, uint32_t events, void (*ready)(void *arg), void *arg)
{
	struct watch *watch = take(sizeof(*watch));
	struct epoll_event event = { .events = events, .data.ptr = watch };

	if (set < 0)
		set = epoll_create1(EPOLL_CLOEXEC);
	*watch = (struct watch){ .fd = fd, .ready = ready, .arg = arg };
	require(!epoll_ctl(set, EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
	return watch;
}

struct watch *watch(int fd, void (*ready)(void *arg), void *arg)
{
	return add(fd, EPOLLIN, ready, arg);
}

struct watch *watch_hangup(int fd, void (*gone)(void *arg), void *arg)
{
	return add(fd, 0, gone, arg);
}

void unwatch(struct watch *watch)
{
	epoll_ctl(set, EPOLL_CTL_DEL, watch->fd, NULL);
	watch->dead = true;
	watch->next_dead = dead;
	dead = watch;
}

static void free_dead(void)
{
	while (dead) {
		struct watch *next = dead->next_dead;

		free(dead);
		dead = next;
	}
}

struct timer *after(unsigned int ms, void (*run)(void *arg), void *arg)
{
	struct timer *timer = take(sizeof(*timer)), **place = &timers;

	/* 0 is before all that waits for the clock. */
	*timer = (struct timer){ .due = ms ? now_ms() + ms : 0, .run = run, .arg = arg };
	while (*place && (*place)->due <= timer->due)
		place = &(*place)->next;
	timer->next = *place;
	*place = timer;
	return timer;
}

void cancel(struct timer *timer)
{
	struct timer **place = &timers;

	while (*place != timer)
		place = &(*place)->next;
	*place = timer->next;
	free(timer);
}

static void run_timers(void)
{
	uint64_t now = now_ms();

	while (timers && timers->due <= now) {
		struct timer *timer = timers;

		timers = timer->next;
		timer->run(timer->arg);
		free(timer);
	}
}

static int pause_ms(void)
{
	uint64_t now = now_ms();

	if (!timers)
		return -1;
	return timers->due <= now ? 0 : (int)(timers->due - now);
}

static void serve(const struct epoll_event *events, int count, bool closed)
{
	for (int i = 0; i < count; i++) {
		struct watch *watch = events[i].data.ptr;

		if (!watch->dead && !(events[i].events & EPOLLHUP) == !closed)
			watch->ready(watch->arg);
		/* What one call sets off comes before the next call. */
		run_timers();
	}
}

void loop(bool (*ended)(void))
{
	struct epoll_event events[64];

	while (!ended()) {
		int count = epoll_wait(set, events, 64, pause_ms());

		/* Whoever calls now may know already that another process has ended; epoll keeps no order of time. */
		serve(events, count, true);
		serve(events, count, false);
		run_timers();
		free_dead();
	}
}
