/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where a fabric is, and how one is started. */
#ifndef SIM_FABRIC_H
#define SIM_FABRIC_H

#include <stddef.h>

/* The path of a fabric's socket; -1 when it does not fit. */
int sim_socket_path(const char *folder, char *path, size_t size);

/*
 * Starts a kernel process, in the folder that the environment names, or in a new one, which the environment names
 * afterwards: for this process and those that it starts. Returns when it answers. -1 with errno.
 */
int sim_start_fabric(void);

#endif
