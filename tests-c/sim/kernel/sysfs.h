/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SIM_KERNEL_SYSFS_H
#define SIM_KERNEL_SYSFS_H

#include "kernel.h"

/* A path; its text, and as the result its length. */
call_handler file_call;

#endif
