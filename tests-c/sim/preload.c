/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "call.h"

/*
 * Early, so that a program that counts its descriptors finds the same number before and after; but of the programs
 * that never use RDMA none starts a kernel process.
 */
__attribute__((constructor)) static void start(void)
{
	sim_attach();
}
