/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Work requests of connected queue pairs that fail, and how. */
#include "pair.h"

static struct end first, second;

/* A request that fails, and takes both ends along. */
static void fails(struct ibv_send_wr *wr, enum ibv_wc_status status, bool peer_fails)
{
	post(&first, wr);
	complete(first.cq, 1, status);
	check(state_of(first.qp) == IBV_QPS_ERR, "the sender is not in error");
	check((state_of(second.qp) == IBV_QPS_ERR) == peer_fails, "the peer is in state %d", (int)state_of(second.qp));
	/* What comes later is flushed. */
	post(&first, wr);
	complete(first.cq, 1, IBV_WC_WR_FLUSH_ERR);
}

static void local_key_is_checked(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(&sge, IBV_WR_SEND, 1);

	open_pair(&first, &second, false);
	post_receive(&second, 2, 0, 100);
	sge = piece(&first, MEMORY - 10, 11);
	fails(&wr, IBV_WC_LOC_PROT_ERR, false);
	check_no_completion(second.cq);
	close_pair(&first, &second);
}

static void remote_key_is_checked(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr;

	open_pair(&first, &second, false);
	sge = piece(&first, 0, 10);
	wr = remote_request(&second, &sge, IBV_WR_RDMA_WRITE, MEMORY - 9);
	fails(&wr, IBV_WC_REM_ACCESS_ERR, true);
	check_event(&second, IBV_EVENT_QP_ACCESS_ERR);
	check(second.memory[MEMORY - 1] == 'b', "written");
	close_pair(&first, &second);
}

static void key_of_the_past_is_refused(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr;

	open_pair(&first, &second, false);
	sge = piece(&first, 0, 10);
	wr = remote_request(&second, &sge, IBV_WR_RDMA_WRITE, 0);
	check_ok(ibv_dereg_mr(second.mr));
	second.mr = ibv_reg_mr(second.pd, second.memory, MEMORY, EVERYTHING);
	check(second.mr && second.mr->rkey != wr.wr.rdma.rkey, "the same key");
	fails(&wr, IBV_WC_REM_ACCESS_ERR, true);
	close_pair(&first, &second);
}

static void rights_of_the_queue_pair_count(void)
{
	struct ibv_qp_attr attr = { .qp_access_flags = IBV_ACCESS_REMOTE_READ };
	struct ibv_sge sge;
	struct ibv_send_wr wr;

	open_pair(&first, &second, false);
	check_ok(ibv_modify_qp(second.qp, &attr, IBV_QP_ACCESS_FLAGS));
	sge = piece(&first, 0, 10);
	wr = remote_request(&second, &sge, IBV_WR_RDMA_READ, 0);
	post(&first, &wr);
	complete(first.cq, 1, IBV_WC_SUCCESS);
	wr.opcode = IBV_WR_RDMA_WRITE;
	fails(&wr, IBV_WC_REM_INV_REQ_ERR, true);
	close_pair(&first, &second);
}

static void too_long_for_the_receive(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(&sge, IBV_WR_SEND, 1);

	open_pair(&first, &second, false);
	post_receive(&second, 2, 0, 10);
	post_receive(&second, 3, 0, 100);
	sge = piece(&first, 0, 11);
	fails(&wr, IBV_WC_REM_INV_REQ_ERR, true);
	complete(second.cq, 2, IBV_WC_LOC_LEN_ERR);
	complete(second.cq, 3, IBV_WC_WR_FLUSH_ERR);
	close_pair(&first, &second);
}

static void gives_up_without_a_receive(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(&sge, IBV_WR_SEND, 1);

	open_pair(&first, &second, false);
	sge = piece(&first, 0, 10);
	fails(&wr, IBV_WC_RNR_RETRY_EXC_ERR, false);
	close_pair(&first, &second);
}

static void gives_up_without_a_peer(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(&sge, IBV_WR_SEND, 1);

	peer_timeout = A_MOMENT;
	open_pair(&first, &second, false);
	check_ok(ibv_destroy_qp(second.qp));
	second.qp = NULL;
	sge = piece(&first, 0, 10);
	post(&first, &wr);
	complete(first.cq, 1, IBV_WC_RETRY_EXC_ERR);
	close_pair(&first, &second);
}

static void state_machine(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(&sge, IBV_WR_SEND, 1), *bad = NULL;

	open_pair(&first, &second, false);
	attr.qp_state = IBV_QPS_RESET;
	check_ok(ibv_modify_qp(first.qp, &attr, IBV_QP_STATE));
	sge = piece(&first, 0, 10);
	check(ibv_post_send(first.qp, &wr, &bad) == EINVAL && bad == &wr, "a queue pair in RESET sends");
	attr.qp_state = IBV_QPS_RTS;
	check(ibv_modify_qp(first.qp, &attr, IBV_QP_STATE) == EINVAL, "RESET to RTS");
	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = 1;
	check(ibv_modify_qp(first.qp, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX) == EINVAL, "an attribute less");
	check(ibv_modify_qp(first.qp, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS |
						     IBV_QP_SQ_PSN) == EINVAL, "an attribute more");
	attr.port_num = 9;
	check(ibv_modify_qp(first.qp, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS) == EINVAL,
	      "another port");
	check(state_of(first.qp) == IBV_QPS_RESET, "state %d", (int)state_of(first.qp));
	close_pair(&first, &second);
}

static void sizes_are_limits(void)
{
	struct ibv_sge sge[5] = { { 0 } };
	struct ibv_send_wr wr = request(sge, IBV_WR_SEND, 1), *bad;
	struct ibv_recv_wr receive = { .sg_list = sge, .num_sge = 3 }, *bad_receive;

	open_pair(&first, &second, false);
	wr.num_sge = 5;
	check(ibv_post_send(first.qp, &wr, &bad) == EINVAL, "five pieces");
	check(ibv_post_recv(first.qp, &receive, &bad_receive) == EINVAL, "three pieces");
	wr.num_sge = 1;
	wr.send_flags |= IBV_SEND_INLINE;
	sge[0] = piece(&first, 0, 65);
	check(ibv_post_send(first.qp, &wr, &bad) == EINVAL, "65 bytes inline");
	for (int i = 0; i < DEPTH; i++)
		post_receive(&first, 1, 0, 10);
	receive.num_sge = 0;
	check(ibv_post_recv(first.qp, &receive, &bad_receive) == ENOMEM, "a receive too many");
	close_pair(&first, &second);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(local_key_is_checked),
		TEST(remote_key_is_checked),
		TEST(key_of_the_past_is_refused),
		TEST(rights_of_the_queue_pair_count),
		TEST(too_long_for_the_receive),
		TEST(gives_up_without_a_receive),
		TEST(gives_up_without_a_peer),
		TEST(state_machine),
		TEST(sizes_are_limits),
	};

	return RUN_TESTS(tests, argc, argv);
}
