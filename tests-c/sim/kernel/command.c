/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "command.h"

#include "../call.h"
#include "../fabric.h"
#include "../protocol.h"
#include "fabric.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OBJECT_NAME "librdmacm-sim.so"

/* The object beside this executable goes in front of what is preloaded already, unless it is there. */
static int preload(void)
{
	char executable[PATH_MAX], list[3 * PATH_MAX];
	const char *before = getenv("LD_PRELOAD");

	if (before && strstr(before, OBJECT_NAME))
		return 0;
	if (!realpath("/proc/self/exe", executable))
		return -1;
	snprintf(list, sizeof(list), "%s/" OBJECT_NAME "%s%s", dirname(executable), before ? ":" : "",
		 before ? before : "");
	return setenv("LD_PRELOAD", list, 1);
}

static int choose_folder(void)
{
	char folder[] = "/tmp/librdmacm-sim.XXXXXX";
	const char *named = getenv(SIM_ENV_FABRIC);

	if (named && *named)
		return 0;
	return mkdtemp(folder) ? setenv(SIM_ENV_FABRIC, folder, 1) : -1;
}

/* In a process between, so that the program, which this one becomes, has no child that it does not know. */
static int start_fabric(const char *script)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(run_fabric(getenv(SIM_ENV_FABRIC), script));
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status ? 0 : -1;
}

int run_program(const char *script, char **arguments)
{
	if (choose_folder() || preload()) {
		perror("librdmacm-sim");
		return EXIT_FAILURE;
	}
	if (start_fabric(script))
		return EXIT_FAILURE;
	execvp(arguments[0], arguments);
	perror(arguments[0]);
	return errno == ENOENT ? 127 : 126;
}

/* Asks the running fabric, and prints its text. */
static int ask(uint32_t op, const char *question)
{
	static char text[SIM_DATA_MAX];
	size_t size;
	long result;

	if (!getenv(SIM_ENV_FABRIC)) {
		fputs("librdmacm-sim: " SIM_ENV_FABRIC " names no fabric\n", stderr);
		return EXIT_FAILURE;
	}
	result = sim_call_parts(op, question, strlen(question), NULL, 0, text, sizeof(text), &size);
	fwrite(text, 1, size, stdout);
	if (result >= 0)
		return EXIT_SUCCESS;
	fprintf(stderr, "librdmacm-sim: %s: %m\n", question);
	return EXIT_FAILURE;
}

int order(const char *line)
{
	return ask(SIM_CONTROL, line);
}

int show_resources(const char *kind)
{
	return ask(SIM_RESOURCES, kind);
}

int show_resources_as_rdma(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "resource") && !strcmp(argv[2], "show"))
		return show_resources(argv[3]);
	fputs("rdma (simulated): only `rdma resource show KIND`\n", stderr);
	return EXIT_FAILURE;
}
