/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Queue pairs of the simulated device whose other ends are in another process. */
#include "pair.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct end first, second;

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
		TEST(two_processes),
		TEST(peer_is_killed),
	};

	return RUN_TESTS(tests, argc, argv);
}
