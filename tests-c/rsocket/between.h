/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stands between the library and libibverbs, to make moments last that are too short to be met: the program's own functions
 * come before libibverbs's. Only one device, and one hook of a kind at a time.
 */
#ifndef TESTS_BETWEEN_H
#define TESTS_BETWEEN_H

#include <stdbool.h>

/*
 * From now on completions of sends are kept back, or come after all, those that were kept back first. Of the latter no
 * event tells.
 */
void keep_sends_back(bool on);

/* What the next thread does that has taken an event of a completion channel, or made a queue ready for the next one. */
void after_next_event(void (*hook)(void));
void after_next_arming(void (*hook)(void));

#endif
