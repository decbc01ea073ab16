/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Calls that wait where nobody answers, or nobody is needed. */
#include "connection.h"

#include <arpa/inet.h>
#include <string.h>

static void refused(void)
{
	struct rdma_cm_id *id = open_waiting(RDMA_PS_TCP);

	resolve_waiting(id, 7499);
	create_qp(id);
	check_fails(rdma_connect(id, NULL), ECONNREFUSED);
	check_answer(id, RDMA_CM_EVENT_REJECTED);
	check(id->event->status == refusal_status(id, 8), "status %d", id->event->status);
	check(!strcmp(qp_state(id), "ERR"), "the queue pair is %s", qp_state(id));
	close_waiting(id);
}

static void without_an_answer_to_the_address(void)
{
	struct rdma_cm_id *id = open_waiting(RDMA_PS_TCP);
	struct sockaddr_in nobody = { .sin_family = AF_INET, .sin_port = htons(7471) };

	/* Of the device's net, so that the kernel asks; or it knows at once that nobody is there. */
	inet_pton(AF_INET, "192.0.2.1", &nobody.sin_addr);
	check(rdma_resolve_addr(id, NULL, (struct sockaddr *)&nobody, 500) == -1, "it resolves");
	observe("%s", errno_name(errno));
	check(!id->verbs, "a device");
	resolve_waiting(id, 7499);
	close_waiting(id);
}

static void wrong_calls_do_not_wait(void)
{
	struct rdma_cm_id *id = open_waiting(RDMA_PS_TCP);
	struct rdma_conn_param param = { .qp_num = 1 };

	check_fails(rdma_resolve_addr(id, NULL, NULL, 2000), EINVAL);
	check_ok(rdma_bind_addr(id, device_address(AF_INET, 0)));
	check_fails(rdma_connect(id, &param), EINVAL);
	resolve_waiting(id, 7499);
	check_fails(rdma_resolve_addr(id, NULL, device_address(AF_INET, 7499), 2000), EINVAL);
	check_fails(rdma_resolve_route(id, 2000), EINVAL);
	close_waiting(id);
}

static void disconnected_after_a_refusal(void)
{
	struct rdma_cm_id *id = open_waiting(RDMA_PS_TCP);

	resolve_waiting(id, 7499);
	create_qp(id);
	check_fails(rdma_connect(id, NULL), ECONNREFUSED);
	check(!rdma_disconnect(id) || errno == EINVAL, "rdma_disconnect: %m");
	close_waiting(id);
}

static void route_behind_a_user_event(void)
{
	struct rdma_cm_id *id = open_waiting(RDMA_PS_TCP);

	check_ok(rdma_resolve_addr(id, NULL, device_address(AF_INET, 7499), 2000));
	write_event(id, 4, 5);
	check_ok(rdma_resolve_route(id, 2000));
	check_answer(id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	check(is_route_resolved(id), "no route");
	take_event(id->channel, id, 4, 5);
	close_waiting(id);
}

static void refused_behind_a_user_event(void)
{
	struct rdma_cm_id *id = open_waiting(RDMA_PS_TCP);

	resolve_waiting(id, 7499);
	create_qp(id);
	write_event(id, 4, 5);
	check_fails(rdma_connect(id, NULL), ECONNREFUSED);
	check_answer(id, RDMA_CM_EVENT_REJECTED);
	take_event(id->channel, id, 4, 5);
	close_waiting(id);
}

static void joined(void)
{
	struct rdma_cm_id *id = open_member(NULL);
	int context;

	create_qp(id);
	check_ok(rdma_join_multicast(id, group_address("239.99.1.9"), &context));
	check_answer(id, RDMA_CM_EVENT_MULTICAST_JOIN);
	check(id->event->param.ud.private_data == &context, "context");
	/* Its own event does not make leaving wait. */
	check_ok(rdma_leave_multicast(id, group_address("239.99.1.9")));
	close_waiting(id);
}

static void joined_behind_a_user_event(void)
{
	struct rdma_cm_id *id = open_member(NULL);

	write_event(id, 4, 5);
	check_ok(rdma_join_multicast(id, group_address("239.99.1.9"), NULL));
	check_answer(id, RDMA_CM_EVENT_MULTICAST_JOIN);
	take_event(id->channel, id, 4, 5);
	close_waiting(id);
}

static void datagrams_that_nobody_takes(void)
{
	struct rdma_cm_id *id = open_waiting(RDMA_PS_UDP);

	resolve_waiting(id, 7499);
	create_qp(id);
	check(rdma_connect(id, NULL) == -1, "somebody answers");
	observe("%s", errno_name(errno));
	check_answer(id, RDMA_CM_EVENT_UNREACHABLE);
	close_waiting(id);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(refused),
		TEST(without_an_answer_to_the_address),
		TEST(wrong_calls_do_not_wait),
		TEST(disconnected_after_a_refusal),
		TEST(route_behind_a_user_event),
		TEST(refused_behind_a_user_event),
		SLOW_TEST(joined, 10, .needs = "multicast"),
		TEST(joined_behind_a_user_event, .needs = "multicast"),
		TEST(datagrams_that_nobody_takes, .needs = "datagrams"),
	};

	return RUN_TESTS(tests, argc, argv);
}
