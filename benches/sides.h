/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A server and a client, each a process of its own, so that no scenario pays for what another one left. */
#ifndef BENCHES_SIDES_H
#define BENCHES_SIDES_H

#include "meter.h"

struct sides {
	const char *scenario;
	void (*server)(const void *what);
	void (*client)(const void *what);
	/* For both. */
	const void *what;
};

/* Runs both, with a meter for so many samples, and prints what they took. */
void run_sides(const struct sides *sides, enum meter_kind kind, int samples);

/* Between the two: the other side goes on that waits for its turn. */
void give_turn(void);
void await_turn(void);

/* From now on no thread of the kernel runs before the calling process sleeps: when they come in between is chance. */
void be_undisturbed(void);

#endif
