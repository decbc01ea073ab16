/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a script says that commands do instead of, or besides, what they should. */
#ifndef SIM_KERNEL_FAULTS_H
#define SIM_KERNEL_FAULTS_H

#include "../protocol.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opening the connection manager's node, among the numbers of commands and calls. */
enum { OPENING = SIM_VERBS_END };

struct cm_file;
struct host;

struct fault {
	int error;		/* fails with this errno */
	long taken;		/* answers that only so many bytes were taken; 0: all */
	uint32_t delay_ms;
};

/* Whether the simulated kernel is young enough for this command. */
bool is_command_known(uint32_t command);
bool is_af_ib_known(void);
uint32_t cm_abi(void);

/* What is to happen to the command, or the call of verbs_protocol.h, that comes now; counts it. */
struct fault next_fault(uint32_t command);

/* Once it has succeeded: changes its answer, */
void change_answer(uint32_t command, unsigned char *bytes, size_t size);
/* and does what is to follow on it: events, removals, …. Calls of libibverbs come on no file. */
void run_consequences(struct host *host, struct cm_file *file, uint32_t command);

#endif
