/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One run of a scenario in this process, and what came of it. */
#ifndef FAULTS_RUNNER_H
#define FAULTS_RUNNER_H

#include "scenario.h"

/* Shared with the driver. */
struct run {
	struct faults faults;
	enum verdict verdict;
	/* What the library told of the failure. */
	bool told;
	char attempt[160];	/* the one in which the failure happened */
	char text[512];
	/* What is left at the end: more descriptors than before, objects of libibverbs, memory. */
	int fds, objects;
	size_t count;
	struct faults_block blocks[FAULTS_BLOCKS];
};

/* Runs it to its end. Of the first run `before` is NULL, for the others it is the first. */
_Noreturn void run_scenario(const struct scenario *scenario, struct run *run, const struct run *before);

#endif
