/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The lab's device is removed while the process lives: nothing that is let go may block that. */
#include "helper.h"

/* The kernel's own part, once nothing holds the device. */
enum { REMOVAL_MS = 5000 };

static struct rdma_event_channel *channel;

static void check_removal(pthread_t remover)
{
	check_devices_are_let_go(0);
	check(thread_ends(remover, REMOVAL_MS), "the removal still waits after %d ms", REMOVAL_MS);
	add_lab_device();
}

static void after_an_id(void)
{
	add_lab_device();
	channel = open_channel();
	check_ok(rdma_destroy_id(open_bound_id(channel)));
	check_removal(start_thread(remove_lab_device, NULL));
	/* The device that came back is a new one to the library. */
	check_ok(rdma_destroy_id(open_bound_id(channel)));
	rdma_destroy_event_channel(channel);
}

static void after_a_list(void)
{
	struct ibv_context **devices;

	add_lab_device();
	devices = rdma_get_devices(NULL);
	check(devices && devices[0], "no device");
	rdma_free_devices(devices);
	check_removal(start_thread(remove_lab_device, NULL));
	devices = rdma_get_devices(NULL);
	check(devices && devices[0], "no device after it came back");
	rdma_free_devices(devices);
}

static void of_a_bound_id(void)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	pthread_t remover;

	add_lab_device();
	channel = open_channel();
	id = open_bound_id(channel);
	remover = start_thread(remove_lab_device, NULL);
	check_ok(rdma_get_cm_event(channel, &event));
	observe("%s status %d", rdma_event_str(event->event), event->status);
	check(event->event == RDMA_CM_EVENT_DEVICE_REMOVAL && event->id == id, "another event");
	check_ok(rdma_ack_cm_event(event));
	check_ok(rdma_destroy_id(id));
	check_removal(remover);
	rdma_destroy_event_channel(channel);
}

static void *take_removals(void *count)
{
	for (int i = 0; i < *(int *)count; i++) {
		struct rdma_cm_event *event;
		struct rdma_cm_id *id;

		check_ok(rdma_get_cm_event(channel, &event));
		check(event->event == RDMA_CM_EVENT_DEVICE_REMOVAL, "%s", rdma_event_str(event->event));
		id = event->id;
		check_ok(rdma_ack_cm_event(event));
		check_ok(rdma_destroy_id(id));
	}
	return NULL;
}

/* As a server with a thread for events. */
static void of_many_ids(void)
{
	int ids = 20;
	pthread_t remover, events;

	add_lab_device();
	channel = open_channel();
	for (int i = 0; i < ids; i++)
		open_bound_id(channel);
	events = start_thread(take_removals, &ids);
	remover = start_thread(remove_lab_device, NULL);
	join_thread(events);
	check_removal(remover);
	check_ok(rdma_destroy_id(open_bound_id(channel)));
	rdma_destroy_event_channel(channel);
}

/* The kernel has to wait for objects of the application, and only for them. */
static void with_own_objects(void)
{
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct rdma_cm_id *id;
	pthread_t remover;
	int one = 1;

	add_lab_device();
	channel = open_channel();
	id = open_bound_id(channel);
	pd = ibv_alloc_pd(id->verbs);
	cq = ibv_create_cq(id->verbs, 4, NULL, NULL, 0);
	check(pd && cq, "no objects");
	remover = start_thread(remove_lab_device, NULL);
	take_removals(&one);
	check(!thread_ends(remover, 1000), "removed under the objects");
	check_ok(ibv_destroy_cq(cq));
	check(!thread_ends(remover, 500), "removed under the protection domain");
	check_ok(ibv_dealloc_pd(pd));
	check_removal(remover);
	check_ok(rdma_destroy_id(open_bound_id(channel)));
	rdma_destroy_event_channel(channel);
}

static void *remove_second(void *unused)
{
	(void)unused;
	check(!run_command("rdma link del rxe1"), "rdma link del failed");
	return NULL;
}

/* A list keeps its contexts, also one whose device the kernel takes away. What is not used stays closed. */
static void of_one_in_a_list_of_two(void)
{
	struct ibv_context **devices;
	struct ibv_device_attr attributes;
	struct rdma_cm_id *id;
	pthread_t remover;
	int count;

	add_lab_device();
	check(!run_command("ip link add d1 type dummy && ip link set d1 up && rdma link add rxe1 type rxe netdev d1"),
	      "no second device");
	channel = open_channel();
	id = open_bound_id(channel);
	check(count_fds("/dev/infiniband/uverbs") == 1, "%d devices are open", count_fds("/dev/infiniband/uverbs"));
	devices = rdma_get_devices(&count);
	check(devices && count == 2, "%d devices", count);
	remover = start_thread(remove_second, NULL);
	check(!thread_ends(remover, 1000), "removed under the list");
	for (int i = 0; i < count; i++)
		check_ok(ibv_query_device(devices[i], &attributes));
	rdma_free_devices(devices);
	check_devices_are_let_go(1);
	check(thread_ends(remover, REMOVAL_MS), "the removal still waits after %d ms", REMOVAL_MS);
	check_ok(ibv_query_device(id->verbs, &attributes));
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
	check(!run_command("ip link del d1"), "ip link del failed");
}

/* Without a command for it in the kernel (TEST_BELLS=1), a user event needs a device. */
static void write_without_a_device(struct rdma_cm_id *id)
{
	uint64_t start = now_ms();

	if (number_from_env("TEST_BELLS", 0)) {
		check(rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, 0), "written");
		check(errno == ENODEV, "rdma_write_cm_event: %s", errno_name(errno));
		check(now_ms() - start < 100 * time_scale(), "it took more than 100 ms");
	} else {
		write_event(id, 0, 0);
		take_event(channel, id, 0, 0);
	}
	check_empty(channel);
}

static void user_event_without_a_device(void)
{
	struct rdma_cm_id *id;

	add_lab_device();
	channel = open_channel();
	id = open_id(channel);
	remove_lab_device(NULL);
	for (int i = 0; i < 10; i++)
		write_without_a_device(id);
	add_lab_device();
	check(count_kernel_ids() == 0, "ids are left in the kernel");
	write_event(id, 1, 2);
	take_event(channel, id, 1, 2);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

/* Those that wait stay, and do not keep the device from leaving. */
static void user_events_outlive_the_device(void)
{
	enum { EVENTS = 400 };
	struct rdma_cm_id *id;

	add_lab_device();
	open_pair(&channel, &id);
	for (unsigned int i = 0; i < EVENTS; i++)
		write_event(id, 1, i);
	check_removal(start_thread(remove_lab_device, NULL));
	for (unsigned int i = 0; i < EVENTS; i++)
		take_event(channel, id, 1, i);
	close_pair(channel, id);
	check(count_kernel_ids() == 0, "ids are left in the kernel");
}

static unsigned int take_some(struct rdma_event_channel *from, unsigned int next, unsigned int end)
{
	for (struct rdma_cm_event *event; next < end && !rdma_get_cm_event(from, &event); next++) {
		check(event->param.arg == next, "event %llu, not %u", (unsigned long long)event->param.arg, next);
		check_ok(rdma_ack_cm_event(event));
	}
	return next;
}

/* Without a device the kernel announces no further events. Who asks for them without waiting gets them all the same. */
static void user_events_behind_others(void)
{
	enum { EVENTS = 600, HALF = EVENTS / 2 };
	struct rdma_event_channel *second;
	struct rdma_cm_id *id;
	unsigned int taken;

	add_lab_device();
	open_pair(&channel, &id);
	second = open_channel();
	set_nonblocking(channel->fd);
	set_nonblocking(second->fd);
	for (unsigned int i = 0; i < EVENTS; i++)
		write_event(id, 0, i);
	remove_lab_device(NULL);
	taken = take_some(channel, 0, HALF);
	check(taken == HALF, "only %u events", taken);
	check_ok(rdma_migrate_id(id, second));
	taken = take_some(second, HALF, HALF + 10);
	check(taken == HALF + 10, "only %u events after the move", taken);
	add_lab_device();
	write_event(id, 0, EVENTS);
	for (unsigned int i = taken; i <= EVENTS; i++)
		take_event(second, id, 0, i);
	close_pair(second, id);
	check_empty(channel);
	rdma_destroy_event_channel(channel);
	check(count_kernel_ids() == 0, "ids are left in the kernel");
}

/* With every kernel, a port that is down is as good as one that is active. */
static void user_event_without_an_active_port(void)
{
	struct rdma_cm_id *id;

	add_lab_device();
	channel = open_channel();
	id = open_id(channel);
	check(!run_command("ip link set d0 down"), "ip link set failed");
	check(!run_command("grep -q DOWN /sys/class/infiniband/rxe0/ports/1/state"), "the port is up");
	write_event(id, 1, 2);
	take_event(channel, id, 1, 2);
	check(!run_command("ip link set d0 up"), "ip link set failed");
	add_lab_device();
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(after_an_id),
		TEST(after_a_list),
		TEST(of_a_bound_id),
		TEST(of_many_ids),
		TEST(with_own_objects),
		TEST(of_one_in_a_list_of_two),
		TEST(user_event_without_a_device),
		SLOW_TEST(user_events_outlive_the_device, 20),
		SLOW_TEST(user_events_behind_others, 20),
		TEST(user_event_without_an_active_port),
	};

	return RUN_TESTS(tests, argc, argv);
}
