/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "process.h"

#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void sleep_ms(unsigned int ms)
{
	struct timespec rest = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	while (nanosleep(&rest, &rest))
		;
}

pthread_t start_thread(void *(*run)(void *), void *arg)
{
	pthread_t thread;
	int error = pthread_create(&thread, NULL, run, arg);

	check(!error, "pthread_create: %s", errno_name(error));
	return thread;
}

void join_thread(pthread_t thread)
{
	int error = pthread_join(thread, NULL);

	check(!error, "pthread_join: %s", errno_name(error));
}

bool thread_ends(pthread_t thread, unsigned int ms)
{
	struct timespec limit;
	unsigned int scaled = ms * time_scale();
	int error;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += scaled / 1000;
	limit.tv_nsec += (long)(scaled % 1000) * 1000000;
	if (limit.tv_nsec >= 1000000000) {
		limit.tv_nsec -= 1000000000;
		limit.tv_sec++;
	}
	error = pthread_timedjoin_np(thread, NULL, &limit);
	check(!error || error == ETIMEDOUT, "pthread_timedjoin_np: %s", errno_name(error));
	return !error;
}

void set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	check(flags >= 0 && !fcntl(fd, F_SETFL, flags | O_NONBLOCK), "fcntl: %m");
}

int count_fds(const char *text)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;
	int count = 0;

	check(directory, "/proc/self/fd: %m");
	while ((entry = readdir(directory))) {
		char target[256];
		ssize_t length;

		if (entry->d_name[0] == '.' || atoi(entry->d_name) == dirfd(directory))
			continue;
		length = readlinkat(dirfd(directory), entry->d_name, target, sizeof(target) - 1);
		/* The library may close one at any time. */
		if (length < 0 && errno == ENOENT)
			continue;
		check(length >= 0, "/proc/self/fd/%s: %m", entry->d_name);
		target[length] = '\0';
		if (!text || strstr(target, text))
			count++;
	}
	closedir(directory);
	return count;
}

int count_threads(void)
{
	DIR *directory = opendir("/proc/self/task");
	struct dirent *entry;
	int count = 0;

	check(directory, "/proc/self/task: %m");
	while ((entry = readdir(directory)))
		count += entry->d_name[0] != '.';
	closedir(directory);
	return count;
}

int run_command(const char *command)
{
	char *arguments[] = { "sh", "-c", (char *)command, NULL };
	posix_spawn_file_actions_t actions;
	int error, status;
	pid_t pid;

	unsetenv("LD_PRELOAD");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
	error = posix_spawn(&pid, "/bin/sh", &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	check(!error, "posix_spawn: %s", errno_name(error));
	check(waitpid(pid, &status, 0) == pid, "waitpid: %m");
	return status;
}

long resident_kb(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[128];
	long size = -1;

	check(file, "/proc/self/status: %m");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "VmRSS: %ld", &size) == 1)
			break;
	fclose(file);
	check(size > 0, "no VmRSS");
	return size;
}

void run_child(void (*child)(void))
{
	pid_t pid = fork();
	int status;

	check(pid >= 0, "fork: %m");
	if (pid == 0) {
		child();
		/* A leak checker would miss what only the parent's other threads had in hand. */
		_exit(EXIT_SUCCESS);
	}
	check(waitpid(pid, &status, 0) == pid, "waitpid: %m");
	if (WIFEXITED(status) && WEXITSTATUS(status))
		/* The child has written the reason of this case already. */
		_exit(WEXITSTATUS(status));
	check(!WIFSIGNALED(status), "the child died of signal %d", WTERMSIG(status));
}
