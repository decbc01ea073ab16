/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* User events through whichever librdmacm is loaded. */
#include "way.h"

#include "die.h"

#include <fcntl.h>
#include <rdma/rdma_cma.h>
#include <stddef.h>

static struct rdma_event_channel *channels[ENDS], *empty;
static struct rdma_cm_id *ids[ENDS];
static struct rdma_cm_event *held[BATCH];

static struct rdma_event_channel *open_channel(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	if (!channel)
		die("rdma_create_event_channel");
	return channel;
}

static void open_ends(void)
{
	for (int i = 0; i < ENDS; i++) {
		channels[i] = open_channel();
		if (rdma_create_id(channels[i], &ids[i], NULL, RDMA_PS_TCP))
			die("rdma_create_id");
	}
	empty = open_channel();
	if (fcntl(empty->fd, F_SETFL, O_RDWR | O_NONBLOCK))
		die("fcntl");
}

static void write_one(int end)
{
	if (rdma_write_cm_event(ids[end], RDMA_CM_EVENT_USER, 1, 2))
		die("rdma_write_cm_event");
}

static void get_one(int end, int slot)
{
	if (rdma_get_cm_event(channels[end], &held[slot]))
		die("rdma_get_cm_event");
}

static void ack_one(int slot)
{
	if (rdma_ack_cm_event(held[slot]))
		die("rdma_ack_cm_event");
}

static void read_one(int end)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(channels[end], &event) || rdma_ack_cm_event(event))
		die("rdma_get_cm_event");
}

static void read_nothing(void)
{
	struct rdma_cm_event *event;

	if (!rdma_get_cm_event(empty, &event))
		die("an event from nowhere");
}

const struct way library_way = {
	.name = "library",
	.open = open_ends,
	.write = write_one,
	.read = read_one,
	.get = get_one,
	.ack = ack_one,
	.read_nothing = read_nothing,
};
