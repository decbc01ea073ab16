/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rdma_join_multicast, rdma_join_multicast_ex and rdma_leave_multicast. */
#include "connection.h"

#include <arpa/inet.h>
#include <string.h>

enum { HEADER = 40 };

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;

static void open_one(void)
{
	if (!channel)
		channel = open_channel();
	id = open_member(channel);
}

static void close_member(void)
{
	if (id->qp)
		rdma_destroy_qp(id);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
	channel = NULL;
}

#define GROUP "239.99.1.2"

static void pass_join(struct rdma_cm_id *member, void *context)
{
	struct rdma_cm_event *event = next_event(channel, RDMA_CM_EVENT_MULTICAST_JOIN, member);

	check(event->status == 0 && event->param.ud.private_data == context, "status %d", event->status);
	check(event->param.ud.private_data_len == 0, "length");
	check_ok(rdma_ack_cm_event(event));
}

static void join_and_leave(void)
{
	struct rdma_cm_event *event;
	const struct ibv_ah_attr *ah;
	char gid[INET6_ADDRSTRLEN];
	int context;

	open_one();
	create_qp(id);
	check_ok(rdma_join_multicast(id, group_address(GROUP), &context));
	event = next_event(channel, RDMA_CM_EVENT_MULTICAST_JOIN, id);
	check(event->status == 0 && !event->listen_id, "status %d", event->status);
	check(event->param.ud.private_data == &context, "context");
	ah = &event->param.ud.ah_attr;
	inet_ntop(AF_INET6, ah->grh.dgid.raw, gid, sizeof(gid));
	observe("number %#x qkey %#x global %d gid %s index %d hops %d sl %d port %d", event->param.ud.qp_num,
		event->param.ud.qkey, ah->is_global, gid, ah->grh.sgid_index, ah->grh.hop_limit, ah->sl, ah->port_num);
	check_ok(rdma_ack_cm_event(event));
	check_ok(rdma_leave_multicast(id, group_address(GROUP)));
	check_empty(channel);
	check_fails(rdma_leave_multicast(id, group_address(GROUP)), EADDRNOTAVAIL);
	close_member();
}

/* What one member sends the other receives; after leaving it receives no more. */
static void message(void)
{
	struct rdma_cm_id *sender;
	char sent[32] = "to all", received[HEADER + 32];
	struct ibv_mr *send_mr, *receive_mr;
	struct rdma_cm_event *event;
	struct rdma_ud_param address;
	struct ibv_wc completion;
	struct ibv_ah *ah;
	int count = 0;

	open_one();
	sender = id;
	create_qp(sender);
	open_one();
	create_qp(id);
	check_ok(rdma_join_multicast(id, group_address(GROUP), NULL));
	pass_join(id, NULL);
	check_ok(rdma_join_multicast(sender, group_address(GROUP), NULL));
	event = next_event(channel, RDMA_CM_EVENT_MULTICAST_JOIN, sender);
	address = event->param.ud;
	check_ok(rdma_ack_cm_event(event));

	receive_mr = rdma_reg_msgs(id, received, sizeof(received));
	send_mr = rdma_reg_msgs(sender, sent, sizeof(sent));
	ah = ibv_create_ah(sender->pd, &address.ah_attr);
	check(receive_mr && send_mr && ah, "ibv_create_ah: %m");
	check_ok(rdma_post_recv(id, NULL, received, sizeof(received), receive_mr));
	/* Datagrams may be lost. */
	for (int i = 0; i < 100 && !count; i++) {
		check_ok(rdma_post_ud_send(sender, NULL, sent, sizeof(sent), send_mr, IBV_SEND_SIGNALED, ah,
					   address.qp_num));
		check(rdma_get_send_comp(sender, &completion) == 1 && completion.status == IBV_WC_SUCCESS, "send");
		sleep_ms(20);
		count = ibv_poll_cq(id->recv_cq, 1, &completion);
	}
	check(count == 1 && completion.status == IBV_WC_SUCCESS, "nothing received");
	check(!strcmp(received + HEADER, "to all"), "received '%s'", received + HEADER);

	check_ok(rdma_leave_multicast(id, group_address(GROUP)));
	check_ok(rdma_post_recv(id, NULL, received, sizeof(received), receive_mr));
	check_ok(rdma_post_ud_send(sender, NULL, sent, sizeof(sent), send_mr, IBV_SEND_SIGNALED, ah, address.qp_num));
	check(rdma_get_send_comp(sender, &completion) == 1, "send");
	sleep_ms(200);
	check(!ibv_poll_cq(id->recv_cq, 1, &completion), "received after leaving");

	check_ok(ibv_destroy_ah(ah));
	check_ok(rdma_dereg_mr(send_mr));
	check_ok(rdma_dereg_mr(receive_mr));
	rdma_destroy_qp(sender);
	check_ok(rdma_destroy_id(sender));
	close_member();
}

static void without_a_queue_pair(void)
{
	open_one();
	check_ok(rdma_join_multicast(id, group_address(GROUP), &channel));
	pass_join(id, &channel);
	check_ok(rdma_leave_multicast(id, group_address(GROUP)));
	close_member();
}

static void of_a_resolved_id(void)
{
	channel = open_channel();
	id = open_id_of(channel, RDMA_PS_UDP);
	check_ok(rdma_resolve_addr(id, device_address(AF_INET, 0), group_address(GROUP), 2000));
	pass_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED, id);
	create_qp(id);
	check_ok(rdma_join_multicast(id, group_address(GROUP), NULL));
	pass_join(id, NULL);
	check_ok(rdma_leave_multicast(id, group_address(GROUP)));
	close_member();
}

static void several_groups(void)
{
	static const char *const names[] = { "239.99.1.3", "239.99.1.4", "239.99.1.5" };
	int contexts[3];

	open_one();
	create_qp(id);
	for (int i = 0; i < 3; i++) {
		check_ok(rdma_join_multicast(id, group_address(names[i]), &contexts[i]));
		pass_join(id, &contexts[i]);
	}
	check_ok(rdma_leave_multicast(id, group_address(names[1])));
	check_fails(rdma_leave_multicast(id, group_address(names[1])), EADDRNOTAVAIL);
	check_ok(rdma_leave_multicast(id, group_address(names[2])));
	check_ok(rdma_leave_multicast(id, group_address(names[0])));
	check_empty(channel);
	close_member();
}

/* As often as joined. */
static void one_group_twice(void)
{
	int first, second;

	open_one();
	check_ok(rdma_join_multicast(id, group_address(GROUP), &first));
	pass_join(id, &first);
	check_ok(rdma_join_multicast(id, group_address(GROUP), &second));
	pass_join(id, &second);
	check_ok(rdma_leave_multicast(id, group_address(GROUP)));
	check_ok(rdma_leave_multicast(id, group_address(GROUP)));
	check_fails(rdma_leave_multicast(id, group_address(GROUP)), EADDRNOTAVAIL);
	close_member();
}

/* What was not read before leaving is never read. */
static void left_before_its_event(void)
{
	open_one();
	check_ok(rdma_join_multicast(id, group_address(GROUP), NULL));
	check_ok(rdma_leave_multicast(id, group_address(GROUP)));
	check_empty(channel);
	close_member();
}

/* The id takes its memberships with it. */
static void destroyed_as_a_member(void)
{
	struct resources before = { 0 };

	for (int i = 0; i < 5; i++) {
		if (i == 1)
			before = count_resources();
		open_one();
		create_qp(id);
		check_ok(rdma_join_multicast(id, group_address(GROUP), NULL));
		check_ok(rdma_join_multicast(id, group_address("239.99.1.3"), NULL));
		pass_event(channel, RDMA_CM_EVENT_MULTICAST_JOIN, id);
		if (i & 1)
			pass_event(channel, RDMA_CM_EVENT_MULTICAST_JOIN, id);
		close_member();
	}
	check_resources(&before);
}

static void queue_pair_destroyed_as_a_member(void)
{
	open_one();
	create_qp(id);
	check_ok(rdma_join_multicast(id, group_address(GROUP), NULL));
	pass_join(id, NULL);
	rdma_destroy_qp(id);
	check_ok(rdma_leave_multicast(id, group_address(GROUP)));
	close_member();
}

static struct rdma_cm_join_mc_attr_ex join_attr(uint32_t mask, uint32_t flags, struct sockaddr *addr)
{
	return (struct rdma_cm_join_mc_attr_ex){ .comp_mask = mask, .join_flags = flags, .addr = addr };
}

enum { BOTH = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS };

static void extended(void)
{
	struct rdma_cm_join_mc_attr_ex attr = join_attr(BOTH, RDMA_MC_JOIN_FLAG_FULLMEMBER, group_address(GROUP));
	int context;

	open_one();
	create_qp(id);
	check_ok(rdma_join_multicast_ex(id, &attr, &context));
	pass_join(id, &context);
	check_ok(rdma_leave_multicast(id, group_address(GROUP)));
	close_member();
}

/* A member that only sends gets nothing. */
static void for_sending_only(void)
{
	struct rdma_cm_join_mc_attr_ex attr = join_attr(BOTH, RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER, group_address(GROUP));

	open_one();
	create_qp(id);
	if (rdma_join_multicast_ex(id, &attr, NULL)) {
		check(errno == EOPNOTSUPP, "rdma_join_multicast_ex: %m");
		skip_test("this kernel has no command for it");
	}
	pass_join(id, NULL);
	/* The queue pair is in no group: there is nothing to detach. */
	check_ok(rdma_leave_multicast(id, group_address(GROUP)));
	close_member();
}

static void wrong_attributes(void)
{
	struct rdma_cm_join_mc_attr_ex attr;

	open_one();
	attr = join_attr(RDMA_CM_JOIN_MC_ATTR_RESERVED, 0, group_address(GROUP));
	check_fails(rdma_join_multicast_ex(id, &attr, NULL), ENOTSUP);
	attr = join_attr(BOTH | RDMA_CM_JOIN_MC_ATTR_RESERVED, 0, group_address(GROUP));
	check_fails(rdma_join_multicast_ex(id, &attr, NULL), ENOTSUP);
	attr = join_attr(RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS, RDMA_MC_JOIN_FLAG_FULLMEMBER, group_address(GROUP));
	check_fails(rdma_join_multicast_ex(id, &attr, NULL), EINVAL);
	attr = join_attr(RDMA_CM_JOIN_MC_ATTR_ADDRESS, RDMA_MC_JOIN_FLAG_FULLMEMBER, group_address(GROUP));
	check_fails(rdma_join_multicast_ex(id, &attr, NULL), EINVAL);
	attr = join_attr(BOTH, RDMA_MC_JOIN_FLAG_RESERVED, group_address(GROUP));
	check_fails(rdma_join_multicast_ex(id, &attr, NULL), EINVAL);
	attr = join_attr(BOTH, RDMA_MC_JOIN_FLAG_FULLMEMBER, NULL);
	check_fails(rdma_join_multicast_ex(id, &attr, NULL), EINVAL);
	check_empty(channel);
	close_member();
}

static void wrong_addresses(void)
{
	struct sockaddr_storage local = { .ss_family = AF_UNIX };

	open_one();
	check_fails(rdma_join_multicast(id, NULL, NULL), EINVAL);
	check_fails(rdma_join_multicast(id, (struct sockaddr *)&local, NULL), EINVAL);
	check_fails(rdma_leave_multicast(id, NULL), EINVAL);
	check_fails(rdma_leave_multicast(id, (struct sockaddr *)&local), EINVAL);
	check_fails(rdma_leave_multicast(id, group_address(GROUP)), EADDRNOTAVAIL);
	check_empty(channel);
	close_member();
}

static void without_a_device(void)
{
	channel = open_channel();
	id = open_id_of(channel, RDMA_PS_UDP);
	check_fails(rdma_join_multicast(id, group_address(GROUP), NULL), EINVAL);
	/* Nothing of it stays. */
	check_fails(rdma_leave_multicast(id, group_address(GROUP)), EADDRNOTAVAIL);
	close_member();
}

static void null_pointers(void)
{
	struct rdma_cm_join_mc_attr_ex attr = join_attr(BOTH, RDMA_MC_JOIN_FLAG_FULLMEMBER, group_address(GROUP));

	open_one();
	check_fails(rdma_join_multicast(NULL, group_address(GROUP), NULL), EINVAL);
	check_fails(rdma_join_multicast_ex(NULL, &attr, NULL), EINVAL);
	check_fails(rdma_join_multicast_ex(id, NULL, NULL), EINVAL);
	check_fails(rdma_leave_multicast(NULL, group_address(GROUP)), EINVAL);
	close_member();
}

/* On soft RoCE the kernel refuses what is not IPv4. */
static void ipv6_group(void)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6 };
	struct rdma_cm_event *event;

	channel = open_channel();
	id = open_id_of(channel, RDMA_PS_UDP);
	check_ok(rdma_bind_addr(id, device_address(AF_INET6, 0)));
	create_qp(id);
	inet_pton(AF_INET6, "ff05::99:1", &address.sin6_addr);
	if (rdma_join_multicast(id, (struct sockaddr *)&address, NULL)) {
		observe("%s", errno_name(errno));
	} else {
		check_ok(rdma_get_cm_event(channel, &event));
		observe("%s status %d", rdma_event_str(event->event), event->status);
		check_ok(rdma_ack_cm_event(event));
	}
	close_member();
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(join_and_leave, .needs = "multicast"),
		TEST(message, .needs = "multicast"),
		TEST(without_a_queue_pair, .needs = "multicast"),
		TEST(of_a_resolved_id, .needs = "multicast"),
		TEST(several_groups, .needs = "multicast"),
		TEST(one_group_twice, .needs = "multicast"),
		TEST(left_before_its_event, .needs = "multicast"),
		TEST(destroyed_as_a_member, .needs = "multicast"),
		TEST(queue_pair_destroyed_as_a_member, .needs = "multicast"),
		TEST(extended, .needs = "multicast"),
		TEST(for_sending_only, .needs = "multicast"),
		TEST(wrong_attributes),
		TEST(wrong_addresses),
		TEST(without_a_device),
		TEST(null_pointers),
		TEST(ipv6_group, .needs = "multicast"),
	};

	return RUN_TESTS(tests, argc, argv);
}
