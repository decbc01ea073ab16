/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "meter.h"

#include "die.h"

#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The first samples pay for what is made once in a process. */
enum { WARM_UP = 5 };

#define EVENTS "/sys/kernel/tracing/events/"
/* The command is as long as nothing else that is written. */
#define DOORBELL "count == 32"

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
	[PHASE_CLOSE] = "close",
	[PHASE_ROUND_TRIP] = "round_trip",
	[PHASE_TRANSFER] = "transfer",
	[PHASE_POLL] = "poll",
};

static const char *const kinds[] = {
	[METER_CALLS] = "calls",
	[METER_DOORBELLS] = "doorbells",
	[METER_CPU] = "cpu",
	[METER_TIME] = "time",
};

static enum meter_kind kind;
static int counter, samples, sample, repetitions = 1;
static uint64_t began, reading_cost;
static int64_t spent, *values[PHASES];
static bool happens[PHASES];

bool meter_kind(const char *name, enum meter_kind *found)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(name, kinds[i]))
			continue;
		*found = i;
		return true;
	}
	return false;
}

static bool is_counted(void)
{
	return kind == METER_CALLS || kind == METER_DOORBELLS;
}

/* Counts a tracepoint, or as much of it as passes the filter. */
static int open_counter(const char *id_file, const char *filter)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.inherit = 1,
	};
	FILE *file = fopen(id_file, "r");
	unsigned long long id;
	int fd;

	if (!file || fscanf(file, "%llu", &id) != 1)
		die("the tracepoint of system calls (is tracefs mounted?)");
	fclose(file);
	attr.config = id;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		die("perf_event_open");
	if (filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter))
		die("the filter of the tracepoint");
	return fd;
}

static uint64_t now(void)
{
	struct timespec time;
	uint64_t calls;

	if (is_counted()) {
		if (read(counter, &calls, sizeof(calls)) != sizeof(calls))
			die("read of the counter");
		return calls;
	}
	clock_gettime(kind == METER_CPU ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
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
	samples = number;
	sample = -WARM_UP;
	for (int i = 0; i < PHASES; i++) {
		values[i] = calloc((size_t)number, sizeof(*values[i]));
		if (!values[i])
			die("calloc");
	}
	if (kind == METER_CALLS)
		counter = open_counter(EVENTS "raw_syscalls/sys_enter/id", NULL);
	if (kind == METER_DOORBELLS)
		counter = open_counter(EVENTS "syscalls/sys_enter_write/id", DOORBELL);
	reading_cost = measure_reading();
}

int meter_samples(void)
{
	return samples + WARM_UP;
}

void meter_repeats(int number)
{
	repetitions = number;
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
	if (sample >= 0) {
		happens[phase] = true;
		values[phase][sample] = spent;
	}
	meter_begin();
}

void meter_next(void)
{
	sample++;
}

static int compare(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

static double mean_of_cheapest(int64_t *list, int number)
{
	int64_t sum = 0;

	qsort(list, (size_t)samples, sizeof(*list), compare);
	for (int i = 0; i < number; i++)
		sum += list[i];
	return (double)sum / number;
}

void meter_print(const char *scenario, const char *side)
{
	int counted = is_counted() ? samples : (samples + 9) / 10;

	for (int i = 0; i < PHASES; i++)
		if (happens[i])
			printf("%s %s %s %.2f\n", scenario, side, names[i],
			       mean_of_cheapest(values[i], counted) / repetitions);
}
