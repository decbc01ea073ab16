/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "doctor.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
		fprintf(argc == 2 && !strcmp(argv[1], "--help") ? stdout : stderr, "usage: rdmacm-doctor [PROGRAM]\n");
		return argc == 2 && !strcmp(argv[1], "--help") ? 0 : 2;
	}
	/* A line is there when the next look hangs. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	examine_environment();
	examine_library(argc == 2 ? argv[1] : NULL);
	examine_devices();
	examine_kernel();
	examine_user_events();
	examine_limits();
	return found_bad();
}
