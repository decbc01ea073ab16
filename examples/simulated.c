/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * A test with the simulator: what a program does when the way to its peer is gone for a while, and when its device is
 * pulled out. Neither can be had from real devices at will.
 * Build: cc simulated.c $(pkg-config --cflags --libs librdmacm)
 * Usage: librdmacm-sim ./simulated
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/rdma_cma.h>

static int failed;

static void check(int good, const char *what)
{
	printf("%s %s\n", good ? "ok" : "not ok", what);
	if (!good)
		failed = 1;
}

/* One line of script for the simulated kernel: librdmacm-sim(1). */
static void script(const char *line)
{
	char command[128];

	snprintf(command, sizeof(command), "librdmacm-sim --do '%s'", line);
	if (system(command)) {
		fprintf(stderr, "no simulator: run this by librdmacm-sim\n");
		exit(2);
	}
}

/* What is tested: asks again as long as there is no route. Returns how often it asked; -1 if that did not help. */
static int resolve_patiently(struct rdma_cm_id *id, struct sockaddr *address)
{
	for (int attempt = 1; attempt <= 5; attempt++) {
		if (!rdma_resolve_addr(id, NULL, address, 2000))
			return attempt;
		if (errno != ENETUNREACH)
			break;
	}
	return -1;
}

static void test_route_that_comes_back(struct rdma_cm_id *id)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(7471) };

	inet_pton(AF_INET, "10.99.0.1", &address.sin_addr);
	script("fail resolve_addr 1 ENETUNREACH");
	script("fail resolve_addr 2 ENETUNREACH");
	check(resolve_patiently(id, (struct sockaddr *)&address) == 3, "the third attempt succeeds");
}

static void test_removal(struct rdma_cm_id *id)
{
	struct rdma_cm_event *event;

	script("remove rxe0");
	if (rdma_get_cm_event(id->channel, &event)) {
		check(0, "an event of the removal");
		return;
	}
	check(event->event == RDMA_CM_EVENT_DEVICE_REMOVAL && event->id == id, "an event of the removal");
	rdma_ack_cm_event(event);
}

int main(void)
{
	struct rdma_cm_id *id;

	/* Without a channel its calls wait. */
	if (rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP)) {
		perror("rdma_create_id");
		return 2;
	}
	test_route_that_comes_back(id);
	test_removal(id);
	check(!rdma_destroy_id(id), "the id lets its device go");
	return failed;
}
