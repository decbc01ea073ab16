/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Many undelivered user events, and what becomes of them. Where the kernel has no command for user events each of
 * them holds an id in the kernel (TEST_BELLS=1 says so); none may be left over.
 */
#include "helper.h"

#include <arpa/inet.h>

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;
/* More events than that wait without an id of their own. */
enum { MOST_BELLS = 256 };

static void check_kernel_ids(int wanted)
{
	int found = count_kernel_ids();

	if (!number_from_env("TEST_BELLS", 0))
		wanted = 0;
	check(found == wanted, "%d ids in the kernel, not %d", found, wanted);
}

static void check_end(void)
{
	close_pair(channel, id);
	check_kernel_ids(0);
}

static void write_range(unsigned int from, unsigned int to)
{
	for (unsigned int i = from; i < to; i++)
		write_event(id, (int)i, i);
}

static void take_range(struct rdma_event_channel *from_channel, unsigned int from, unsigned int to)
{
	for (unsigned int i = from; i < to; i++)
		take_event(from_channel, id, (int)i, i);
}

static void pending_hold_ids(void)
{
	open_pair(&channel, &id);
	write_range(0, 20);
	check_kernel_ids(20);
	take_range(channel, 0, 5);
	check_kernel_ids(15);
	take_range(channel, 5, 20);
	check_kernel_ids(0);
	check_end();
}

static void id_destroyed(void)
{
	struct rdma_cm_id *other;

	open_pair(&channel, &id);
	other = open_id(channel);
	write_range(0, 10);
	write_event(other, 1, 2);
	write_range(10, 20);
	take_range(channel, 0, 3);
	check_ok(rdma_destroy_id(id));
	check_kernel_ids(1);
	take_event(channel, other, 1, 2);
	check_empty(channel);
	id = other;
	check_end();
}

/* Against the rules, for the id is still there; but no reason for the kernel to keep anything. */
static void channel_destroyed(void)
{
	open_pair(&channel, &id);
	write_range(0, 20);
	rdma_destroy_event_channel(channel);
	check_kernel_ids(0);
}

static void migrated_several_times(void)
{
	enum { CHANNELS = 5 };
	struct rdma_event_channel *channels[CHANNELS];
	struct rdma_cm_id *residents[CHANNELS];

	open_pair(&channel, &id);
	channels[0] = channel;
	for (unsigned int i = 1; i < CHANNELS; i++) {
		channels[i] = open_channel();
		residents[i] = open_id(channels[i]);
		write_event(residents[i], -1, i);
	}
	for (unsigned int i = 0; i < CHANNELS; i++) {
		if (i)
			check_ok(rdma_migrate_id(id, channels[i]));
		write_range(i * 10, i * 10 + 10);
	}
	check_ok(rdma_migrate_id(id, channel));
	check_kernel_ids(CHANNELS * 10 + CHANNELS - 1);
	for (unsigned int i = 1; i < CHANNELS; i++) {
		take_event(channels[i], residents[i], -1, i);
		check_empty(channels[i]);
		check_ok(rdma_destroy_id(residents[i]));
		rdma_destroy_event_channel(channels[i]);
	}
	take_range(channel, 0, CHANNELS * 10);
	check_end();
}

static void migrated_behind_others(void)
{
	struct rdma_event_channel *second;
	struct rdma_cm_id *resident;

	open_pair(&channel, &id);
	second = open_channel();
	resident = open_id(second);
	write_range(0, 10);
	for (unsigned int i = 0; i < 10; i++)
		write_event(resident, 1, i);
	check_ok(rdma_migrate_id(id, second));
	for (unsigned int i = 10; i < 20; i++) {
		write_event(resident, 1, i);
		write_event(id, (int)i, i);
	}
	for (unsigned int i = 0; i < 10; i++)
		take_event(second, resident, 1, i);
	take_range(second, 0, 10);
	for (unsigned int i = 10; i < 20; i++) {
		take_event(second, resident, 1, i);
		take_event(second, id, (int)i, i);
	}
	check_ok(rdma_destroy_id(resident));
	check_end();
	rdma_destroy_event_channel(second);
}

static void destroyed_after_a_migration(void)
{
	struct rdma_event_channel *second;

	open_pair(&channel, &id);
	second = open_channel();
	write_range(0, 10);
	check_ok(rdma_migrate_id(id, second));
	write_range(10, 20);
	check_kernel_ids(20);
	check_end();
	check_empty(second);
	rdma_destroy_event_channel(second);
}

/* What was written is there for a reader that does not block, however far the writer is ahead. */
static void thousands_in_order(void)
{
	unsigned int count = (unsigned int)number_from_env("TEST_EVENTS", 100000) / 4;

	open_pair(&channel, &id);
	set_nonblocking(channel->fd);
	write_range(0, count);
	check_kernel_ids(MOST_BELLS);
	take_range(channel, 0, count / 2);
	write_range(count, count + count / 2);
	take_range(channel, count / 2, count + count / 2);
	check_end();
}

static void thousands_destroyed(void)
{
	open_pair(&channel, &id);
	write_range(0, (unsigned int)number_from_env("TEST_EVENTS", 100000) / 4);
	check_end();
}

/* Events of two ids in turns, more than hang. When the one is gone, the other's have the room. */
static void thousands_of_another_id(void)
{
	unsigned int count = (unsigned int)number_from_env("TEST_EVENTS", 100000) / 8;
	struct rdma_event_channel *second;
	struct rdma_cm_id *other;

	open_pair(&channel, &id);
	second = open_channel();
	other = open_id(channel);
	set_nonblocking(channel->fd);
	set_nonblocking(second->fd);
	for (unsigned int i = 0; i < count; i++) {
		write_event(other, 0, i);
		write_range(i, i + 1);
	}
	take_event(channel, other, 0, 0);
	take_range(channel, 0, 1);
	check_ok(rdma_migrate_id(other, second));
	/* The room of the two that were taken is not filled one by one. */
	check_kernel_ids(2 * MOST_BELLS - 2);
	take_range(channel, 1, count);
	check_empty(channel);
	write_range(0, count);
	check_ok(rdma_migrate_id(id, second));
	check_empty(channel);
	for (unsigned int i = 1; i < count / 2; i++)
		take_event(second, other, 0, i);
	check_ok(rdma_destroy_id(other));
	take_range(second, 0, count);
	check_end();
	rdma_destroy_event_channel(second);
}

/* Nothing about the id is known to the kernel but its existence. */
static void before_any_device(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };

	open_pair(&channel, &id);
	write_range(0, 2);
	take_range(channel, 0, 1);
	check(!id->verbs, "a device");
	address.sin_addr.s_addr = inet_addr(DEVICE_ADDRESS);
	check_ok(rdma_bind_addr(id, (struct sockaddr *)&address));
	check(id->verbs, "no device");
	take_range(channel, 1, 2);
	check_end();
}

/* Each kind of event in its own order, and none lost. */
static void between_the_kernels_own(void)
{
	enum { IDS = 30 };
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(7471) };
	struct rdma_cm_id *ids[IDS];
	unsigned int user = 0, resolved[IDS] = { 0 }, routed = 0;

	open_pair(&channel, &id);
	address.sin_addr.s_addr = inet_addr(DEVICE_ADDRESS);
	for (unsigned int i = 0; i < IDS; i++) {
		check_ok(rdma_create_id(channel, &ids[i], &resolved[i], RDMA_PS_TCP));
		write_event(id, 0, 2 * i);
		check_ok(rdma_resolve_addr(ids[i], NULL, (struct sockaddr *)&address, 2000));
		write_event(ids[i], 0, 2 * i + 1);
	}
	while (user < 2 * IDS || routed < IDS) {
		struct rdma_cm_event *event;
		unsigned int *step;

		check_ok(rdma_get_cm_event(channel, &event));
		step = event->id->context;
		switch (event->event) {
		case RDMA_CM_EVENT_USER:
			check(event->param.arg == user, "user event %llu after %u", (unsigned long long)event->param.arg,
			      user);
			check(event->id == (user % 2 ? ids[user / 2] : id), "event of another id");
			user++;
			break;
		case RDMA_CM_EVENT_ADDR_RESOLVED:
			check(event->status == 0 && (*step)++ == 0, "resolved twice");
			check_ok(rdma_resolve_route(event->id, 2000));
			break;
		case RDMA_CM_EVENT_ROUTE_RESOLVED:
			check(event->status == 0 && (*step)++ == 1, "a route before the address, or twice");
			routed++;
			break;
		default:
			fail("%s", rdma_event_str(event->event));
		}
		check_ok(rdma_ack_cm_event(event));
	}
	check_empty(channel);
	for (unsigned int i = 0; i < IDS; i++)
		check_ok(rdma_destroy_id(ids[i]));
	check_end();
}

/* However many events wait, the application can have every port of its port space. */
static void leaves_the_ports_alone(void)
{
	enum { PORTS = 2 * MOST_BELLS };
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct rdma_cm_id *ids[PORTS];

	open_pair(&channel, &id);
	address.sin_addr.s_addr = inet_addr(DEVICE_ADDRESS);
	set_port_range("40001 40512");
	write_range(0, 2 * PORTS);
	for (unsigned int i = 0; i < PORTS; i++) {
		ids[i] = open_id(channel);
		check_ok(rdma_bind_addr(ids[i], (struct sockaddr *)&address));
	}
	set_port_range("32768 60999");
	for (unsigned int i = 0; i < PORTS; i++)
		check_ok(rdma_destroy_id(ids[i]));
	take_range(channel, 0, 2 * PORTS);
	check_end();
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(pending_hold_ids),
		TEST(id_destroyed),
		TEST(channel_destroyed),
		TEST(migrated_several_times),
		TEST(migrated_behind_others),
		TEST(destroyed_after_a_migration),
		SLOW_TEST(thousands_in_order, 120),
		SLOW_TEST(thousands_destroyed, 120),
		SLOW_TEST(thousands_of_another_id, 120),
		SLOW_TEST(leaves_the_ports_alone, 60),
		TEST(before_any_device),
		TEST(between_the_kernels_own),
	};

	return RUN_TESTS(tests, argc, argv);
}
