/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runner.h"

#include "../process.h"
#include "told.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The library lets go of devices after about a second, and after another one if it could not. */
enum { SETTLE_MS = 15000, PAUSE_MS = 50 };

static struct run *run;
static const struct scenario *scenario;
static jmp_buf abandoned;
static bool may_abandon;
static const char *attempted;
bool attempt_is_far;
static unsigned int tries;
static bool happened_before;

void conclude(enum verdict verdict, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(run->text, sizeof(run->text), format, args);
	va_end(args);
	run->verdict = verdict;
	_exit(EXIT_SUCCESS);
}

void attempt_begin(const char *text)
{
	if (attempted != text)
		tries = 0;
	attempted = text;
	happened_before = run->faults.happened;
	if (!happened_before)
		snprintf(run->attempt, sizeof(run->attempt), "%s", text);
	faults_arm(true);
}

/* What comes of an attempt that has come too far. */
static bool is_too_late(int error)
{
	return error == EINVAL || error == ENOTCONN || error == ECONNRESET || error == EPIPE;
}

bool attempt_again(bool failed, int error)
{
	const struct faults *faults = &run->faults;

	faults_arm(false);
	if (!failed)
		attempted = NULL;
	if (!failed)
		return false;
	if (!faults->happened)
		conclude(WRONG_RESULT, "%s fails by itself: %s", attempted, strerror(error));
	if (tries && attempt_is_far && is_too_late(error) && may_abandon)
		longjmp(abandoned, 1);
	if (tries++)
		conclude(NOT_AGAIN, "%s fails again: %s", attempted, strerror(error));
	if (!is_told(faults, error))
		conclude(WRONG_ERRNO, "%s fails with %s", attempted, strerrorname_np(error));
	run->told = true;
	if (happened_before && may_abandon)
		longjmp(abandoned, 1);
	if (happened_before)
		conclude(WRONG_RESULT, "%s fails later: %s", attempted, strerror(error));
	return true;
}

void abandon(int error)
{
	if (!run->faults.happened || !may_abandon)
		conclude(WRONG_RESULT, "an event tells of a failure by itself: %s", strerror(error));
	if (error && !is_told(&run->faults, error))
		conclude(WRONG_ERRNO, "an event tells of %s", strerrorname_np(error));
	run->told = true;
	longjmp(abandoned, 1);
}

/* False if it was abandoned. */
static bool run_once(void)
{
	volatile bool is_whole = false;

	may_abandon = true;
	if (setjmp(abandoned) == 0) {
		scenario->run();
		is_whole = true;
	}
	may_abandon = false;
	attempt_is_far = false;
	scenario->clean();
	end_peer();
	return is_whole;
}

static void count(int fds)
{
	run->fds = count_fds(NULL) - fds;
	run->objects = faults_objects();
}

/* Waits until no more is left than after the first run: nothing, of a library that lets go of devices. */
static void settle(int fds, const struct run *before)
{
	bool keeps = getenv("FAULTS_KEEPS");
	int most_fds = before ? before->fds : 0, most_objects = before ? before->objects : 0;

	for (int ms = 0; ms < SETTLE_MS; ms += PAUSE_MS) {
		count(fds);
		if ((!before && keeps) ||
		    (run->fds <= most_fds && run->objects <= most_objects && (keeps || count_threads() == 1)))
			return;
		sleep_ms(PAUSE_MS);
	}
	if (run->objects > most_objects)
		conclude(LEAK_OBJECT, "%d objects of libibverbs are left", run->objects - most_objects);
	if (run->fds > most_fds)
		conclude(LEAK_FD, "%d descriptors are left", run->fds - most_fds);
	conclude(WRONG_RESULT, "%d threads are left", count_threads() - 1);
}

/* The first block that there are more of than in the run before. */
static const struct faults_block *surplus(const struct run *before)
{
	for (size_t i = 0; i < run->count && i < FAULTS_BLOCKS; i++) {
		const struct faults_block *block = &run->blocks[i];
		int more = 0;

		for (size_t j = 0; j < run->count && j < FAULTS_BLOCKS; j++)
			more += run->blocks[j].place == block->place;
		for (size_t j = 0; j < before->count && j < FAULTS_BLOCKS; j++)
			more -= before->blocks[j].place == block->place;
		if (more > 0)
			return block;
	}
	return NULL;
}

static void check_account(int fds, const struct run *before)
{
	const struct faults_block *block;

	settle(fds, before);
	run->count = faults_blocks(run->blocks, FAULTS_BLOCKS);
	if (!before || run->count <= before->count)
		return;
	block = surplus(before);
	conclude(LEAK_MEMORY, "%zu blocks are left, one of %zu bytes asked for at %#zx", run->count - before->count,
		 block ? block->size : 0, block ? (size_t)block->place : 0);
}

static void *run_twice(void *unused)
{
	(void)unused;
	if (!run_once() && !run_once())
		conclude(NOT_AGAIN, "abandoned twice");
	return NULL;
}

/* In a thread of its own: what the library keeps for a thread goes with it. */
static void run_in_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_twice, NULL) || pthread_join(thread, NULL))
		conclude(WRONG_RESULT, "no thread");
}

void run_scenario(const struct scenario *wanted, struct run *result, const struct run *before)
{
	const struct rlimit no_core = { 0 };
	int fds;

	setrlimit(RLIMIT_CORE, &no_core);
	run = result;
	scenario = wanted;
	fds = count_fds(NULL);
	faults_use(&run->faults);
	faults_arm_others(scenario->others);
	run_in_thread();
	check_account(fds, before);
	conclude(GOOD, "good");
}
