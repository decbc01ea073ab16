/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who answers which call. */
#ifndef SIM_KERNEL_CALLS_H
#define SIM_KERNEL_CALLS_H

#include "kernel.h"

/* Any call of a greeted client; EOPNOTSUPP if there is none of that number. */
long handle_call(struct client *client, uint32_t op, const void *in, size_t in_size, struct answer *answer);

/* The process is no more: its verbs objects go. What hangs on open descriptors goes with those. */
void client_gone(struct client *client);

#endif
