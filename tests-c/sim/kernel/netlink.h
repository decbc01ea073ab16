/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SIM_KERNEL_NETLINK_H
#define SIM_KERNEL_NETLINK_H

#include "kernel.h"

/* A descriptor to which questions are sent, and which has the answers at once. */
call_handler netlink_open_call;

#endif
