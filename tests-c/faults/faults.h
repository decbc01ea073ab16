/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the preloaded object and the driver tell each other. The object counts the calls that the library under test
 * makes of libc and libibverbs, lets one of them fail, and keeps account of what the library takes and gives back.
 * Calls of the program, of libc itself and of a simulator are none of its business.
 */
#ifndef TESTS_FAULTS_H
#define TESTS_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FAULTS_WAYS = 6, FAULTS_CALLS = 4096, FAULTS_BLOCKS = 512, FAULTS_FDS = 1024 };

/* A way to fail that is no errno: less is done than was asked for. */
enum { FAULTS_SHORT = 1 << 16 };

/* A function, and the ways in which it may fail: errno values, EAI_ values, FAULTS_SHORT; 0 ends them. */
struct faults_kind {
	const char *name;
	int ways[FAULTS_WAYS];
};

/* Memory of the library: its size, and from where in the library it was asked for. */
struct faults_block {
	size_t size;
	uintptr_t place;
};

/* Of one process. Shared with the driver. */
struct faults {
	/*
	 * Told by the driver: the call that fails, from 1 (0: none), and how. If that cannot fail so, the next one that can;
	 * then this becomes its number.
	 */
	unsigned int nth, way;
	/* Calls so far, and what they were. */
	unsigned int calls;
	const struct faults_kind *trace[FAULTS_CALLS];
	/* The one that failed. */
	volatile bool happened;
	const struct faults_kind *kind;
	int error;
	uintptr_t place;
};

/* Weak: without the object they are NULL. */
#pragma GCC visibility push(default)
/* From now on this is the process's account. */
extern __attribute__((weak)) void faults_use(struct faults *faults);
/* Whether calls that the library makes in this thread count. */
extern __attribute__((weak)) void faults_arm(bool armed);
/* The same in all other threads. */
extern __attribute__((weak)) void faults_arm_others(bool armed);
/* Objects of libibverbs that the library has made and not destroyed. */
extern __attribute__((weak)) int faults_objects(void);
/* Ids that the library has made on a descriptor of the connection manager, or that requests have, and that are there. */
extern __attribute__((weak)) int faults_ids(int fd);
/* Memory that the library has: stores the first `room` blocks, returns how many there are. */
extern __attribute__((weak)) size_t faults_blocks(struct faults_block *blocks, size_t room);
#pragma GCC visibility pop

#endif
