/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The connection manager's node, as system calls on it behave. */
#ifndef SIM_CM_H
#define SIM_CM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A descriptor, or -1 with errno. */
int sim_cm_open(int flags);

/* A command; waits for an event as a device would: interrupted or restarted by signals, and cancelled. */
ssize_t sim_cm_write(int fd, uint64_t file, const void *data, size_t size);

#endif
