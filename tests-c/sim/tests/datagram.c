/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Datagrams between queue pairs of the simulated device, and multicast groups. */
#include "pair.h"

enum { HEADER = sizeof(struct ibv_grh), QKEY = 0x1234 };

static struct end first, second;
static struct ibv_ah *ah;

static void make_datagram_ready(struct end *end)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };

	check_ok(ibv_modify_qp(end->qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	check_ok(ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
}

static void open_ends(bool shared)
{
	open_end(&first, IBV_QPT_UD, false);
	open_end(&second, IBV_QPT_UD, shared);
	make_datagram_ready(&first);
	make_datagram_ready(&second);
	memset(first.memory, 'a', MEMORY);
	memset(second.memory, 'b', MEMORY);
}

static void address(const union ibv_gid *gid)
{
	struct contact contact = contact_of(&second);
	struct ibv_ah_attr path;

	if (gid)
		contact.gid = *gid;
	path = path_to(&contact);
	ah = ibv_create_ah(first.pd, &path);
	check(ah, "ibv_create_ah: %m");
}

static void close_ends(void)
{
	check_ok(ibv_destroy_ah(ah));
	close_pair(&first, &second);
}

static struct ibv_send_wr datagram(struct ibv_sge *sge)
{
	struct ibv_send_wr wr = request(sge, IBV_WR_SEND, 1);

	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = second.qp->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	return wr;
}

/* One of ten bytes, and its completion. */
static void send_datagram(const struct ibv_send_wr *wanted)
{
	struct ibv_sge sge = piece(&first, 0, 10);
	struct ibv_send_wr wr = *wanted;

	wr.sg_list = &sge;
	post(&first, &wr);
	complete(first.cq, 1, IBV_WC_SUCCESS);
}

static struct ibv_wc check_received(void)
{
	struct ibv_wc completion = complete(second.cq, 2, IBV_WC_SUCCESS);

	check(completion.byte_len == HEADER + 10 && completion.src_qp == first.qp->qp_num, "%u bytes of %#x",
	      completion.byte_len, completion.src_qp);
	check(completion.wc_flags & IBV_WC_GRH, "no header");
	check(!memcmp(second.memory + HEADER, "aaaaaaaaaab", 11), "other data");
	return completion;
}

static void one(void)
{
	struct ibv_send_wr wr;

	open_ends(false);
	address(NULL);
	post_receive(&second, 2, 0, 100);
	wr = datagram(NULL);
	wr.opcode = IBV_WR_SEND_WITH_IMM;
	wr.imm_data = 77;
	send_datagram(&wr);
	check(check_received().imm_data == 77, "another immediate");
	close_ends();
}

static void to_a_shared_queue(void)
{
	struct ibv_send_wr wr;

	open_ends(true);
	address(NULL);
	post_receive(&second, 2, 0, 100);
	wr = datagram(NULL);
	send_datagram(&wr);
	check_received();
	close_ends();
}

static void answer_goes_back(void)
{
	struct ibv_wc completion;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_ah *back;

	open_ends(false);
	address(NULL);
	post_receive(&second, 2, 0, 100);
	wr = datagram(NULL);
	send_datagram(&wr);
	completion = check_received();
	back = ibv_create_ah_from_wc(second.pd, &completion, (struct ibv_grh *)second.memory, 1);
	check(back, "ibv_create_ah_from_wc: %m");
	post_receive(&first, 3, 100, 100);
	sge = piece(&second, 0, 20);
	wr = datagram(&sge);
	wr.wr.ud.ah = back;
	wr.wr.ud.remote_qpn = completion.src_qp;
	post(&second, &wr);
	complete(second.cq, 1, IBV_WC_SUCCESS);
	complete(first.cq, 3, IBV_WC_SUCCESS);
	check_ok(ibv_destroy_ah(back));
	close_ends();
}

/* Nobody learns of it. */
static void check_lost(const struct ibv_send_wr *wr)
{
	send_datagram(wr);
	check_no_completion(second.cq);
}

static void lost_ones(void)
{
	struct ibv_send_wr wr, changed;
	struct ibv_sge sge;

	open_ends(false);
	address(NULL);
	wr = datagram(NULL);
	check_lost(&wr);
	post_receive(&second, 2, 0, HEADER + 9);
	check_lost(&wr);
	changed = wr;
	changed.wr.ud.remote_qkey++;
	check_lost(&changed);
	changed = wr;
	changed.wr.ud.remote_qpn ^= 1 << 23;
	check_lost(&changed);
	/* Longer than the network's packets. */
	sge = piece(&first, 0, 1025);
	wr.sg_list = &sge;
	post(&first, &wr);
	complete(first.cq, 1, IBV_WC_SUCCESS);
	check_no_completion(second.cq);
	close_ends();
}

static void bad_memory_stops_only_sending(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };

	open_ends(false);
	address(NULL);
	sge = piece(&first, MEMORY, 1);
	wr = datagram(&sge);
	post(&first, &wr);
	complete(first.cq, 1, IBV_WC_LOC_PROT_ERR);
	check(state_of(first.qp) == IBV_QPS_SQE, "state %d", (int)state_of(first.qp));
	sge = piece(&first, 0, 10);
	post(&first, &wr);
	complete(first.cq, 1, IBV_WC_WR_FLUSH_ERR);
	check_ok(ibv_modify_qp(first.qp, &attr, IBV_QP_STATE));
	post_receive(&second, 2, 0, 100);
	send_datagram(&wr);
	check_received();
	close_ends();
}

static void groups(void)
{
	union ibv_gid group = { .raw = { [10] = 0xff, [11] = 0xff, [12] = 239, [15] = 5 } }, single = group;
	struct ibv_send_wr wr;

	open_ends(false);
	address(&group);
	wr = datagram(NULL);
	wr.wr.ud.remote_qpn = 0xffffff;
	post_receive(&second, 2, 0, 100);
	check_lost(&wr);
	check_ok(ibv_attach_mcast(second.qp, &group, 0));
	check_ok(ibv_attach_mcast(second.qp, &group, 0));
	send_datagram(&wr);
	check_received();
	check(ibv_destroy_qp(second.qp) == EBUSY, "a member was destroyed");
	check_ok(ibv_detach_mcast(second.qp, &group, 0));
	post_receive(&second, 2, 0, 100);
	check_lost(&wr);
	check(ibv_detach_mcast(second.qp, &group, 0) == EINVAL, "detached twice");
	single.raw[12] = 10;
	check(ibv_attach_mcast(second.qp, &single, 0) == EINVAL, "attached to no group");
	close_ends();
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(one),
		TEST(to_a_shared_queue),
		TEST(answer_goes_back),
		TEST(lost_ones),
		TEST(bad_memory_stops_only_sending),
		TEST(groups),
	};

	return RUN_TESTS(tests, argc, argv);
}
