/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "faults.h"

bool is_command_known(uint32_t command)
{
	(void)command;
	return true;
}

bool is_af_ib_known(void)
{
	return true;
}

uint32_t cm_abi(void)
{
	return 4;
}

struct fault next_fault(const struct cm_file *file, uint32_t command)
{
	(void)file;
	(void)command;
	return (struct fault){ 0 };
}

void run_consequences(struct cm_file *file, uint32_t command)
{
	(void)file;
	(void)command;
}
