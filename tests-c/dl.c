/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The library as a plug-in: loaded, used and unloaded again and again. This program is not linked with it;
 * TEST_LIBRARY names the object to load, "librdmacm.so.1" if unset.
 */
#include "harness.h"
#include "process.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>

struct library {
	void *handle;
	__typeof__(rdma_create_event_channel) *create_event_channel;
	__typeof__(rdma_destroy_event_channel) *destroy_event_channel;
	__typeof__(rdma_create_id) *create_id;
	__typeof__(rdma_destroy_id) *destroy_id;
	__typeof__(rdma_bind_addr) *bind_addr;
	__typeof__(rdma_write_cm_event) *write_cm_event;
	__typeof__(rdma_get_cm_event) *get_cm_event;
	__typeof__(rdma_ack_cm_event) *ack_cm_event;
};

static void *symbol(void *handle, const char *name)
{
	void *address = dlsym(handle, name);

	check(address, "%s: %s", name, dlerror());
	return address;
}

static struct library load(void)
{
	const char *name = getenv("TEST_LIBRARY");
	void *handle = dlopen(name ? name : "librdmacm.so.1", RTLD_NOW | RTLD_LOCAL);

	check(handle, "%s", dlerror());
#define LOAD(function) .function = symbol(handle, "rdma_" #function)
	return (struct library){ .handle = handle,
				 LOAD(create_event_channel),
				 LOAD(destroy_event_channel),
				 LOAD(create_id),
				 LOAD(destroy_id),
				 LOAD(bind_addr),
				 LOAD(write_cm_event),
				 LOAD(get_cm_event),
				 LOAD(ack_cm_event) };
#undef LOAD
}

static void unload(const struct library *library)
{
	check(!dlclose(library->handle), "%s", dlerror());
}

static void use(const struct library *library, bool bind)
{
	struct rdma_event_channel *channel = library->create_event_channel();
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	check(channel, "create_event_channel: %m");
	check_ok(library->create_id(channel, &id, NULL, RDMA_PS_TCP));
	if (bind) {
		inet_pton(AF_INET, "10.99.0.1", &address.sin_addr);
		check_ok(library->bind_addr(id, (struct sockaddr *)&address));
		check(id->verbs, "no device");
	}
	check(!library->write_cm_event(id, RDMA_CM_EVENT_USER, 1, 2), "rdma_write_cm_event: %s", errno_name(errno));
	check_ok(library->get_cm_event(channel, &event));
	check(event->id == id && event->status == 1 && event->param.arg == 2, "another event");
	check_ok(library->ack_cm_event(event));
	check_ok(library->destroy_id(id));
	library->destroy_event_channel(channel);
}

static void rounds(bool bind)
{
	int fds = 0;

	for (int i = 0; i < 20; i++) {
		struct library library = load();

		use(&library, bind);
		unload(&library);
		/* What libraries below keep for good is there after the first round. */
		if (i == 0)
			fds = count_fds(NULL);
	}
	check(count_fds(NULL) == fds, "%d descriptors, not %d", count_fds(NULL), fds);
}

static void load_and_unload(void)
{
	rounds(false);
}

/* A device that stays open is found by the count: the library is forgotten, its descriptor is not. */
static void load_and_unload_with_a_device(void)
{
	rounds(true);
}

static void unused(void)
{
	for (int i = 0; i < 20; i++) {
		struct library library = load();

		unload(&library);
	}
}

/* Whatever the library keeps for a thread must survive that the library goes first. */
static pthread_barrier_t used, unloaded;

static void *use_and_outlive(void *arg)
{
	use(arg, false);
	pthread_barrier_wait(&used);
	pthread_barrier_wait(&unloaded);
	return NULL;
}

static void thread_outlives_the_library(void)
{
	pthread_barrier_init(&used, NULL, 2);
	pthread_barrier_init(&unloaded, NULL, 2);
	for (int i = 0; i < 5; i++) {
		struct library library = load();
		pthread_t thread = start_thread(use_and_outlive, &library);

		pthread_barrier_wait(&used);
		unload(&library);
		pthread_barrier_wait(&unloaded);
		join_thread(thread);
	}
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(load_and_unload),
		TEST(load_and_unload_with_a_device),
		TEST(unused),
		TEST(thread_outlives_the_library),
	};

	return RUN_TESTS(tests, argc, argv);
}
