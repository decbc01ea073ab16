/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "die.h"

#include <stdio.h>
#include <stdlib.h>

void die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}
