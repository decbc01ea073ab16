/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is looked at, one file for each subject. A finding is one line on stdout, with what to do below it where
 * something is to be done.
 */
#ifndef RDMACM_DOCTOR_H
#define RDMACM_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* As it should be; works, but is worth to know; does not work. */
enum verdict { FINE, NOTE, BAD };

/* The text is printf's. */
void find(enum verdict verdict, const char *subject, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* What to do about the last finding. */
void advise(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Whether something does not work. */
bool found_bad(void);

/* A finding about a node that cannot be opened, which errno tells, with the advice that goes with it. */
void find_closed_node(const char *subject, const char *path);

/* The beginning of a file, without its last newline, in a string. False with errno. */
bool read_file(const char *path, char *text, size_t size);

/* The library that this program has, and that the named program would get; NULL: none is named. */
void examine_library(const char *program);
/* The kernel's connection manager: its interface, its node, its commands. */
void examine_kernel(void);
void examine_devices(void);
/* Whether a user event arrives, and by which way. */
void examine_user_events(void);
void examine_limits(void);
/* Variables of the environment that change what programs get. */
void examine_environment(void);

/* Whether the kernel has a command for user events, which examine_kernel() finds out. */
bool has_user_event_command(void);

#endif
