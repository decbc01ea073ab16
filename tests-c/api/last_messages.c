/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What completes when a connection ends: events and completions are apart, and neither waits for the other. */
#include "connection.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MESSAGES = 64, SIZE = 32 };

/* A queue pair for the burst, and memory that is registered. */
struct side {
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	char memory[MESSAGES][SIZE];
};

static void open_side(struct side *side, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);

	side->id = id;
	attr.cap.max_send_wr = MESSAGES;
	attr.cap.max_recv_wr = MESSAGES;
	attr.sq_sig_all = 1;
	check_ok(rdma_create_qp(id, NULL, &attr));
	side->mr = rdma_reg_msgs(id, side->memory, sizeof(side->memory));
	check(side->mr, "rdma_reg_msgs: %m");
}

static void close_side(struct side *side)
{
	check_ok(rdma_dereg_mr(side->mr));
}

static void post(struct side *side, int (*post_one)(struct side *side, int number))
{
	for (int i = 0; i < MESSAGES; i++)
		check_ok(post_one(side, i));
}

static int receive_one(struct side *side, int number)
{
	return rdma_post_recv(side->id, (void *)(uintptr_t)number, side->memory[number], SIZE, side->mr);
}

static int send_one(struct side *side, int number)
{
	memset(side->memory[number], number, SIZE);
	return rdma_post_send(side->id, (void *)(uintptr_t)number, side->memory[number], SIZE, side->mr, 0);
}

/*
 * When the queue pair has failed, as after rdma_disconnect, whatever was posted comes back: the successful ones first, all
 * in their order. Returns how many those are.
 */
static int drain(struct ibv_cq *cq)
{
	uint64_t limit = now_ms() + 10000 * time_scale();
	int successes = 0, count = 0;
	struct ibv_wc completion;

	while (count < MESSAGES) {
		int found = ibv_poll_cq(cq, 1, &completion);

		check(found >= 0, "ibv_poll_cq");
		check(found || now_ms() < limit, "only %d completions", count);
		if (!found)
			continue;
		check(completion.wr_id == (uint64_t)count, "%llu, not %d", (unsigned long long)completion.wr_id, count);
		if (completion.status == IBV_WC_SUCCESS)
			check(successes++ == count, "%d succeeds after a failure", count);
		count++;
	}
	check(ibv_poll_cq(cq, 1, &completion) == 0, "more than was posted");
	return successes;
}

/* The client disconnects as soon as it has posted its messages; each side then gets back all that it posted. */
static void end_after_a_burst(void)
{
	static struct side client, server;
	struct connection connection = { 0 };
	int sent, received;

	prepare(&connection);
	rdma_destroy_qp(connection.client);
	open_side(&client, connection.client);
	request(&connection, NULL);
	open_side(&server, connection.server);
	post(&server, receive_one);
	establish(&connection);

	post(&client, send_one);
	disconnect(&connection);
	sent = drain(client.id->send_cq);
	received = drain(server.id->recv_cq);
	/* The other side had all that is known to be sent. */
	check(sent <= received, "%d sent, %d received", sent, received);
	for (int i = 0; i < received; i++)
		check(server.memory[i][0] == i && server.memory[i][SIZE - 1] == i, "message %d", i);
	close_side(&client);
	close_side(&server);
	dismantle(&connection);
}

static uint16_t port;

static void connect_and_die(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_client(channel, RDMA_PS_TCP, port);

	create_qp(id);
	check_ok(rdma_connect(id, NULL));
	check(!pass_event(channel, RDMA_CM_EVENT_ESTABLISHED, id), "status");
	raise(SIGKILL);
}

/* The kernel ends what a process that dies leaves, and the next one connects. */
static void killed_clients(void)
{
	unsigned long rounds = number_from_env("TEST_ROUNDS", 30);
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *listener = open_listener(channel, RDMA_PS_TCP);

	port = port_of(listener);
	for (unsigned long i = 0; i < rounds; i++) {
		pid_t child = start_process(connect_and_die);
		struct rdma_cm_id *id = take_request(channel, listener);
		int status;

		create_qp(id);
		check_ok(rdma_accept(id, NULL));
		check(!pass_event(channel, RDMA_CM_EVENT_ESTABLISHED, id), "status");
		pass_event(channel, RDMA_CM_EVENT_DISCONNECTED, id);
		rdma_destroy_qp(id);
		check_ok(rdma_destroy_id(id));
		check(waitpid(child, &status, 0) == child, "waitpid: %m");
		check(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "wait status %#x", status);
	}
	check_ok(rdma_destroy_id(listener));
	rdma_destroy_event_channel(channel);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(end_after_a_burst),
		SLOW_TEST(killed_clients, 120),
	};

	return RUN_TESTS(tests, argc, argv);
}
