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
#include "sides.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *server_node;
struct sockaddr_in server_address, device_address;

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

static void server_side(const void *scenario)
{
	be_undisturbed();
	((const struct scenario *)scenario)->server(scenario);
}

static void client_side(const void *scenario)
{
	be_undisturbed();
	((const struct scenario *)scenario)->client(scenario);
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

	if (argc < 4 || !meter_kind(argv[1], &kind) || atoi(argv[3]) < 1) {
		fprintf(stderr, "usage: %s calls|cpu ADDRESS CONNECTIONS [SCENARIO...]\n", argv[0]);
		return EXIT_FAILURE;
	}
	set_addresses(argv[2]);
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		if (is_wanted(&scenarios[i], argc, argv))
			run_sides(&(struct sides){ scenarios[i].name, server_side, client_side, &scenarios[i] }, kind,
				  atoi(argv[3]));
	return EXIT_SUCCESS;
}
