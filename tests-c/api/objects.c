/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Queue pairs, the kernel's list of objects, and processes. */
#include "connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct ibv_qp_init_attr small_qp(enum ibv_qp_type type)
{
	return (struct ibv_qp_init_attr){
		.qp_type = type,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};
}

void create_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = small_qp(id->qp_type);

	check_ok(rdma_create_qp(id, NULL, &attr));
	check(id->qp, "no queue pair");
}

void check_nothing_left(const struct rdma_cm_id *id)
{
	check(!id->qp, "qp");
	check(!id->send_cq && !id->recv_cq, "completion queues");
	check(!id->send_cq_channel && !id->recv_cq_channel, "completion channels");
}

const char *qp_state(struct rdma_cm_id *id)
{
	static const char *const names[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int error;

	if (!id->qp)
		return "none";
	error = ibv_query_qp(id->qp, &attr, IBV_QP_STATE, &init);
	check(!error, "ibv_query_qp: %s", errno_name(error));
	check(attr.qp_state < sizeof(names) / sizeof(names[0]), "state %d", (int)attr.qp_state);
	return names[attr.qp_state];
}

void make_own_qp(struct own_qp *own, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);

	own->id = id;
	own->cq = ibv_create_cq(id->verbs, 16, NULL, NULL, 0);
	check(own->cq, "ibv_create_cq: %m");
	attr.send_cq = own->cq;
	attr.recv_cq = own->cq;
	own->qp = ibv_create_qp(id->pd, &attr);
	check(own->qp, "ibv_create_qp: %m");
}

void move_own_qp(struct own_qp *own, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask, error;

	check_ok(rdma_init_qp_attr(own->id, &attr, &mask));
	error = ibv_modify_qp(own->qp, &attr, mask);
	check(!error, "ibv_modify_qp to %d: %s", (int)state, errno_name(error));
}

void free_own_qp(struct own_qp *own)
{
	check_ok(ibv_destroy_qp(own->qp));
	check_ok(ibv_destroy_cq(own->cq));
}

/* Lines of `rdma resource show KIND` that name this process. */
static int count_lines(const char *kind)
{
	char line[512], command[64], owner[32];
	int count = 0;
	FILE *tool;

	/* The tool must not be given the library under test. */
	snprintf(command, sizeof(command), "LD_PRELOAD= rdma resource show %s", kind);
	snprintf(owner, sizeof(owner), " pid %d ", getpid());
	tool = popen(command, "r");
	check(tool, "rdma: %m");
	while (fgets(line, sizeof(line), tool))
		if (strstr(line, owner))
			count++;
	check(!pclose(tool), "%s failed", command);
	return count;
}

struct resources count_resources(void)
{
	return (struct resources){
		.ids = count_lines("cm_id"),
		.qps = count_lines("qp"),
		.cqs = count_lines("cq"),
		.pds = count_lines("pd"),
		.fds = count_fds(NULL),
	};
}

static bool has_grown(const struct resources *before, const struct resources *now)
{
	return now->ids > before->ids || now->qps > before->qps || now->cqs > before->cqs || now->pds > before->pds ||
	       now->fds > before->fds;
}

void check_resources(const struct resources *before)
{
	uint64_t limit = now_ms() + 3000;
	struct resources now;

	do {
		now = count_resources();
		if (!has_grown(before, &now))
			return;
		sleep_ms(100);
	} while (now_ms() < limit);
	fail("%+d ids, %+d queue pairs, %+d completion queues, %+d protection domains, %+d descriptors",
	     now.ids - before->ids, now.qps - before->qps, now.cqs - before->cqs, now.pds - before->pds,
	     now.fds - before->fds);
}

pid_t start_process(void (*run)(void))
{
	pid_t child = fork();

	check(child >= 0, "fork: %m");
	if (child == 0) {
		run();
		exit(EXIT_SUCCESS);
	}
	return child;
}

void end_process(pid_t child)
{
	int status;

	check(waitpid(child, &status, 0) == child, "waitpid: %m");
	check(WIFEXITED(status), "the other process was killed by SIG%s", sigabbrev_np(WTERMSIG(status)));
	/* The reason that it gave stands already. */
	if (WEXITSTATUS(status))
		_exit(WEXITSTATUS(status));
}
