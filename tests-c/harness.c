/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "harness.h"

#include "process.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { USUAL_SECONDS = 30, EXIT_FAILED = 71, EXIT_SKIPPED = 72 };

static const char *current_test;
/* Shared with the parent, which prints the result line. */
static char (*reason)[512];

unsigned long number_from_env(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

unsigned int time_scale(void)
{
	return (unsigned int)number_from_env("TEST_SCALE", 1);
}

const char *errno_name(int error)
{
	const char *name = strerrorname_np(error);

	return name ? name : "?";
}

void fail_at(const char *file, int line, const char *format, ...)
{
	int error = errno;
	const char *base = strrchr(file, '/');
	int used = snprintf(*reason, sizeof(*reason), "%s:%d: ", base ? base + 1 : file, line);
	va_list args;

	errno = error;	/* for a %m in the format */
	va_start(args, format);
	vsnprintf(*reason + used, sizeof(*reason) - (size_t)used, format, args);
	va_end(args);
	_exit(EXIT_FAILED);
}

void skip_test(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(*reason, sizeof(*reason), format, args);
	va_end(args);
	_exit(EXIT_SKIPPED);
}

void observe(const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* One call and one flush: threads do not mix lines, and a later crash loses none. */
	printf("# %s: %s\n", current_test, text);
	fflush(stdout);
}

static _Noreturn void run_in_child(const struct test *test)
{
	const struct rlimit no_core = { 0 };

	setrlimit(RLIMIT_CORE, &no_core);
	/* A group of its own: a case that hangs is killed with its children. */
	setpgid(0, 0);
	current_test = test->name;
	test->run();
	/* exit and not _exit: leak checkers report here. */
	exit(EXIT_SUCCESS);
}

/* Looks again and again: valgrind 3.19 does not know pidfd_open. */
static bool ends_in_time(pid_t child, unsigned int seconds)
{
	uint64_t end = now_ms() + (uint64_t)seconds * time_scale() * 1000;

	do {
		siginfo_t info = { 0 };

		if (!waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid == child)
			return true;
		sleep_ms(2);
	} while (now_ms() < end);
	return false;
}

/* Prints the result line; true unless the case failed. */
static bool report(const struct test *test, int status)
{
	if (WIFEXITED(status)) {
		switch (WEXITSTATUS(status)) {
		case EXIT_SUCCESS:
			printf("ok %s\n", test->name);
			return true;
		case EXIT_SKIPPED:
			printf("skip %s: %s\n", test->name, *reason);
			return true;
		case EXIT_FAILED:
			printf("not ok %s: %s\n", test->name, *reason);
			return false;
		default:
			printf("not ok %s: exit status %d\n", test->name, WEXITSTATUS(status));
			return false;
		}
	}
	printf("not ok %s: killed by SIG%s\n", test->name, sigabbrev_np(WTERMSIG(status)));
	return false;
}

static bool has_word(const char *list, const char *word, size_t length)
{
	for (const char *at = list; *at; at += strcspn(at, " ")) {
		at += strspn(at, " ");
		if (strcspn(at, " ") == length && !strncmp(at, word, length))
			return true;
	}
	return false;
}

const char *missing_word(const char *needs, int *length)
{
	const char *missing = getenv("TEST_WITHOUT");

	for (const char *word = needs; missing && word && *word; word += *length) {
		word += strspn(word, " ");
		*length = (int)strcspn(word, " ");
		if (has_word(missing, word, (size_t)*length))
			return word;
	}
	return NULL;
}

static bool run_test(const struct test *test)
{
	pid_t child;
	int status, length;
	const char *missing = missing_word(test->needs, &length);

	if (missing) {
		printf("skip %s: the machine is without %.*s\n", test->name, length, missing);
		return true;
	}
	fflush(stdout);
	**reason = '\0';
	child = fork();
	if (child < 0) {
		printf("not ok %s: fork: %m\n", test->name);
		return false;
	}
	if (child == 0)
		run_in_child(test);

	if (!ends_in_time(child, test->seconds ? test->seconds : (unsigned int)number_from_env("TEST_SECONDS", USUAL_SECONDS))) {
		kill(-child, SIGKILL);
		waitpid(child, NULL, 0);
		printf("not ok %s: hangs\n", test->name);
		return false;
	}
	waitpid(child, &status, 0);
	/* What the case left behind must not disturb the next one. */
	kill(-child, SIGKILL);
	return report(test, status);
}

static bool is_wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc < 2;
}

int run_tests(const struct test *tests, size_t count, int argc, char **argv)
{
	bool good = true;
	int ran = 0;

	reason = mmap(NULL, sizeof(*reason), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (reason == MAP_FAILED) {
		perror("mmap");
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < count; i++) {
		if (!is_wanted(tests[i].name, argc, argv))
			continue;
		good = run_test(&tests[i]) && good;
		ran++;
	}
	if (!ran || (argc > 1 && ran != argc - 1)) {
		fprintf(stderr, "%s: no such case\n", argv[0]);
		return EXIT_FAILURE;
	}
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
