/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls each inline function of rdma/rdma_verbs.h on a device that is made up here, and prints what reaches it and what
 * comes back. Compiled against two headers, the outputs must be equal.
 *
 * With any argument it tries instead what only our header answers with -1 or NULL, and EINVAL or EIO, each time: ids
 * that lack an object, and a queue that cannot be read.
 */
#include <rdma/rdma_verbs.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static char memory[64];
static struct ibv_mr region = { .addr = memory, .length = sizeof(memory), .lkey = 7 };
static struct ibv_context device;
static struct ibv_qp qp = { .context = &device };
static struct ibv_srq srq = { .context = &device };
static struct ibv_cq send_cq = { .context = &device }, recv_cq = { .context = &device };
static struct ibv_comp_channel send_channel, recv_channel;
static struct ibv_pd pd;
static struct rdma_cm_id id;
static struct ibv_wc wc;

/* What the device answers. */
static int post_result, notify_result, event_result;
static const int *polls;

static const char *name_of(const void *object)
{
	return object == &send_cq ? "send_cq" : object == &recv_cq ? "recv_cq" : object == &send_channel ? "send_channel" :
	       object == &recv_channel ? "recv_channel" : object == &pd ? "pd" : object == &region ? "region" : "?";
}

static void print_list(uint64_t wr_id, const void *next, const struct ibv_sge *sge, int count)
{
	printf(" wr_id %" PRIu64 " next %d,", wr_id, next != NULL);
	for (; count > 0; count--, sge++)
		printf(" [+%d length %" PRIu32 " key %" PRIu32 "]", (int)((char *)(uintptr_t)sge->addr - memory), sge->length,
		       sge->lkey);
}

static int post_send(struct ibv_qp *queue, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	printf("  send %d: opcode %d flags %u", queue == &qp, wr->opcode, wr->send_flags);
	print_list(wr->wr_id, wr->next, wr->sg_list, wr->num_sge);
	if (wr->opcode != IBV_WR_SEND)
		printf(" remote %" PRIx64 " key %" PRIu32, wr->wr.rdma.remote_addr, wr->wr.rdma.rkey);
	else if (id.qp_type == IBV_QPT_UD)
		printf(" ah %" PRIuPTR " number %" PRIu32 " key %" PRIx32, (uintptr_t)wr->wr.ud.ah, wr->wr.ud.remote_qpn,
		       wr->wr.ud.remote_qkey);
	puts("");
	*bad = wr;
	return post_result;
}

static int print_recv(const char *queue, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	printf("  receive on %s:", queue);
	print_list(wr->wr_id, wr->next, wr->sg_list, wr->num_sge);
	puts("");
	*bad = wr;
	return post_result;
}

static int post_recv(struct ibv_qp *queue, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return print_recv(queue == &qp ? "qp" : "?", wr, bad);
}

static int post_srq_recv(struct ibv_srq *queue, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return print_recv(queue == &srq ? "srq" : "?", wr, bad);
}

static int poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *completion)
{
	printf("  poll %s for %d: %d\n", name_of(cq), count, *polls);
	if (*polls > 0)
		completion->wr_id = 99;
	return *polls++;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	printf("  notify %s %d\n", name_of(cq), solicited_only);
	return notify_result;
}

/* These are functions of libibverbs, and linked by their names. */

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	printf("  event of %s\n", name_of(channel));
	*cq = channel == &send_channel ? &send_cq : &recv_cq;
	*cq_context = &id;
	errno = event_result;
	return event_result ? -1 : 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count)
{
	printf("  ack %s %u\n", name_of(cq), count);
}

struct ibv_mr *(ibv_reg_mr)(struct ibv_pd *domain, void *addr, size_t length, int access)
{
	printf("  register in %s +%d length %zu access %d\n", name_of(domain), (int)((char *)addr - memory), length, access);
	return &region;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *domain, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	printf("  with iova %" PRIu64 ":\n", iova);
	return (ibv_reg_mr)(domain, addr, length, (int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	printf("  deregister %s\n", name_of(mr));
	return post_result;
}

#define SHOW(call)                                                                                                    \
	do {                                                                                                          \
		puts(#call);                                                                                          \
		errno = 0;                                                                                            \
		int result = (call);                                                                                  \
		printf("  = %d, errno %d\n", result, errno);                                                          \
	} while (0)
#define SHOW_REGION(call)                                                                                             \
	do {                                                                                                          \
		puts(#call);                                                                                          \
		errno = 0;                                                                                            \
		const void *result = (call);                                                                          \
		printf("  = %s, errno %d\n", result ? name_of(result) : "NULL", errno);                               \
	} while (0)

static void show_posts(void)
{
	struct ibv_sge list[2] = { { (uintptr_t)memory, 1, 2 }, { (uintptr_t)memory + 3, 4, 5 } };
	void *context = (void *)12;
	int flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;

	SHOW(rdma_post_recvv(&id, context, list, 2));
	SHOW(rdma_post_sendv(&id, context, list, 2, flags));
	SHOW(rdma_post_readv(&id, context, list, 2, flags, 0x123456789abcdef0, 11));
	SHOW(rdma_post_writev(&id, context, list, 2, flags, 0x123456789abcdef0, 11));
	SHOW(rdma_post_recv(&id, context, memory, sizeof(memory), &region));
	SHOW(rdma_post_send(&id, context, memory + 8, 16, &region, 0));
	SHOW(rdma_post_send(&id, context, memory + 8, 16, NULL, flags));
	SHOW(rdma_post_read(&id, context, memory + 8, 16, &region, flags, 1, 2));
	SHOW(rdma_post_write(&id, context, memory + 8, 16, &region, flags, 1, 2));
	SHOW(rdma_post_write(&id, context, memory + 8, 16, NULL, flags, 1, 2));
	id.qp_type = IBV_QPT_UD;
	SHOW(rdma_post_ud_send(&id, context, memory + 8, 16, &region, flags, (struct ibv_ah *)34, 56));
	SHOW(rdma_post_ud_send(&id, context, memory + 8, 16, NULL, flags, (struct ibv_ah *)34, 56));
	id.qp_type = IBV_QPT_RC;
}

static void show_completions(const char *what, const int *results)
{
	puts(what);
	wc.wr_id = 0;
	polls = results;
	SHOW(rdma_get_send_comp(&id, &wc));
	polls = results;
	SHOW(rdma_get_recv_comp(&id, &wc));
	printf("  wr_id %" PRIu64 "\n", wc.wr_id);
}

static void show_what_all_headers_do(void)
{
	show_posts();
	SHOW(rdma_dereg_mr(&region));
	id.srq = &srq;
	SHOW(rdma_post_recv(&id, NULL, memory, 1, &region));
	post_result = ENOMEM;
	show_posts();
	SHOW(rdma_dereg_mr(&region));
	id.srq = NULL;
	SHOW(rdma_post_recv(&id, NULL, memory, 1, &region));

	SHOW_REGION(rdma_reg_msgs(&id, memory + 1, 2));
	SHOW_REGION(rdma_reg_read(&id, memory + 1, 2));
	SHOW_REGION(rdma_reg_write(&id, memory + 1, 2));
	SHOW(rdma_seterrno(0));
	SHOW(rdma_seterrno(EBUSY));

	show_completions("-- there", (int[]){ 1 });
	show_completions("-- there once armed", (int[]){ 0, 1 });
	show_completions("-- there after an event", (int[]){ 0, 0, 1 });
	show_completions("-- an event for nothing", (int[]){ 0, 0, 0, 0, 1 });
	event_result = EAGAIN;
	show_completions("-- no event", (int[]){ 0, 0 });
	notify_result = EIO;
	show_completions("-- cannot be armed", (int[]){ 0 });
}

static void show_what_ours_does(void)
{
	show_completions("-- cannot be read", (int[]){ -2 });
	show_completions("-- cannot be read once armed", (int[]){ 0, -2 });
	id.send_cq_channel = NULL;
	id.recv_cq = NULL;
	show_completions("-- no channel, no queue", (int[]){ 1 });
	id.qp = NULL;
	id.pd = NULL;
	show_posts();
	SHOW_REGION(rdma_reg_msgs(&id, memory, 2));
	SHOW_REGION(rdma_reg_read(&id, memory, 2));
	SHOW_REGION(rdma_reg_write(&id, memory, 2));
}

int main(int argc, char **argv)
{
	(void)argv;
	device.ops.post_send = post_send;
	device.ops.post_recv = post_recv;
	device.ops.post_srq_recv = post_srq_recv;
	device.ops.poll_cq = poll_cq;
	device.ops.req_notify_cq = req_notify_cq;
	id.qp = &qp;
	id.qp_type = IBV_QPT_RC;
	id.pd = &pd;
	id.send_cq = &send_cq;
	id.recv_cq = &recv_cq;
	id.send_cq_channel = &send_channel;
	id.recv_cq_channel = &recv_channel;
	if (argc > 1)
		show_what_ours_does();
	else
		show_what_all_headers_do();
	return 0;
}
