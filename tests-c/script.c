/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "script.h"

#include "harness.h"
#include "process.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool try_script(const char *line)
{
	char command[512];

	if (!getenv("RDMACM_SIM"))
		skip_test("needs the simulator");
	snprintf(command, sizeof(command), "librdmacm-sim --do '%s'", line);
	return !run_command(command);
}

void script(const char *format, ...)
{
	char line[400];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	check(try_script(line), "\"%s\" is refused", line);
}
