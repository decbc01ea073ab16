/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric.h"
#include "../fabric.h"
#include "../protocol.h"
#include "command.h"

#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static int usage(FILE *out, int status)
{
	fputs("usage: librdmacm-sim [--script FILE] PROGRAM [ARGUMENT...]\n"
	      "       librdmacm-sim --do LINE\n"
	      "       librdmacm-sim --resources KIND\n"
	      "Runs a program on simulated RDMA devices; see librdmacm-sim(1).\n", out);
	return status;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "script", required_argument, NULL, 's' },
		{ "do", required_argument, NULL, 'd' },
		{ "resources", required_argument, NULL, 'r' },
		{ "kernel", required_argument, NULL, 'k' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *script = NULL, *kernel = NULL;
	int option;

	if (!strcmp(basename(argv[0]), "rdma"))
		return show_resources_as_rdma(argc, argv);
	while ((option = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		switch (option) {
		case 's': script = optarg; break;
		case 'k': kernel = optarg; break;
		case 'd': return order(optarg);
		case 'r': return show_resources(optarg);
		case 'h': return usage(stdout, EXIT_SUCCESS);
		default: return usage(stderr, 2);
		}
	}
	if (kernel)
		return run_fabric(kernel, script);
	if (optind >= argc)
		return usage(stderr, 2);
	return run_program(script, argv + optind);
}
