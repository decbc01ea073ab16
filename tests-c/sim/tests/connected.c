/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages between connected queue pairs of the simulated device. */
#include "pair.h"

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
	};

	return RUN_TESTS(tests, argc, argv);
}
