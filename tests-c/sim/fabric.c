/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric.h"

#include "protocol.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KERNEL_NAME "librdmacm-sim"

extern char **environ;

int sim_socket_path(const char *folder, char *path, size_t size)
{
	int length = snprintf(path, size, "%s/" SIM_SOCKET_NAME, folder);

	return length > 0 && (size_t)length < size ? 0 : -1;
}

/* The executable lies beside this object. */
static int kernel_path(char *path)
{
	char object[PATH_MAX];
	Dl_info info;
	char *slash;

	if (!dladdr((void *)kernel_path, &info) || !realpath(info.dli_fname, object))
		return -1;
	slash = strrchr(object, '/');
	if (slash)
		*slash = '\0';
	return snprintf(path, PATH_MAX, "%s/" KERNEL_NAME, object) < PATH_MAX ? 0 : -1;
}

/* The kernel process is no program of the fabric: the environment without what is preloaded. */
static char **plain_environment(void)
{
	size_t count = 0, kept = 0;
	char **plain;

	while (environ && environ[count])
		count++;
	plain = calloc(count + 1, sizeof(*plain));
	for (size_t i = 0; plain && i < count; i++)
		if (strncmp(environ[i], "LD_PRELOAD=", 11))
			plain[kept++] = environ[i];
	return plain;
}

static int spawn_kernel(const char *folder)
{
	char path[PATH_MAX];
	char *arguments[] = { KERNEL_NAME, "--kernel", (char *)folder, NULL };
	char **environment = plain_environment();
	posix_spawnattr_t attributes;
	sigset_t none;
	int status, error;
	pid_t pid;

	if (!environment || kernel_path(path)) {
		free(environment);
		errno = environment ? ENOENT : ENOMEM;
		return -1;
	}
	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &none);
	error = posix_spawn(&pid, path, NULL, &attributes, arguments, environment);
	posix_spawnattr_destroy(&attributes);
	free(environment);
	/* It goes into the background by itself, once it listens. */
	if (!error && (waitpid(pid, &status, 0) != pid || status))
		error = ECONNREFUSED;
	errno = error;
	return error ? -1 : 0;
}

int sim_start_fabric(void)
{
	char folder[] = "/tmp/" KERNEL_NAME ".XXXXXX";
	const char *named = getenv(SIM_ENV_FABRIC);

	if (named && *named)
		return spawn_kernel(named);
	if (!mkdtemp(folder))
		return -1;
	if (spawn_kernel(folder)) {
		rmdir(folder);
		return -1;
	}
	return setenv(SIM_ENV_FABRIC, folder, 1);
}
