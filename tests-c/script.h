/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines of script for the simulated fabric that the test runs on (librdmacm-sim(1)). */
#ifndef TESTS_SCRIPT_H
#define TESTS_SCRIPT_H

#include <stdbool.h>

/* The fabric does this line. Skips the case where there is no simulator. */
void script(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether the fabric takes it. */
bool try_script(const char *line);

#endif
