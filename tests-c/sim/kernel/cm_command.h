/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SIM_KERNEL_CM_COMMAND_H
#define SIM_KERNEL_CM_COMMAND_H

#include "kernel.h"

call_handler cm_command_call;

/* The number of a command by its name in the kernel's header, in either case; -1 if there is none. */
int cm_command_number(const char *name);

#endif
