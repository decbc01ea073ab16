/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Calls into the kernel process, from the program that the object is preloaded into. */
#ifndef SIM_CALL_H
#define SIM_CALL_H

#include <stddef.h>
#include <stdint.h>

/*
 * Asks the kernel process, which is started if need be. Returns its result, 0 or more, or -1 with errno. Of an answer
 * longer than out_size the rest is lost. Any thread may call at any time, also after fork(); nothing here can be
 * cancelled or interrupted by a signal.
 */
long sim_call(uint32_t op, const void *in, size_t in_size, void *out, size_t out_size);

/*
 * The same, where descriptors come with the answer: exactly `count`, all close-on-exec. EMFILE when this process has
 * no room for them.
 */
long sim_call_fds(uint32_t op, const void *in, size_t in_size, void *out, size_t out_size, int *fds, unsigned int count);

/* The same as sim_call, of a question in two parts, and with the size of the answer. */
long sim_call_parts(uint32_t op, const void *first, size_t first_size, const void *second, size_t second_size,
		    void *out, size_t out_size, size_t *answer_size);

/* Connects to the fabric that the environment names, if it is there. Once, when the process starts. */
void sim_attach(void);

/* Whether this is the descriptor of the connection, which nobody else may close. */
int sim_is_connection(int fd);

#endif
