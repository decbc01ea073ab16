/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What there is of objects, for tests that look for leaks. */
#ifndef SIM_KERNEL_RESOURCES_H
#define SIM_KERNEL_RESOURCES_H

#include "kernel.h"

#include <stdio.h>

call_handler resources_call;

void list_cm_ids(FILE *out);

#endif
