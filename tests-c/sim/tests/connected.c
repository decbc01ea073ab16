/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages between connected queue pairs of the simulated device. */
#include "pair.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct end first, second;

static void send(void)
{
	struct ibv_sge sges[2];
	struct ibv_send_wr wr = request(sges, IBV_WR_SEND, 1);
	struct ibv_wc completion;

	open_pair(&first, &second, false);
	post_receive(&second, 2, 100, 1000);
	memcpy(first.memory, "front", 5);
	memcpy(first.memory + 500, "back", 4);
	sges[0] = piece(&first, 0, 5);
	sges[1] = piece(&first, 500, 4);
	wr.num_sge = 2;
	post(&first, &wr);
	complete(first.cq, 1, IBV_WC_SUCCESS);
	completion = complete(second.cq, 2, IBV_WC_SUCCESS);
	check(completion.opcode == IBV_WC_RECV && completion.byte_len == 9 && completion.qp_num == second.qp->qp_num,
	      "opcode %d, %u bytes", (int)completion.opcode, completion.byte_len);
	check(!memcmp(second.memory + 99, "bfrontbackb", 11), "other data");
	close_pair(&first, &second);
}

static void send_inline_with_immediate(void)
{
	struct ibv_sge sge = { (uintptr_t)"inline", 6, 0 };
	struct ibv_send_wr wr = request(&sge, IBV_WR_SEND_WITH_IMM, 1);
	struct ibv_wc completion;

	open_pair(&first, &second, false);
	post_receive(&second, 2, 0, 100);
	wr.send_flags |= IBV_SEND_INLINE;
	wr.imm_data = 0x12345678;
	post(&first, &wr);
	complete(first.cq, 1, IBV_WC_SUCCESS);
	completion = complete(second.cq, 2, IBV_WC_SUCCESS);
	check((completion.wc_flags & IBV_WC_WITH_IMM) && completion.imm_data == 0x12345678, "no immediate");
	check(!memcmp(second.memory, "inlineb", 7), "other data");
	close_pair(&first, &second);
}

static void write_memory(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr;
	struct ibv_wc completion;

	open_pair(&first, &second, false);
	sge = piece(&first, 0, 3000);
	wr = remote_request(&second, &sge, IBV_WR_RDMA_WRITE, 1000);
	post(&first, &wr);
	complete(first.cq, 1, IBV_WC_SUCCESS);
	check_no_completion(second.cq);
	check(second.memory[999] == 'b' && second.memory[1000] == 'a' && second.memory[3999] == 'a' &&
	      second.memory[4000] == 'b', "other data");
	post_receive(&second, 2, 0, 0);
	sge = piece(&first, 0, 5);
	wr = remote_request(&second, &sge, IBV_WR_RDMA_WRITE_WITH_IMM, 0);
	post(&first, &wr);
	complete(first.cq, 1, IBV_WC_SUCCESS);
	completion = complete(second.cq, 2, IBV_WC_SUCCESS);
	check(completion.opcode == IBV_WC_RECV_RDMA_WITH_IMM && completion.byte_len == 5, "opcode %d, %u bytes",
	      (int)completion.opcode, completion.byte_len);
	check(!memcmp(second.memory, "aaaaab", 6), "other data");
	close_pair(&first, &second);
}

static void read_memory(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr;

	open_pair(&first, &second, false);
	sge = piece(&first, 10, 20);
	wr = remote_request(&second, &sge, IBV_WR_RDMA_READ, 0);
	post(&first, &wr);
	check(complete(first.cq, 1, IBV_WC_SUCCESS).opcode == IBV_WC_RDMA_READ, "opcode");
	check(first.memory[9] == 'a' && first.memory[10] == 'b' && first.memory[29] == 'b' && first.memory[30] == 'a',
	      "other data");
	close_pair(&first, &second);
}

static void change_memory(void)
{
	uint64_t *value = (uint64_t *)(second.memory + 64), *before = (uint64_t *)first.memory;
	struct ibv_sge sge;
	struct ibv_send_wr wr;

	open_pair(&first, &second, false);
	sge = piece(&first, 0, 8);
	*value = 40;
	wr = request(&sge, IBV_WR_ATOMIC_FETCH_AND_ADD, 1);
	wr.wr.atomic.remote_addr = (uintptr_t)value;
	wr.wr.atomic.rkey = second.mr->rkey;
	wr.wr.atomic.compare_add = 2;
	post(&first, &wr);
	check(complete(first.cq, 1, IBV_WC_SUCCESS).opcode == IBV_WC_FETCH_ADD, "opcode");
	check(*before == 40 && *value == 42, "%llu", (unsigned long long)*value);
	wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	wr.wr.atomic.compare_add = 42;
	wr.wr.atomic.swap = 7;
	post(&first, &wr);
	complete(first.cq, 1, IBV_WC_SUCCESS);
	check(*before == 42 && *value == 7, "%llu", (unsigned long long)*value);
	post(&first, &wr);
	complete(first.cq, 1, IBV_WC_SUCCESS);
	check(*before == 7 && *value == 7, "%llu", (unsigned long long)*value);
	wr.wr.atomic.remote_addr++;
	post(&first, &wr);
	complete(first.cq, 1, IBV_WC_REM_INV_REQ_ERR);
	check(state_of(first.qp) == IBV_QPS_ERR && state_of(second.qp) == IBV_QPS_ERR, "not in error");
	check_event(&second, IBV_EVENT_QP_REQ_ERR);
	close_pair(&first, &second);
}

static void waits_for_a_receive(void)
{
	struct ibv_sge sge;
	struct ibv_qp_attr attr = { .rnr_retry = 7 };
	struct ibv_send_wr wr = request(&sge, IBV_WR_SEND, 1);

	open_pair(&first, &second, false);
	attr.qp_state = IBV_QPS_SQD;
	check_ok(ibv_modify_qp(first.qp, &attr, IBV_QP_STATE));
	check_ok(ibv_modify_qp(first.qp, &attr, IBV_QP_RNR_RETRY));
	attr.qp_state = IBV_QPS_RTS;
	check_ok(ibv_modify_qp(first.qp, &attr, IBV_QP_STATE));
	sge = piece(&first, 0, 10);
	post(&first, &wr);
	sleep_ms(50);
	check_no_completion(first.cq);
	post_receive(&second, 2, 0, 100);
	complete(second.cq, 2, IBV_WC_SUCCESS);
	complete(first.cq, 1, IBV_WC_SUCCESS);
	close_pair(&first, &second);
}

static void first_message_tells_of_the_connection(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(&sge, IBV_WR_SEND, 1);
	struct contact contact;

	open_end(&first, IBV_QPT_RC, false);
	open_end(&second, IBV_QPT_RC, false);
	contact = contact_of(&second);
	make_ready(&first, &contact);
	sge = piece(&first, 0, 10);
	post(&first, &wr);
	check_no_completion(first.cq);
	contact = contact_of(&first);
	post_receive(&second, 2, 0, 10);
	make_ready_to_receive(&second, &contact);
	complete(first.cq, 1, IBV_WC_SUCCESS);
	check_event(&second, IBV_EVENT_COMM_EST);
	close_pair(&first, &second);
}

static void shared_queue(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(&sge, IBV_WR_SEND, 1);
	struct ibv_srq_attr attr = { .srq_limit = 1 };

	open_pair(&first, &second, true);
	check_ok(ibv_modify_srq(second.srq, &attr, IBV_SRQ_LIMIT));
	post_receive(&second, 2, 0, 100);
	sge = piece(&first, 0, 10);
	post(&first, &wr);
	complete(second.cq, 2, IBV_WC_SUCCESS);
	check_event(&second, IBV_EVENT_SRQ_LIMIT_REACHED);
	check_ok(ibv_query_srq(second.srq, &attr));
	check(attr.max_wr == DEPTH && !attr.srq_limit, "limit %u of %u", attr.srq_limit, attr.max_wr);
	close_pair(&first, &second);
}

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

/* The other end in another process, which is asked to end by closing the pipe. */
static int questions[2], answers[2];

static pid_t start_peer(struct contact *theirs)
{
	struct contact ours;
	pid_t child;

	check(!pipe(questions) && !pipe(answers), "pipe: %m");
	child = fork();
	check(child >= 0, "fork: %m");
	if (!child) {
		char end;

		open_end(&second, IBV_QPT_RC, false);
		memset(second.memory, 'b', MEMORY);
		ours = contact_of(&second);
		check(write(answers[1], &ours, sizeof(ours)) == sizeof(ours), "write: %m");
		check(read(questions[0], theirs, sizeof(*theirs)) == sizeof(*theirs), "read: %m");
		make_ready(&second, theirs);
		post_receive(&second, 2, 0, 100);
		check(write(answers[1], "", 1) == 1, "write: %m");
		complete(second.cq, 2, IBV_WC_SUCCESS);
		check(!memcmp(second.memory, "aaaab", 5), "other data");
		check(write(answers[1], "", 1) == 1, "write: %m");
		close(questions[1]);
		check(read(questions[0], &end, 1) == 1, "read: %m");
		exit(0);
	}
	close(answers[1]);
	open_end(&first, IBV_QPT_RC, false);
	memset(first.memory, 'a', MEMORY);
	ours = contact_of(&first);
	check(read(answers[0], theirs, sizeof(*theirs)) == sizeof(*theirs), "the peer has failed");
	check(write(questions[1], &ours, sizeof(ours)) == sizeof(ours), "write: %m");
	make_ready(&first, theirs);
	return child;
}

static void wait_for_peer(void)
{
	char answer;

	check(read(answers[0], &answer, 1) == 1, "the peer has failed");
}

static void two_processes(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(&sge, IBV_WR_SEND, 1);
	struct contact peer;
	int status;
	pid_t child;

	peer_timeout = A_MOMENT;
	child = start_peer(&peer);
	wait_for_peer();
	sge = piece(&first, 0, 4);
	post(&first, &wr);
	complete(first.cq, 1, IBV_WC_SUCCESS);
	wait_for_peer();
	wr.opcode = IBV_WR_RDMA_READ;
	wr.wr.rdma.remote_addr = peer.address + 4;
	wr.wr.rdma.rkey = peer.rkey;
	post(&first, &wr);
	complete(first.cq, 1, IBV_WC_SUCCESS);
	check(!memcmp(first.memory, "bbbba", 5), "other data");
	check(write(questions[1], "", 1) == 1, "write: %m");
	check(waitpid(child, &status, 0) == child && !status, "the peer ended with %#x", status);
	/* All that it left open is gone. */
	post(&first, &wr);
	complete(first.cq, 1, IBV_WC_RETRY_EXC_ERR);
	close_end(&first);
}

static void peer_is_killed(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(&sge, IBV_WR_SEND, 1);
	struct contact peer;
	pid_t child;

	peer_timeout = A_MOMENT;
	child = start_peer(&peer);
	wait_for_peer();
	check_ok(kill(child, SIGKILL));
	check(waitpid(child, NULL, 0) == child, "waitpid: %m");
	sge = piece(&first, 0, 4);
	post(&first, &wr);
	complete(first.cq, 1, IBV_WC_RETRY_EXC_ERR);
	close_end(&first);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(send),
		TEST(send_inline_with_immediate),
		TEST(write_memory),
		TEST(read_memory),
		TEST(change_memory),
		TEST(waits_for_a_receive),
		TEST(first_message_tells_of_the_connection),
		TEST(shared_queue),
		TEST(completion_events),
		TEST(used_objects_stay),
		TEST(completion_queue_overruns),
		TEST(completion_queue_grows),
		TEST(threads),
		TEST(two_processes),
		TEST(peer_is_killed),
	};

	return RUN_TESTS(tests, argc, argv);
}
