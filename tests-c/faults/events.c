/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Channels and user events. */
#include "scenario.h"
#include "scenarios.h"

static struct rdma_event_channel *channel, *other;
static struct rdma_cm_id *id;

void channel_run(void)
{
	channel = open_channel();
}

void channel_clean(void)
{
	close_channel(&channel);
}

static void write_one(int status, uint64_t arg)
{
	attempt(YOUNG(rdma_write_cm_event)(id, RDMA_CM_EVENT_USER, status, arg));
}

static void take_one(struct rdma_event_channel *from, int status, uint64_t arg)
{
	struct rdma_cm_event *event = take(from, RDMA_CM_EVENT_USER);

	require(event->id == id && event->status == status && event->param.arg == arg, "another event");
	attempt(rdma_ack_cm_event(event));
}

void user_event_run(void)
{
	channel = open_channel();
	attempt(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	write_one(1, 2);
	write_one(3, 4);
	take_one(channel, 1, 2);
	take_one(channel, 3, 4);
	/* The second time everything is there already. */
	attempt(rdma_destroy_id(id));
	attempt(rdma_create_id(channel, &id, NULL, RDMA_PS_UDP));
	write_one(5, 6);
	take_one(channel, 5, 6);
	/* Gone with the id. */
	write_one(7, 8);
}

void user_event_clean(void)
{
	close_id(&id);
	close_channel(&channel);
	close_channel(&other);
}

/* An id that waits by itself meets user events first, and puts them off. */
void waiting_run(void)
{
	attempt(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	write_one(1, 2);
	write_one(3, 4);
	attempt_far(rdma_resolve_addr(id, NULL, device_address(7499), 2000));
	require(id->event && id->event->event == RDMA_CM_EVENT_ADDR_RESOLVED, "another answer");
	attempt_far(rdma_resolve_route(id, 2000));
	take_one(id->channel, 1, 2);
	take_one(id->channel, 3, 4);
}

void waiting_clean(void)
{
	close_id(&id);
}

void migrate_run(void)
{
	channel = open_channel();
	other = open_channel();
	attempt(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	write_one(1, 2);
	attempt(rdma_migrate_id(id, other));
	take_one(other, 1, 2);
	attempt(rdma_migrate_id(id, NULL));
	write_one(3, 4);
	attempt(rdma_migrate_id(id, channel));
	take_one(channel, 3, 4);
}

void migrate_clean(void)
{
	user_event_clean();
}

enum { HELD = 3 };

static struct rdma_cm_event *held[HELD];

void held_run(void)
{
	channel = open_channel();
	attempt(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	for (int i = 0; i < HELD; i++)
		write_one(i, 0);
	for (int i = 0; i < HELD; i++)
		held[i] = take(channel, RDMA_CM_EVENT_USER);
	write_one(0, 0);
}

void held_clean(void)
{
	for (int i = 0; i < HELD; i++) {
		if (held[i])
			attempt(rdma_ack_cm_event(held[i]));
		held[i] = NULL;
	}
	user_event_clean();
}
