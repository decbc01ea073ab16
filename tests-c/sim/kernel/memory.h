/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory, and what cannot go on without. */
#ifndef SIM_KERNEL_MEMORY_H
#define SIM_KERNEL_MEMORY_H

#include <stdio.h>
#include <stdlib.h>

/* Ends the kernel process, with the reason, unless this holds. */
static inline void require(int condition, const char *what)
{
	if (condition)
		return;
	perror(what);
	abort();
}

/* Zeroed memory, for free(). */
static inline void *take(size_t size)
{
	void *memory = calloc(1, size);

	require(memory != NULL, "calloc");
	return memory;
}

#endif
