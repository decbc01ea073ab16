/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sides.h"

#include "die.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* This side's end of the connection to the other one. */
static int turns;

void give_turn(void)
{
	if (write(turns, "", 1) != 1)
		die("write to the other side");
}

void await_turn(void)
{
	char byte;
	ssize_t length = read(turns, &byte, 1);

	if (length == 1)
		return;
	if (!length)
		errno = ECONNRESET;
	die("read from the other side");
}

void be_undisturbed(void)
{
	const struct sched_param priority = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO, &priority))
		die("sched_setscheduler");
}

static void start(const struct sides *sides, int is_client, const int ends[2], enum meter_kind kind, int samples)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	turns = ends[is_client];
	close(ends[!is_client]);
	meter_open(kind, samples);
	if (is_client)
		sides->client(sides->what);
	else
		sides->server(sides->what);
	meter_print(sides->scenario, is_client ? "client" : "server");
	exit(EXIT_SUCCESS);
}

void run_sides(const struct sides *sides, enum meter_kind kind, int samples)
{
	int ends[2], status;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		die("socketpair");
	for (int is_client = 0; is_client < 2; is_client++)
		start(sides, is_client, ends, kind, samples);
	close(ends[0]);
	close(ends[1]);
	for (int i = 0; i < 2; i++) {
		if (wait(&status) < 0)
			die("wait");
		/* The other side may wait for ever: it ends with this process. */
		if (status) {
			fprintf(stderr, "%s: a side ended with wait status %#x\n", sides->scenario, status);
			exit(EXIT_FAILURE);
		}
	}
}
