/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What anybody can send to a datagram socket. */
#include "datagram.h"

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <string.h>
#include <unistd.h>

/* A notice, as peers send it. */
struct notice {
	uint32_t tag;
	uint8_t version, purpose, length, reserved;
	uint32_t number, address;
};

static void forge(int raw, const struct sockaddr_in *to, struct notice notice, size_t length)
{
	check(sendto(raw, &notice, length, 0, (const struct sockaddr *)to, sizeof(*to)) == (ssize_t)length, "%m");
}

static int forger(const struct sockaddr_in *as)
{
	int raw = socket(AF_INET, SOCK_DGRAM, 0), on = 1;

	check_ok(setsockopt(raw, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)));
	check_ok(bind(raw, (const struct sockaddr *)as, sizeof(*as)));
	return raw;
}

static int reusable_socket(void)
{
	struct sockaddr_in name = { .sin_family = AF_INET };
	int socket = sockets()->socket(AF_INET, SOCK_DGRAM, 0);

	set_int(socket, SOL_SOCKET, SO_REUSEADDR, 1);
	inet_pton(AF_INET, SOCKETS_ADDRESS, &name.sin_addr);
	check_ok(sockets()->bind(socket, (struct sockaddr *)&name, sizeof(name)));
	return socket;
}

/* What is no notice, and strangers in numbers. */
static void strangers(void)
{
	int one = bound_socket(), other = bound_socket();
	struct sockaddr_in one_name = name_of(one), other_name = name_of(other), any = one_name;
	struct notice good = { htonl(0x55555555), 4, 7, sizeof(good), 0, htonl(0x123456), one_name.sin_addr.s_addr };
	unsigned char noise[4096];

	if (is_kernel())
		skip_test("the kernel's sockets have no notices");
	any.sin_port = 0;
	for (unsigned long i = 0; i < number_from_env("TEST_STRANGERS", 300); i++) {
		int raw = forger(&any);
		struct notice bad = good;

		fill(noise, sizeof(noise), i);
		check(sendto(raw, noise, i % 4000, 0, (struct sockaddr *)&other_name, sizeof(other_name)) >= 0, "%m");
		((unsigned char *)&bad)[i % 12] ^= 1 + i;
		forge(raw, &other_name, bad, i % (sizeof(bad) + 1));
		forge(raw, &other_name, good, sizeof(good));
		check_ok(close(raw));
		/* Else most of them find no room in the kernel. */
		if (i % 16 == 0)
			usleep(2000);
	}
	/* The first ones may be lost among so many. */
	do
		send_to(one, "abc", 3, &other_name);
	while (!poll_one(other, POLLIN, 100));
	usleep(100000);
	while (sockets()->recv(other, in, sizeof(in), MSG_DONTWAIT) == 3)
		continue;
	back_and_forth(one, other, 20);
	close_both(one, other);
}

/* A queue pair that is no socket's, and the way from there to itself. */
struct stranger {
	struct rdma_cm_id *id;
	struct ibv_mr *memory;
	struct ibv_ah *ah;
	unsigned char bytes[2048];
};

static void open_stranger(struct stranger *stranger)
{
	struct sockaddr_in name = { .sin_family = AF_INET };
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 16, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_ah_attr to = { .is_global = 1, .port_num = 1, .grh.hop_limit = 64 };
	struct ibv_port_attr port;

	inet_pton(AF_INET, SOCKETS_ADDRESS, &name.sin_addr);
	check_ok(rdma_create_id(NULL, &stranger->id, NULL, RDMA_PS_UDP));
	check_ok(rdma_bind_addr(stranger->id, (struct sockaddr *)&name));
	check_ok(rdma_create_qp(stranger->id, NULL, &attr));
	stranger->memory = ibv_reg_mr(stranger->id->pd, stranger->bytes, sizeof(stranger->bytes), 0);
	check(stranger->memory, "ibv_reg_mr: %m");
	check_ok(ibv_query_port(stranger->id->verbs, 1, &port));
	to.dlid = port.lid;
	/* Of InfiniBand the first one, of RoCE the one of the address. */
	for (int index = port.gid_tbl_len - 1; index >= 0; index--) {
		to.grh.sgid_index = index;
		check_ok(ibv_query_gid(stranger->id->verbs, 1, index, &to.grh.dgid));
		if (!memcmp(&to.grh.dgid.raw[12], &name.sin_addr, 4))
			break;
	}
	stranger->ah = ibv_create_ah(stranger->id->pd, &to);
	check(stranger->ah, "ibv_create_ah: %m");
}

static void throw_at(struct stranger *stranger, uint32_t number, size_t length)
{
	struct ibv_sge piece = { (uintptr_t)stranger->bytes, length, stranger->memory->lkey };
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED, .sg_list = &piece, .num_sge = 1,
		.wr.ud = { stranger->ah, number, RDMA_UDP_QKEY },
	};
	struct ibv_wc completion;
	int taken;

	check_ok(ibv_post_send(stranger->id->qp, &wr, &bad));
	while (!(taken = ibv_poll_cq(stranger->id->send_cq, 1, &completion)))
		continue;
	check(taken == 1 && completion.status == IBV_WC_SUCCESS, "sent with status %d", completion.status);
}

/* What is no datagram, to the queue pair of a socket, which tells its number to everybody. */
static void malformed(void)
{
	static const unsigned char heads[][2] = { { 4, 24 }, { 6, 8 }, { 6, 24 }, { 5, 8 }, { 4, 0 }, { 0, 8 }, { 6, 255 } };
	int one = bound_socket(), other = bound_socket(), raw;
	struct sockaddr_in one_name = name_of(one), other_name = name_of(other), any = one_name;
	struct notice hello = { htonl(0x55555555), 4, 0, sizeof(hello), 0, 0, one_name.sin_addr.s_addr }, answer;
	struct stranger stranger;

	if (is_kernel())
		skip_test("the kernel's sockets have no queue pair");
	open_stranger(&stranger);
	any.sin_port = 0;
	raw = forger(&any);
	hello.number = htonl(stranger.id->qp->qp_num);
	forge(raw, &other_name, hello, sizeof(hello));
	check(recv(raw, &answer, sizeof(answer), 0) == sizeof(answer), "no answer, %m");
	check(answer.purpose == 7 && answer.tag == hello.tag, "another answer");
	receive_from(other, 0, NULL);
	/* More than it has places for, to see that each is used again. */
	for (int i = 0; i < 700; i++) {
		memset(stranger.bytes, 0xee, sizeof(stranger.bytes));
		memcpy(stranger.bytes, heads[i % 7], 2);
		throw_at(&stranger, ntohl(answer.number), i % 24);
	}
	check(!poll_one(other, POLLIN, 200), "something has come");
	/* A whole header, with nothing behind it, comes through. */
	memcpy(stranger.bytes, "\4\10\1\2\12\143\0\1", 8);
	throw_at(&stranger, ntohl(answer.number), 8);
	receive_from(other, 0, NULL);
	for (int round = 0; round < 5; round++) {
		send_to(one, "abc", 3, &other_name);
		receive_from(other, 3, &one_name);
	}
	check_ok(close(raw));
	check_ok(ibv_destroy_ah(stranger.ah));
	check_ok(ibv_dereg_mr(stranger.memory));
	rdma_destroy_qp(stranger.id);
	check_ok(rdma_destroy_id(stranger.id));
	close_both(one, other);
}

/* Somebody says that a peer's queue pair is another one. */
static void redirected(void)
{
	int one = bound_socket(), other = reusable_socket(), raw;
	struct sockaddr_in one_name = name_of(one), other_name = name_of(other);
	struct notice lie = { htonl(0x55555555), 4, 7, sizeof(lie), 0, htonl(0x123456), other_name.sin_addr.s_addr };

	if (is_kernel())
		skip_test("the kernel's sockets have no notices");
	back_and_forth(one, other, 5);
	for (int purpose = 0; purpose <= 7; purpose += 7) {
		lie.purpose = purpose;
		raw = forger(&other_name);
		forge(raw, &one_name, lie, sizeof(lie));
		/* The socket that was bound last would get what is for both. */
		check_ok(close(raw));
		if (!purpose)
			receive_from(one, 0, &other_name);
		for (int round = 0; round < 10; round++) {
			send_to(one, "abc", 3, &other_name);
			receive_from(other, 3, &one_name);
		}
	}
	close_both(one, other);
}

static const struct test tests[] = {
	TEST(strangers), TEST(malformed), TEST(redirected),
};

int main(int argc, char **argv)
{
	return RUN_TESTS(tests, argc, argv);
}
