/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The lab's device is removed while the process lives: nothing that is let go may block that. */
#include "helper.h"

#include <stdlib.h>

enum { QUICK_MS = 2000 };

static struct rdma_event_channel *channel;

/* The tool must not be given the library under test. */
static int run(const char *command)
{
	unsetenv("LD_PRELOAD");
	return system(command);
}

/* The device may still be leaving because of the case before. */
static void add_device(void)
{
	check(!run("for try in $(seq 50); do"
		   "  grep -qsi ffff:0a63:0001 /sys/class/infiniband/rxe0/ports/1/gids/* && exit 0;"
		   "  rdma link add rxe0 type rxe netdev d0 2>/dev/null;"
		   "  sleep 0.1;"
		   "done; exit 1"), "the device does not come back");
}

static void *remove_device(void *unused)
{
	(void)unused;
	check(!run("rdma link del rxe0"), "rdma link del failed");
	return NULL;
}

static void check_removal(pthread_t remover)
{
	check(thread_ends(remover, QUICK_MS), "the removal still waits after %d ms", QUICK_MS);
	add_device();
}

static void after_an_id(void)
{
	add_device();
	channel = open_channel();
	check_ok(rdma_destroy_id(open_bound_id(channel)));
	check_removal(start_thread(remove_device, NULL));
	/* The device that came back is a new one to the library. */
	check_ok(rdma_destroy_id(open_bound_id(channel)));
	rdma_destroy_event_channel(channel);
}

static void after_a_list(void)
{
	struct ibv_context **devices;

	add_device();
	devices = rdma_get_devices(NULL);
	check(devices && devices[0], "no device");
	rdma_free_devices(devices);
	check_removal(start_thread(remove_device, NULL));
	devices = rdma_get_devices(NULL);
	check(devices && devices[0], "no device after it came back");
	rdma_free_devices(devices);
}

static void of_a_bound_id(void)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	pthread_t remover;

	add_device();
	channel = open_channel();
	id = open_bound_id(channel);
	remover = start_thread(remove_device, NULL);
	check_ok(rdma_get_cm_event(channel, &event));
	observe("%s status %d", rdma_event_str(event->event), event->status);
	check(event->event == RDMA_CM_EVENT_DEVICE_REMOVAL && event->id == id, "another event");
	check_ok(rdma_ack_cm_event(event));
	check_ok(rdma_destroy_id(id));
	check_removal(remover);
	rdma_destroy_event_channel(channel);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(after_an_id),
		TEST(after_a_list),
		TEST(of_a_bound_id),
	};

	return RUN_TESTS(tests, argc, argv);
}
