/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The language in which the fabric and its behaviour are told (librdmacm-sim(1)). */
#ifndef SIM_KERNEL_SCRIPT_H
#define SIM_KERNEL_SCRIPT_H

#include "kernel.h"
#include "words.h"

struct cm_file;

/* What a line is about besides its words. */
struct script {
	struct host *host;	/* whose devices are meant; NULL: the first one, which is made */
	struct cm_file *file;	/* on which the command came that the line follows; NULL: none */
};

/* Does one line. NULL, or what is wrong with it, for free(). */
char *run_line(struct script *script, const char *line);

/* Does all lines of a file. -1, after a message on stderr, at the first that is wrong. */
int run_script(const char *path);

/* A line of a running program, with the host that it is on. */
call_handler control_call;

/* The words of lines, by what they are about: each does the line that begins with its name. */
typedef void statement(struct script *script, struct words *words);

statement say_host, say_device, say_address, say_pkey, say_remove, say_port;	/* script_topology.c */
statement say_sa;								/* script_sa.c */
/* faults.c */
statement say_abi, say_ids, say_without, say_fail, say_short, say_delay, say_interrupt, say_answer, say_after;
statement say_inject;								/* script_inject.c */
statement say_in;

#endif
