/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "between.h"

#include "../harness.h"

#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>

enum { MOST_KEPT = 64 };

typedef void (*hook_function)(void);

static int (*real_poll)(struct ibv_cq *cq, int count, struct ibv_wc *completions);
static int (*real_arm)(struct ibv_cq *cq, int solicited_only);
static _Atomic hook_function after_event, after_arming;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool keeping;
static struct {
	struct ibv_cq *cq;
	struct ibv_wc completion;
} kept[MOST_KEPT];
static int count_kept;

void keep_sends_back(bool on)
{
	pthread_mutex_lock(&lock);
	keeping = on;
	pthread_mutex_unlock(&lock);
}

void after_next_event(void (*hook)(void))
{
	after_event = hook;
}

void after_next_arming(void (*hook)(void))
{
	after_arming = hook;
}

static void run_once(_Atomic hook_function *place)
{
	hook_function hook = atomic_exchange(place, NULL);

	if (hook)
		hook();
}

static bool take_kept(struct ibv_cq *cq, struct ibv_wc *completion)
{
	for (int i = 0; i < count_kept; i++) {
		if (kept[i].cq != cq)
			continue;
		*completion = kept[i].completion;
		count_kept--;
		for (; i < count_kept; i++)
			kept[i] = kept[i + 1];
		return true;
	}
	return false;
}

static int poll_between(struct ibv_cq *cq, int count, struct ibv_wc *completions)
{
	int taken = 0, found = 0;

	pthread_mutex_lock(&lock);
	while (taken < count && !keeping && take_kept(cq, &completions[taken]))
		taken++;
	while (taken < count && (found = real_poll(cq, 1, &completions[taken])) == 1) {
		if (!keeping || completions[taken].status || completions[taken].opcode & IBV_WC_RECV) {
			taken++;
			continue;
		}
		check(count_kept < MOST_KEPT, "too many sends");
		kept[count_kept].cq = cq;
		kept[count_kept++].completion = completions[taken];
	}
	pthread_mutex_unlock(&lock);
	return found < 0 ? found : taken;
}

static int arm_between(struct ibv_cq *cq, int solicited_only)
{
	int result = real_arm(cq, solicited_only);

	run_once(&after_arming);
	return result;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int size, void *cq_context, struct ibv_comp_channel *channel,
			     int vector)
{
	__typeof__(&ibv_create_cq) next = dlsym(RTLD_NEXT, "ibv_create_cq");
	struct ibv_cq *cq = next(context, size, cq_context, channel, vector);

	if (context->ops.poll_cq != poll_between) {
		real_poll = context->ops.poll_cq;
		real_arm = context->ops.req_notify_cq;
		context->ops.poll_cq = poll_between;
		context->ops.req_notify_cq = arm_between;
	}
	return cq;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	__typeof__(&ibv_get_cq_event) next = dlsym(RTLD_NEXT, "ibv_get_cq_event");
	int result = next(channel, cq, cq_context);

	if (!result)
		run_once(&after_event);
	return result;
}
