/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Devices are open while somebody uses them, and a moment longer. */
#include "helper.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A device is to be let go after less than a second; the lab's machine is slow. */
enum { LET_GO_MS = 3000 };

static struct rdma_event_channel *channel;

/* How often the library asked libibverbs for these. */
static unsigned int opened, pds;

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	__typeof__(ibv_open_device) *next = (__typeof__(next))dlsym(RTLD_NEXT, __func__);

	__atomic_add_fetch(&opened, 1, __ATOMIC_RELAXED);
	return next(device);
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	__typeof__(ibv_alloc_pd) *next = (__typeof__(next))dlsym(RTLD_NEXT, __func__);

	__atomic_add_fetch(&pds, 1, __ATOMIC_RELAXED);
	return next(context);
}

static int open_devices(void)
{
	return count_fds("/dev/infiniband/uverbs");
}

/* Nothing of it is left, and no thread that would see to it. */
static void check_let_go(void)
{
	uint64_t limit = now_ms() + LET_GO_MS * time_scale();

	while (open_devices() || count_threads() > 1) {
		check(now_ms() < limit, "%d device descriptors and %d threads left", open_devices(), count_threads());
		sleep_ms(20);
	}
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
	check_let_go();
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
	channel = open_channel();
	for (int i = 0; i < 3; i++) {
		struct rdma_cm_id *id = open_bound_id(channel);

		check(open_devices() == 1, "%d device descriptors", open_devices());
		check_ok(rdma_destroy_id(id));
		check_let_go();
	}
	rdma_destroy_event_channel(channel);
}

/* As a program that has one connection after the other. */
static void use_in_turn(void)
{
	channel = open_channel();
	for (int i = 0; i < 10; i++)
		check_ok(rdma_destroy_id(open_bound_id(channel)));
	rdma_destroy_event_channel(channel);
}

static void ids_in_turn_open_once(void)
{
	use_in_turn();
	check(opened == 1, "opened %u times", opened);
}

static void ids_in_turn_share_a_pd(void)
{
	use_in_turn();
	check(pds == 1, "%u protection domains", pds);
}

static void *use_at_the_last_moment(void *arg)
{
	unsigned int seed = (unsigned int)(uintptr_t)arg;

	for (int i = 0; i < 8; i++) {
		struct ibv_device_attr attributes;
		struct rdma_cm_id *id = open_bound_id(channel);

		check_ok(ibv_query_device(id->verbs, &attributes));
		check_ok(rdma_destroy_id(id));
		/* About when it is let go. */
		sleep_ms(490 + (unsigned int)rand_r(&seed) % 40);
	}
	return NULL;
}

static void used_at_the_last_moment(void)
{
	pthread_t threads[3];

	channel = open_channel();
	for (uintptr_t i = 0; i < 3; i++)
		threads[i] = start_thread(use_at_the_last_moment, (void *)i);
	for (int i = 0; i < 3; i++)
		join_thread(threads[i]);
	rdma_destroy_event_channel(channel);
	check_let_go();
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

/*
 * What the application made itself may outlive the last id by any time: it works until the end, and only then is the
 * device let go. (C programs often keep id->verbs.)
 */
static struct ibv_context *lose_the_id(struct rdma_cm_id *id)
{
	struct ibv_context *verbs = id->verbs;

	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
	return verbs;
}

static void outlive(struct ibv_context *verbs)
{
	struct ibv_device_attr attributes;

	sleep_ms(1200);
	check(open_devices() == 1, "%d device descriptors", open_devices());
	check_ok(ibv_query_device(verbs, &attributes));
}

static struct rdma_cm_id *open_any_id(void)
{
	channel = open_channel();
	return open_bound_id(channel);
}

static void own_pd(void)
{
	struct rdma_cm_id *id = open_any_id();
	struct ibv_pd *pd = ibv_alloc_pd(id->verbs);

	check(pd, "ibv_alloc_pd: %m");
	outlive(lose_the_id(id));
	check_ok(ibv_dealloc_pd(pd));
	check_let_go();
}

static void own_cq(void)
{
	struct rdma_cm_id *id = open_any_id();
	struct ibv_cq *cq = ibv_create_cq(id->verbs, 4, NULL, NULL, 0);

	check(cq, "ibv_create_cq: %m");
	outlive(lose_the_id(id));
	check(ibv_poll_cq(cq, 0, NULL) == 0, "ibv_poll_cq");
	check_ok(ibv_destroy_cq(cq));
	check_let_go();
}

static void own_completion_channel(void)
{
	struct rdma_cm_id *id = open_any_id();
	struct ibv_comp_channel *completions = ibv_create_comp_channel(id->verbs);

	check(completions, "ibv_create_comp_channel: %m");
	outlive(lose_the_id(id));
	check_ok(ibv_destroy_comp_channel(completions));
	check_let_go();
}

static void own_memory_region(void)
{
	static char memory[4096];
	struct rdma_cm_id *id = open_any_id();
	struct ibv_mr *region = ibv_reg_mr(id->pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);

	check(region, "ibv_reg_mr: %m");
	outlive(lose_the_id(id));
	check_ok(ibv_dereg_mr(region));
	check_let_go();
}

static void own_queue_pair(void)
{
	struct rdma_cm_id *id = open_any_id();
	struct ibv_cq *cq = ibv_create_cq(id->verbs, 4, NULL, NULL, 0);
	struct ibv_qp_init_attr attributes = { .send_cq = cq,
					       .recv_cq = cq,
					       .cap = { 1, 1, 1, 1, 0 },
					       .qp_type = IBV_QPT_RC };
	struct ibv_qp *qp = ibv_create_qp(id->pd, &attributes);

	check(qp, "ibv_create_qp: %m");
	outlive(lose_the_id(id));
	check_ok(ibv_destroy_qp(qp));
	check_ok(ibv_destroy_cq(cq));
	check_let_go();
}

/* The kernel forgets which process such an object belongs to. */
static void *alloc_pd(void *id)
{
	return ibv_alloc_pd(((struct rdma_cm_id *)id)->verbs);
}

static void own_pd_of_an_ended_thread(void)
{
	struct rdma_cm_id *id = open_any_id();
	pthread_t thread = start_thread(alloc_pd, id);
	void *pd;

	check(!pthread_join(thread, &pd) && pd, "no protection domain");
	outlive(lose_the_id(id));
	check_ok(ibv_dealloc_pd(pd));
	check_let_go();
}

/* The next id finds the device that own objects kept open. */
static void id_after_own_objects(void)
{
	struct rdma_cm_id *id = open_any_id();
	struct ibv_pd *pd = ibv_alloc_pd(id->verbs);
	struct ibv_context *verbs = lose_the_id(id);

	check(pd, "ibv_alloc_pd: %m");
	outlive(verbs);
	id = open_any_id();
	check(id->verbs == verbs, "another context");
	check_ok(ibv_dealloc_pd(pd));
	lose_the_id(id);
	check_let_go();
}

static void use_and_let_go(void)
{
	int inherited = open_devices();

	lose_the_id(open_any_id());
	for (int i = 0; i < LET_GO_MS / 20 && open_devices() > inherited; i++)
		sleep_ms(20 * time_scale());
	check(open_devices() == inherited, "%d device descriptors, not %d, and %d threads", open_devices(), inherited,
	      count_threads());
}

/* Forks while a thread of the library may be anywhere. */
static void run_child_beside_a_thread(void (*child)(void))
{
#ifdef __SANITIZE_ADDRESS__
	skip_test("a lock of AddressSanitizer that a thread holds stays locked in the child");
#endif
	run_child(child);
}

static void fork_while_idle(void)
{
	lose_the_id(open_any_id());
	run_child_beside_a_thread(use_and_let_go);
	lose_the_id(open_any_id());
	check_let_go();
}

static struct rdma_cm_id *inherited_id;

static void destroy_inherited_id(void)
{
	rdma_destroy_id(inherited_id);
	use_and_let_go();
}

/* What the child does with the parent's id is nothing to the parent's protection domain. */
static void fork_in_use(void)
{
	static char memory[4096];
	struct ibv_mr *region;

	inherited_id = open_any_id();
	run_child(destroy_inherited_id);
	region = ibv_reg_mr(inherited_id->pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	check(region, "ibv_reg_mr: %m");
	check_ok(ibv_dereg_mr(region));
	lose_the_id(inherited_id);
	check_let_go();
}

static void use_once(void)
{
	lose_the_id(open_any_id());
}

/* The library's own thread may be anywhere when the process is copied; the child must not wait for it. */
static void fork_while_it_lets_go(void)
{
	for (int i = 0; i < 6; i++) {
		uint64_t end;

		use_once();
		sleep_ms(380);
		for (end = now_ms() + 160; now_ms() < end;)
			run_child_beside_a_thread(use_once);
	}
	check_let_go();
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
		TEST(ids_in_turn_open_once),
		TEST(ids_in_turn_share_a_pd),
		TEST(used_at_the_last_moment),
		TEST(list_outlives_the_id),
		TEST(own_pd),
		TEST(own_cq),
		TEST(own_completion_channel),
		TEST(own_memory_region),
		TEST(own_queue_pair),
		TEST(own_pd_of_an_ended_thread),
		TEST(id_after_own_objects),
		TEST(fork_while_idle),
		TEST(fork_in_use),
		TEST(fork_while_it_lets_go),
	};

	return RUN_TESTS(tests, argc, argv);
}
