/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What connections cost, phase by phase and on both sides, one after the other over one device. Prints
 * "SCENARIO SIDE PHASE VALUE" lines.
 *
 *	connect calls|cpu ADDRESS CONNECTIONS [SCENARIO...]	by default all scenarios
 */
#include "connect.h"

#include "die.h"
#include "meter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

const char *server_node;
struct sockaddr_in server_address, device_address;
static int turns[2];

static const struct scenario scenarios[] = {
	{ "none", NO_QP, run_client, run_server },
	{ "ext", EXTERNAL_QP, run_client, run_server },
	{ "qp", LIBRARY_QP, run_client, run_server },
	{ "qpcq", LIBRARY_QP_AND_CQS, run_client, run_server },
	{ "ep", LIBRARY_QP_AND_CQS, run_client_endpoint, run_server_endpoint },
};

static void set_addresses(const char *node)
{
	server_node = node;
	device_address.sin_family = AF_INET;
	if (inet_pton(AF_INET, node, &device_address.sin_addr) != 1)
		die(node);
	server_address = device_address;
	server_address.sin_port = htons((in_port_t)atoi(SERVER_SERVICE));
}

void let_client_connect(void)
{
	if (write(turns[1], "", 1) != 1)
		die("write to the client");
}

void wait_for_server(void)
{
	char byte;
	ssize_t length = read(turns[0], &byte, 1);

	if (length == 1)
		return;
	if (!length)
		errno = ECONNRESET;
	die("read from the server");
}

void wait_for_event(struct rdma_event_channel *channel)
{
	struct pollfd wait = { .fd = channel->fd, .events = POLLIN };

	meter_pause();
	if (poll(&wait, 1, -1) != 1)
		die("poll");
	meter_resume();
}

struct rdma_cm_id *take_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	wait_for_event(channel);
	if (rdma_get_cm_event(channel, &event))
		die("rdma_get_cm_event");
	if (event->event != type) {
		fprintf(stderr, "%s, status %d, in place of %s\n", rdma_event_str(event->event), event->status,
			rdma_event_str(type));
		exit(EXIT_FAILURE);
	}
	id = event->id;
	rdma_ack_cm_event(event);
	return id;
}

/*
 * Each side of each scenario is a process of its own, so that no scenario pays for what another one left. No thread of
 * the kernel runs before it sleeps: when they come in between is chance.
 */
static pid_t start(void (*side)(const struct scenario *), const char *name, const struct scenario *scenario,
		   enum meter_kind kind, int connections, int unused_end)
{
	const struct sched_param priority = { .sched_priority = 1 };
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (sched_setscheduler(0, SCHED_FIFO, &priority))
		die("sched_setscheduler");
	close(unused_end);
	meter_open(kind, connections);
	side(scenario);
	meter_print(scenario->name, name);
	exit(EXIT_SUCCESS);
}

static void run(const struct scenario *scenario, enum meter_kind kind, int connections)
{
	int status;

	if (pipe(turns))
		die("pipe");
	start(scenario->server, "server", scenario, kind, connections, turns[0]);
	start(scenario->client, "client", scenario, kind, connections, turns[1]);
	close(turns[0]);
	close(turns[1]);
	for (int i = 0; i < 2; i++) {
		if (wait(&status) < 0)
			die("wait");
		/* The other side may wait for ever: it ends with this process. */
		if (status) {
			fprintf(stderr, "%s: a side ended with wait status %#x\n", scenario->name, status);
			exit(EXIT_FAILURE);
		}
	}
}

static bool is_wanted(const struct scenario *scenario, int argc, char **argv)
{
	for (int i = 4; i < argc; i++)
		if (!strcmp(argv[i], scenario->name))
			return true;
	return argc < 5;
}

int main(int argc, char **argv)
{
	enum meter_kind kind;

	if (argc < 4 || atoi(argv[3]) < 1) {
		fprintf(stderr, "usage: %s calls|cpu ADDRESS CONNECTIONS [SCENARIO...]\n", argv[0]);
		return EXIT_FAILURE;
	}
	kind = strcmp(argv[1], "calls") ? METER_CPU : METER_CALLS;
	set_addresses(argv[2]);
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		if (is_wanted(&scenarios[i], argc, argv))
			run(&scenarios[i], kind, atoi(argv[3]));
	return EXIT_SUCCESS;
}
