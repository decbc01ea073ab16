/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* pthread_cancel of a thread that waits in rdma_get_cm_event: the channel and its ids go on. */
#include "helper.h"

static void cancel(struct waiter *waiter)
{
	void *result;

	check(!pthread_cancel(waiter->thread), "pthread_cancel");
	check(!pthread_join(waiter->thread, &result), "pthread_join");
	check(result == PTHREAD_CANCELED, "the thread was not cancelled");
}

static void channel_goes_on(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_id(channel);
	struct waiter waiter;

	start_waiter(&waiter, channel);
	cancel(&waiter);
	write_event(id, 1, 2);
	take_event(channel, id, 1, 2);
	start_waiter(&waiter, channel);
	write_event(id, 3, 4);
	join_thread(waiter.thread);
	check(waiter.ret == 0, "get: %s", errno_name(waiter.error));
	check_ok(rdma_ack_cm_event(waiter.event));
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void destroy_does_not_wait(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_id(channel);
	struct waiter waiter;

	start_waiter(&waiter, channel);
	cancel(&waiter);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void another_waiter_stays(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_id(channel);
	struct waiter cancelled, stays;

	start_waiter(&cancelled, channel);
	start_waiter(&stays, channel);
	cancel(&cancelled);
	write_event(id, 0, 7);
	join_thread(stays.thread);
	check(stays.ret == 0 && stays.event->param.arg == 7, "get: %s", errno_name(stays.error));
	check_ok(rdma_ack_cm_event(stays.event));
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void other_waiter_is_ended_by_destroy(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct waiter cancelled, stays;

	start_waiter(&cancelled, channel);
	start_waiter(&stays, channel);
	cancel(&cancelled);
	rdma_destroy_event_channel(channel);
	check(thread_ends(stays.thread, 100), "the other waiter is still waiting after 100 ms");
	check(stays.ret == -1 && stays.error == ECANCELED, "get is %d, errno %s", stays.ret,
	      errno_name(stays.error));
}

static void many_rounds(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_id(channel);

	for (unsigned int i = 0; i < 100; i++) {
		struct waiter waiter;

		start_waiter(&waiter, channel);
		cancel(&waiter);
		write_event(id, 0, i);
		take_event(channel, id, 0, i);
	}
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(channel_goes_on),
		TEST(destroy_does_not_wait),
		TEST(another_waiter_stays),
		SLOW_TEST(other_waiter_is_ended_by_destroy, 5),
		TEST(many_rounds),
	};

	return RUN_TESTS(tests, argc, argv);
}
