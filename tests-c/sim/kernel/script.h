/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The language in which the fabric and its behaviour are told (librdmacm-sim(1)). */
#ifndef SIM_KERNEL_SCRIPT_H
#define SIM_KERNEL_SCRIPT_H

#include "kernel.h"

/* Does all lines of a file. -1, after a message on stderr, at the first that is wrong. */
int run_script(const char *path);

#endif
