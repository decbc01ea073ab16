/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sets of sockets of either kind. Members are known by their numbers. */
#ifndef TESTS_SETS_H
#define TESTS_SETS_H

#include "sockets.h"

int open_set(void);
void close_set(int set);
void add(int set, int fd, uint32_t events);
void modify(int set, int fd, uint32_t events);

/* The next wait has just this event. */
void check_one(int set, int fd, uint32_t events);
/* The same, after others of the same descriptor that come on the way there. */
void wait_for(int set, int fd, uint32_t events);
/* There is no event within this time. */
void check_nothing(int set, int ms);

#endif
