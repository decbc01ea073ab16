/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A small test harness. Each case runs in a process of its own, so that a crash or a hang is the result of that
 * case and of no other. Output, on stdout:
 *
 *	ok CASE
 *	not ok CASE: reason
 *	skip CASE: reason
 *	# CASE: an observation
 *
 * Observations hold no address, time or descriptor: two libraries that behave alike print the same text.
 */
#ifndef TESTS_HARNESS_H
#define TESTS_HARNESS_H

#include <stddef.h>

struct test {
	const char *name;
	void (*run)(void);
	unsigned int seconds;	/* limit; 0: the usual one. TEST_SCALE multiplies it */
	const char *needs;	/* words, of which the environment's TEST_WITHOUT must have none; else it is skipped */
};

/* What follows are further fields: TEST(fast), TEST(of_groups, .needs = "multicast") */
#define TEST(function, ...) { .name = #function, .run = function, __VA_ARGS__ }
#define SLOW_TEST(function, limit, ...) { .name = #function, .run = function, .seconds = limit, __VA_ARGS__ }

/* Runs the cases named in argv, or all. Returns what main() returns. */
int run_tests(const struct test *tests, size_t count, int argc, char **argv);

#define RUN_TESTS(tests, argc, argv) run_tests(tests, sizeof(tests) / sizeof((tests)[0]), argc, argv)

/* How much slower than a real machine the time limits have to be (environment TEST_SCALE). */
unsigned int time_scale(void);

/* The first of these words that the environment's TEST_WITHOUT has, and its length; NULL if there is none. */
const char *missing_word(const char *needs, int *length);

/* The number in the environment variable, or else the default. */
unsigned long number_from_env(const char *name, unsigned long otherwise);

/* The end of the running case; any thread of it may call these. */
_Noreturn void fail_at(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
_Noreturn void skip_test(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A fact about the library's behaviour, for the comparison. */
void observe(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define fail(...) fail_at(__FILE__, __LINE__, __VA_ARGS__)

#define check(condition, ...)                \
	do {                                 \
		if (!(condition))            \
			fail(__VA_ARGS__);   \
	} while (0)

/* A call that must return 0; the reason names its errno. */
#define check_ok(call)                                                    \
	do {                                                              \
		int check_ret = (call);                                   \
		check(check_ret == 0, "%s is %d, %m", #call, check_ret);  \
	} while (0)

/* A call that must return -1 with this errno. */
#define check_fails(call, wanted)                                              \
	do {                                                                   \
		errno = 0;                                                     \
		int check_ret = (call);                                        \
		int check_errno = errno;                                       \
		check(check_ret == -1 && check_errno == (wanted),              \
		      "%s is %d, errno %s, not -1, %s", #call, check_ret,      \
		      errno_name(check_errno), #wanted);                       \
	} while (0)

/* "EINVAL" for EINVAL; "0" for 0. */
const char *errno_name(int error);

#endif
