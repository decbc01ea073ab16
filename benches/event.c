/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a user event costs. Prints "FIGURE.WAY NANOSECONDS" lines: the least of many batches on one processor, so
 * that interrupts do not count, and without the cost of reading the clock. Where the clock counts instructions
 * the figures are exact.
 *
 *	event [BATCHES [WAY...]]	by default all ways
 */
#include "way.h"

#include "die.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WAYS = 3 };

static int batches = 100;
static uint64_t clock_cost;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* The time of each part of a batch, kept when it is the least so far. */
struct least {
	uint64_t ns;
};

static void keep(struct least *least, uint64_t start)
{
	uint64_t ns = now() - start;

	ns = ns > clock_cost ? ns - clock_cost : 0;
	if (!least->ns || ns < least->ns)
		least->ns = ns;
}

static void print(const char *figure, const struct way *way, struct least least, int operations)
{
	printf("%s.%s %.2f\n", figure, way->name, (double)least.ns / operations);
}

static void measure_clock(void)
{
	struct least least = { 0 };

	for (int i = 0; i < batches; i++)
		keep(&least, now());
	clock_cost = least.ns;
}

static void measure_same_thread(const struct way *way)
{
	struct least least = { 0 };

	for (int batch = 0; batch < batches; batch++) {
		uint64_t start = now();

		for (int i = 0; i < BATCH; i++) {
			way->write(0);
			way->read(0);
		}
		keep(&least, start);
	}
	print("same", way, least, BATCH);
}

static void measure_parts(const struct way *way)
{
	struct least write = { 0 }, get = { 0 }, ack = { 0 };

	for (int batch = 0; batch < batches; batch++) {
		uint64_t start = now();

		for (int i = 0; i < BATCH; i++)
			way->write(0);
		keep(&write, start);
		start = now();
		for (int i = 0; i < BATCH; i++)
			way->get(0, i);
		keep(&get, start);
		if (!way->ack)
			continue;
		start = now();
		for (int i = 0; i < BATCH; i++)
			way->ack(i);
		keep(&ack, start);
	}
	print("write", way, write, BATCH);
	print("get", way, get, BATCH);
	if (way->ack)
		print("ack", way, ack, BATCH);
}

static void measure_nothing(const struct way *way)
{
	struct least least = { 0 };

	for (int batch = 0; batch < batches; batch++) {
		uint64_t start = now();

		for (int i = 0; i < BATCH; i++)
			way->read_nothing();
		keep(&least, start);
	}
	print("nothing", way, least, BATCH);
}

static void *answer(void *arg)
{
	const struct way *way = arg;

	for (int i = 0; i < batches * BATCH; i++) {
		way->read(1);
		way->write(0);
	}
	return NULL;
}

/* Two threads wake each other in turn, so a round is two wake-ups. */
static void measure_wake(const struct way *way)
{
	struct least least = { 0 };
	pthread_t thread;

	if (pthread_create(&thread, NULL, answer, (void *)(uintptr_t)way))
		die("pthread_create");
	for (int batch = 0; batch < batches; batch++) {
		uint64_t start = now();

		for (int i = 0; i < BATCH; i++) {
			way->write(1);
			way->read(0);
		}
		keep(&least, start);
	}
	pthread_join(thread, NULL);
	print("wake", way, least, 2 * BATCH);
}

static bool is_wanted(const struct way *way, int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		if (!strcmp(argv[i], way->name))
			return true;
	return argc < 3;
}

int main(int argc, char **argv)
{
	static const struct way *const ways[WAYS] = { &library_way, &raw_way, &eventfd_way };
	cpu_set_t first;

	if (argc > 1)
		batches = atoi(argv[1]);
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	if (sched_setaffinity(0, sizeof(first), &first))
		die("sched_setaffinity");
	measure_clock();
	for (size_t i = 0; i < WAYS; i++) {
		if (!is_wanted(ways[i], argc, argv))
			continue;
		ways[i]->open();
		measure_same_thread(ways[i]);
		if (ways[i]->get)
			measure_parts(ways[i]);
		if (ways[i]->read_nothing)
			measure_nothing(ways[i]);
	}
	/* Last: libc's calls cost more from the first second thread on. */
	for (size_t i = 0; i < WAYS; i++)
		if (is_wanted(ways[i], argc, argv))
			measure_wake(ways[i]);
	return EXIT_SUCCESS;
}
