/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the phases of a connection cost this process, all its threads together. */
#ifndef BENCHES_METER_H
#define BENCHES_METER_H

enum meter_kind {
	/* System calls, counted by the kernel's own tracepoint. Their mean over all connections. */
	METER_CALLS,
	/* Nanoseconds of CPU time. For each phase the cheapest tenth counts: what the rest costs more is chance. */
	METER_CPU,
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
	PHASES,
};

/* For so many connections. The first few more of them are not counted: meter_connections() says how many to make. */
void meter_open(enum meter_kind kind, int connections);
int meter_connections(void);

/* A phase begins: what happened since the last one does not count. */
void meter_begin(void);
/* What happens between the two does not count. */
void meter_pause(void);
void meter_resume(void);
/* The phase ends, and the next one begins. */
void meter_end(enum phase phase);
/* The last phase of the connection ended. */
void meter_next(void);

/* Prints "SCENARIO SIDE PHASE VALUE" lines. */
void meter_print(const char *scenario, const char *side);

#endif
