/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Completion queues of the simulated device: what they tell, and how much they hold; and several threads with one. */
#include "pair.h"

#include <poll.h>

static struct end first, second;

static bool is_readable(int fd)
{
	struct pollfd wanted = { .fd = fd, .events = POLLIN };

	return poll(&wanted, 1, 0) == 1;
}

static void completion_events(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(&sge, IBV_WR_SEND, 1);
	struct ibv_cq *cq;
	void *cq_context;

	open_pair(&first, &second, false);
	sge = piece(&first, 0, 10);
	check_ok(ibv_req_notify_cq(second.cq, 1));
	post_receive(&second, 2, 0, 100);
	post_receive(&second, 3, 0, 100);
	post(&first, &wr);
	check(!is_readable(second.channel->fd), "readable after what nobody wanted to know");
	wr.send_flags |= IBV_SEND_SOLICITED;
	post(&first, &wr);
	check(is_readable(second.channel->fd), "not readable");
	check_ok(ibv_get_cq_event(second.channel, &cq, &cq_context));
	check(cq == second.cq && cq_context == &second, "another queue");
	check(!is_readable(second.channel->fd), "still readable");
	set_nonblocking(second.channel->fd);
	check_fails(ibv_get_cq_event(second.channel, &cq, &cq_context), EAGAIN);
	check_ok(ibv_req_notify_cq(first.cq, 0));
	post_receive(&second, 4, 0, 100);
	post(&first, &wr);
	check(is_readable(first.channel->fd), "not readable");
	ibv_ack_cq_events(second.cq, 1);
	/* An event that nobody took goes with its queue. */
	close_pair(&first, &second);
}

static void used_objects_stay(void)
{
	open_pair(&first, &second, false);
	check(ibv_dealloc_pd(first.pd) == EBUSY, "a domain in use");
	check(ibv_destroy_cq(first.cq) == EBUSY, "a completion queue in use");
	check(ibv_destroy_comp_channel(first.channel) == EBUSY, "a channel in use");
	close_pair(&first, &second);
}

static void completion_queue_overruns(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(&sge, IBV_WR_SEND, 1);

	open_pair(&first, &second, false);
	sge = piece(&first, 0, 1);
	for (int i = 0; i <= 4 * DEPTH; i++) {
		post_receive(&second, 2, 0, 1);
		post(&first, &wr);
		complete(second.cq, 2, IBV_WC_SUCCESS);
	}
	check_event(&first, IBV_EVENT_CQ_ERR);
	close_pair(&first, &second);
}

static void completion_queue_grows(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(&sge, IBV_WR_SEND, 0);

	open_pair(&first, &second, false);
	sge = piece(&first, 0, 1);
	for (wr.wr_id = 0; wr.wr_id < 6 * DEPTH; wr.wr_id++) {
		if (wr.wr_id == 3 * DEPTH)
			check_ok(ibv_resize_cq(first.cq, 8 * DEPTH));
		post_receive(&second, 2, 0, 1);
		post(&first, &wr);
		complete(second.cq, 2, IBV_WC_SUCCESS);
	}
	for (uint64_t i = 0; i < 6 * DEPTH; i++)
		complete(first.cq, i, IBV_WC_SUCCESS);
	check_no_completion(first.cq);
	close_pair(&first, &second);
}

enum { SENDERS = 3, EACH = 200 };

static unsigned int sent;

/* A completion may be that of another thread's message: whose it is does not matter. */
static void *send_many(void *arg)
{
	struct ibv_sge sge = piece(&first, 0, 8);
	struct ibv_send_wr wr = request(&sge, IBV_WR_RDMA_WRITE, 1);

	(void)arg;
	wr.wr.rdma.remote_addr = (uintptr_t)second.memory;
	wr.wr.rdma.rkey = second.mr->rkey;
	for (int i = 0; i < EACH; i++) {
		struct ibv_wc completion;

		post(&first, &wr);
		while (!ibv_poll_cq(first.cq, 1, &completion))
			;
		check(completion.status == IBV_WC_SUCCESS, "%s", ibv_wc_status_str(completion.status));
		__atomic_add_fetch(&sent, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t senders[SENDERS];

	open_pair(&first, &second, false);
	for (int i = 0; i < SENDERS; i++)
		senders[i] = start_thread(send_many, NULL);
	for (int i = 0; i < SENDERS; i++)
		join_thread(senders[i]);
	check(sent == SENDERS * EACH, "%u", sent);
	check_no_completion(first.cq);
	close_pair(&first, &second);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(completion_events),
		TEST(used_objects_stay),
		TEST(completion_queue_overruns),
		TEST(completion_queue_grows),
		TEST(threads),
	};

	return RUN_TESTS(tests, argc, argv);
}
