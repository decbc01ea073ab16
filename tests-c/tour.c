/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every path through the library once, in one process: what a checker needs that takes seconds to start. What the
 * results should be is asked in the other programs.
 */
#include "helper.h"

#include <arpa/inet.h>

static void tour_events(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *id = open_id(channel);
	struct rdma_cm_event *event;
	struct waiter waiter;

	for (unsigned int i = 0; i < 3; i++)
		write_event(id, (int)i, i);
	for (unsigned int i = 0; i < 3; i++)
		take_event(channel, id, (int)i, i);
	check_empty(channel);
	check_fails(rdma_write_cm_event(id, RDMA_CM_EVENT_REJECTED, 0, 0), EINVAL);
	check_fails(rdma_get_cm_event(channel, NULL), EINVAL);

	start_waiter(&waiter, channel);
	write_event(id, 3, 4);
	join_thread(waiter.thread);
	check(waiter.ret == 0, "get: %s", errno_name(waiter.error));
	check_ok(rdma_ack_cm_event(waiter.event));

	/* One undelivered and one held at the end. */
	write_event(id, 5, 6);
	write_event(id, 7, 8);
	event = get_event(channel, id, 5, 6);
	check_ok(rdma_destroy_id(id));
	check_ok(rdma_ack_cm_event(event));
}

static void tour_migration(struct rdma_event_channel *channel)
{
	struct rdma_event_channel *second = open_channel();
	struct rdma_cm_id *id = open_id(channel);

	write_event(id, 1, 2);
	check_ok(rdma_migrate_id(id, second));
	take_event(second, id, 1, 2);
	check_ok(rdma_migrate_id(id, NULL));
	write_event(id, 3, 4);
	check_ok(rdma_migrate_id(id, channel));
	take_event(channel, id, 3, 4);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(second);
}

static void tour_device(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(7471) };
	struct ibv_context **devices = rdma_get_devices(NULL);
	struct rdma_cm_id *id;

	check(devices, "rdma_get_devices: %m");
	inet_pton(AF_INET, DEVICE_ADDRESS, &address.sin_addr);
	check_ok(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	check_ok(rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 2000));
	check_ok(rdma_resolve_route(id, 2000));
	check(id->verbs == devices[0] && is_route_resolved(id), "not resolved");
	check_fails(rdma_bind_addr(id, (struct sockaddr *)&address), EINVAL);
	rdma_free_devices(devices);
	check_ok(rdma_destroy_id(id));
}

static void everything_once(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct waiter waiter;

	tour_events(channel);
	tour_migration(channel);
	tour_device();
	start_waiter(&waiter, channel);
	rdma_destroy_event_channel(channel);
	join_thread(waiter.thread);
	check(waiter.ret == -1 && waiter.error == ECANCELED, "get is %d, errno %s", waiter.ret,
	      errno_name(waiter.error));
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		SLOW_TEST(everything_once, 10),
	};

	return RUN_TESTS(tests, argc, argv);
}
