/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Devices are open while somebody uses them, and only then. */
#include "helper.h"

#include <stdio.h>
#include <string.h>

static struct rdma_event_channel *channel;

static int open_devices(void)
{
	return count_fds("/dev/infiniband/uverbs");
}

static struct ibv_context **get_devices(int wanted)
{
	int count = -1;
	struct ibv_context **list = rdma_get_devices(&count);

	check(list, "rdma_get_devices: %m");
	check(count == wanted, "%d devices", count);
	check(!list[count], "the list does not end with NULL");
	return list;
}

static void list(void)
{
	struct ibv_context **devices = get_devices(1);

	observe("device %s", ibv_get_device_name(devices[0]->device));
	rdma_free_devices(devices);
}

static void list_without_count(void)
{
	struct ibv_context **devices = rdma_get_devices(NULL);

	check(devices && devices[0] && !devices[1], "not one device");
	rdma_free_devices(devices);
}

static void free_null(void)
{
	rdma_free_devices(get_devices(1));
	rdma_free_devices(NULL);
}

static void list_is_let_go(void)
{
	struct ibv_context **first = get_devices(1), **second = get_devices(1);

	check(first[0] == second[0], "two contexts of one device");
	check(open_devices() == 1, "%d device descriptors", open_devices());
	rdma_free_devices(first);
	check(open_devices() == 1, "closed under the second list");
	rdma_free_devices(second);
	check(open_devices() == 0, "%d device descriptors left", open_devices());
}

static void unbound_id_opens_none(void)
{
	struct rdma_cm_id *id;

	channel = open_channel();
	id = open_id(channel);
	write_event(id, 0, 0);
	take_event(channel, id, 0, 0);
	check(open_devices() == 0, "%d device descriptors", open_devices());
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void ids_share_a_device(void)
{
	struct rdma_cm_id *first, *second;
	struct ibv_context **devices;

	channel = open_channel();
	first = open_bound_id(channel);
	second = open_bound_id(channel);
	devices = get_devices(1);
	check(first->verbs == second->verbs && first->verbs == devices[0], "two contexts of one device");
	check(open_devices() == 1, "%d device descriptors", open_devices());
	rdma_free_devices(devices);
	check_ok(rdma_destroy_id(first));
	check(open_devices() == 1, "closed under the second id");
	check(!strcmp(ibv_get_device_name(second->verbs->device), "rxe0"), "device name");
	check_ok(rdma_destroy_id(second));
	rdma_destroy_event_channel(channel);
}

static void bound_id_lets_go(void)
{
	struct rdma_cm_id *id;

	channel = open_channel();
	for (int i = 0; i < 10; i++) {
		id = open_bound_id(channel);
		check(open_devices() == 1, "%d device descriptors", open_devices());
		check_ok(rdma_destroy_id(id));
		check(open_devices() == 0, "%d device descriptors left", open_devices());
	}
	rdma_destroy_event_channel(channel);
}

/* The context must be good as long as an event can lead to it. */
static void list_outlives_the_id(void)
{
	struct ibv_context **devices;
	struct ibv_device_attr attributes;

	channel = open_channel();
	devices = get_devices(1);
	check_ok(rdma_destroy_id(open_bound_id(channel)));
	check_ok(ibv_query_device(devices[0], &attributes));
	rdma_free_devices(devices);
	rdma_destroy_event_channel(channel);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(list),
		TEST(list_without_count),
		TEST(free_null),
		TEST(list_is_let_go),
		TEST(unbound_id_opens_none),
		TEST(ids_share_a_device),
		TEST(bound_id_lets_go),
		TEST(list_outlives_the_id),
	};

	return RUN_TESTS(tests, argc, argv);
}
