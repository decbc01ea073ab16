/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the phases of a connection, or of something else that is repeated, cost this process, all its threads together. */
#ifndef BENCHES_METER_H
#define BENCHES_METER_H

#include <stdbool.h>

enum meter_kind {
	/* System calls, counted by the kernel's own tracepoint. Their mean over all samples. */
	METER_CALLS,
	/* Those of them by which soft RoCE's driver tells the kernel of something posted; other devices need none. */
	METER_DOORBELLS,
	/* Nanoseconds of CPU time. For each phase the cheapest tenth counts: what the rest costs more is chance. */
	METER_CPU,
	/* Nanoseconds that pass, in which other processes and the kernel work too. As above. */
	METER_TIME,
};

enum phase {
	PHASE_CREATE_EP,
	PHASE_CREATE_ID,
	PHASE_RESOLVE_ADDR,
	PHASE_RESOLVE_ROUTE,
	PHASE_GET_REQUEST,
	PHASE_CREATE_QP,
	PHASE_CONNECT,
	PHASE_ACCEPT,
	PHASE_ESTABLISHED,
	PHASE_DISCONNECT,
	PHASE_DESTROY_QP,
	PHASE_DESTROY_ID,
	PHASE_DESTROY_EP,
	PHASE_CLOSE,
	PHASE_ROUND_TRIP,
	PHASE_TRANSFER,
	PHASE_POLL,
	PHASES,
};

/* The kind of that name: calls, doorbells, cpu or time. */
bool meter_kind(const char *name, enum meter_kind *kind);

/* For so many samples: connections, say. The first few more are not counted: meter_samples() says how many to make. */
void meter_open(enum meter_kind kind, int samples);
int meter_samples(void);
/* A sample is so many repetitions of what is measured: what is printed is for one. */
void meter_repeats(int repetitions);

/* A phase begins: what happened since the last one does not count. */
void meter_begin(void);
/* What happens between the two does not count. */
void meter_pause(void);
void meter_resume(void);
/* The phase ends, and the next one begins. */
void meter_end(enum phase phase);
/* The last phase of the sample ended. */
void meter_next(void);

/* Prints "SCENARIO SIDE PHASE VALUE" lines. */
void meter_print(const char *scenario, const char *side);

#endif
