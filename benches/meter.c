/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "meter.h"

#include "die.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The first connections pay for what is made once in a process. */
enum { WARM_UP = 5 };

static const char *const names[PHASES] = {
	[PHASE_CREATE_EP] = "create_ep",
	[PHASE_CREATE_ID] = "create_id",
	[PHASE_RESOLVE_ADDR] = "resolve_addr",
	[PHASE_RESOLVE_ROUTE] = "resolve_route",
	[PHASE_GET_REQUEST] = "get_request",
	[PHASE_CREATE_QP] = "create_qp",
	[PHASE_CONNECT] = "connect",
	[PHASE_ACCEPT] = "accept",
	[PHASE_ESTABLISHED] = "established",
	[PHASE_DISCONNECT] = "disconnect",
	[PHASE_DESTROY_QP] = "destroy_qp",
	[PHASE_DESTROY_ID] = "destroy_id",
	[PHASE_DESTROY_EP] = "destroy_ep",
};

static enum meter_kind kind;
static int counter, connections, connection;
static uint64_t began, reading_cost;
static int64_t spent, *samples[PHASES];
static bool happens[PHASES];

static int open_counter(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.inherit = 1,
	};
	FILE *file = fopen("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id", "r");
	unsigned long long id;
	int fd;

	if (!file || fscanf(file, "%llu", &id) != 1)
		die("the tracepoint of system calls (is tracefs mounted?)");
	fclose(file);
	attr.config = id;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		die("perf_event_open");
	return fd;
}

static uint64_t now(void)
{
	struct timespec time;
	uint64_t calls;

	if (kind == METER_CALLS) {
		if (read(counter, &calls, sizeof(calls)) != sizeof(calls))
			die("read of the counter");
		return calls;
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* The least difference of two readings with nothing between them. */
static uint64_t measure_reading(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 100; i++) {
		uint64_t first = now(), second = now();

		if (second - first < least)
			least = second - first;
	}
	return least;
}

void meter_open(enum meter_kind wanted, int number)
{
	kind = wanted;
	connections = number;
	connection = -WARM_UP;
	for (int i = 0; i < PHASES; i++) {
		samples[i] = calloc((size_t)number, sizeof(*samples[i]));
		if (!samples[i])
			die("calloc");
	}
	if (kind == METER_CALLS)
		counter = open_counter();
	reading_cost = measure_reading();
}

int meter_connections(void)
{
	return connections + WARM_UP;
}

void meter_begin(void)
{
	spent = 0;
	meter_resume();
}

void meter_pause(void)
{
	spent += (int64_t)(now() - began) - (int64_t)reading_cost;
}

void meter_resume(void)
{
	began = now();
}

void meter_end(enum phase phase)
{
	meter_pause();
	if (connection >= 0) {
		happens[phase] = true;
		samples[phase][connection] = spent;
	}
	meter_begin();
}

void meter_next(void)
{
	connection++;
}

static int compare(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

static double mean_of_cheapest(int64_t *values, int number)
{
	int64_t sum = 0;

	qsort(values, (size_t)connections, sizeof(*values), compare);
	for (int i = 0; i < number; i++)
		sum += values[i];
	return (double)sum / number;
}

void meter_print(const char *scenario, const char *side)
{
	int counted = kind == METER_CALLS ? connections : (connections + 9) / 10;

	for (int i = 0; i < PHASES; i++)
		if (happens[i])
			printf("%s %s %s %.2f\n", scenario, side, names[i], mean_of_cheapest(samples[i], counted));
}
