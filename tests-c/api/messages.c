/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The helpers of rdma_verbs.h over a connection: memory, messages, remote reads and writes, completions. */
#include "connection.h"

#include <stdio.h>
#include <string.h>

static struct connection connection;
static char here[64], there[64];

static void complete(int (*get)(struct rdma_cm_id *, struct ibv_wc *), struct rdma_cm_id *id, void *context)
{
	struct ibv_wc completion;

	check(get(id, &completion) == 1, "no completion");
	check(completion.status == IBV_WC_SUCCESS, "%s", ibv_wc_status_str(completion.status));
	check(completion.wr_id == (uintptr_t)context, "of another request");
}

static void close_connection(void)
{
	disconnect(&connection);
	dismantle(&connection);
}

static void messages(void)
{
	struct ibv_mr *sender, *receiver;

	establish(&connection);
	sender = rdma_reg_msgs(connection.client, here, sizeof(here));
	receiver = rdma_reg_msgs(connection.server, there, sizeof(there));
	check(sender && receiver, "rdma_reg_msgs: %m");
	for (int i = 0; i < 5; i++) {
		snprintf(here, sizeof(here), "message %d", i);
		check_ok(rdma_post_recv(connection.server, there, there, sizeof(there), receiver));
		check_ok(rdma_post_send(connection.client, here, here, sizeof(here), sender, IBV_SEND_SIGNALED));
		complete(rdma_get_send_comp, connection.client, here);
		complete(rdma_get_recv_comp, connection.server, there);
		check(!strcmp(here, there), "received '%s'", there);
	}
	/* And back. */
	check_ok(rdma_post_recv(connection.client, here, here, sizeof(here), sender));
	strcpy(there, "an answer");
	check_ok(rdma_post_send(connection.server, NULL, there, sizeof(there), receiver, IBV_SEND_SIGNALED));
	complete(rdma_get_send_comp, connection.server, NULL);
	complete(rdma_get_recv_comp, connection.client, here);
	check(!strcmp(here, "an answer"), "received '%s'", here);
	check_ok(rdma_dereg_mr(sender));
	check_ok(rdma_dereg_mr(receiver));
	close_connection();
}

/* What is small enough goes with the request, and needs no registered memory. */
static void inline_message(void)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct ibv_mr *receiver;

	prepare(&connection);
	rdma_destroy_qp(connection.client);
	attr.cap.max_inline_data = 16;
	check_ok(rdma_create_qp(connection.client, NULL, &attr));
	check(attr.cap.max_inline_data >= 16, "%u bytes", attr.cap.max_inline_data);
	establish(&connection);
	receiver = rdma_reg_msgs(connection.server, there, sizeof(there));
	check(receiver, "rdma_reg_msgs: %m");
	strcpy(here, "small");
	check_ok(rdma_post_recv(connection.server, NULL, there, sizeof(there), receiver));
	check_ok(rdma_post_send(connection.client, NULL, here, 16, NULL, IBV_SEND_SIGNALED | IBV_SEND_INLINE));
	complete(rdma_get_send_comp, connection.client, NULL);
	complete(rdma_get_recv_comp, connection.server, NULL);
	check(!strcmp(there, "small"), "received '%s'", there);
	check_ok(rdma_dereg_mr(receiver));
	close_connection();
}

static void remote_writes_and_reads(void)
{
	struct ibv_mr *local, *readable, *writable;
	static char target[64], source[64] = "to be read";

	establish(&connection);
	/* With iWARP the peer writes what is read. */
	local = rdma_reg_write(connection.client, here, sizeof(here));
	readable = rdma_reg_read(connection.server, source, sizeof(source));
	writable = rdma_reg_write(connection.server, target, sizeof(target));
	check(local && readable && writable, "registering: %m");

	strcpy(here, "to be written");
	check_ok(rdma_post_write(connection.client, here, here, sizeof(here), local, IBV_SEND_SIGNALED,
				 (uintptr_t)target, writable->rkey));
	complete(rdma_get_send_comp, connection.client, here);
	check(!strcmp(target, "to be written"), "written '%s'", target);
	check_ok(rdma_post_read(connection.client, here, here, sizeof(here), local, IBV_SEND_SIGNALED,
				(uintptr_t)source, readable->rkey));
	complete(rdma_get_send_comp, connection.client, here);
	check(!strcmp(here, "to be read"), "read '%s'", here);
	check_ok(rdma_dereg_mr(local));
	check_ok(rdma_dereg_mr(readable));
	check_ok(rdma_dereg_mr(writable));
	close_connection();
}

/* Memory that may only be read is not written to; the connection is broken then. */
static void remote_write_without_leave(void)
{
	struct ibv_mr *local, *readable;
	struct ibv_wc completion;

	establish(&connection);
	local = rdma_reg_msgs(connection.client, here, sizeof(here));
	readable = rdma_reg_read(connection.server, there, sizeof(there));
	check(local && readable, "registering: %m");
	check_ok(rdma_post_write(connection.client, NULL, here, sizeof(here), local, IBV_SEND_SIGNALED,
				 (uintptr_t)there, readable->rkey));
	check(rdma_get_send_comp(connection.client, &completion) == 1, "no completion");
	check(completion.status == IBV_WC_REM_ACCESS_ERR, "%s", ibv_wc_status_str(completion.status));
	check(!strcmp(qp_state(connection.client), "ERR"), "the queue pair is %s", qp_state(connection.client));
	check_ok(rdma_dereg_mr(local));
	check_ok(rdma_dereg_mr(readable));
	close_connection();
}

static void scattered_messages(void)
{
	struct ibv_qp_init_attr attrs[] = { small_qp(IBV_QPT_RC), small_qp(IBV_QPT_RC) };
	struct ibv_sge send[2], receive[2];
	struct ibv_mr *sender, *receiver;

	attrs[0].cap.max_send_sge = 2;
	attrs[1].cap.max_recv_sge = 2;
	prepare(&connection);
	rdma_destroy_qp(connection.client);
	check_ok(rdma_create_qp(connection.client, NULL, &attrs[0]));
	request(&connection, NULL);
	check_ok(rdma_create_qp(connection.server, NULL, &attrs[1]));
	establish(&connection);
	sender = rdma_reg_msgs(connection.client, here, sizeof(here));
	receiver = rdma_reg_write(connection.server, there, sizeof(there));
	check(sender && receiver, "registering: %m");
	memcpy(here, "0123456789abcdef", 16);
	send[0] = (struct ibv_sge){ .addr = (uintptr_t)here + 8, .length = 8, .lkey = sender->lkey };
	send[1] = (struct ibv_sge){ .addr = (uintptr_t)here, .length = 8, .lkey = sender->lkey };
	receive[0] = (struct ibv_sge){ .addr = (uintptr_t)there + 32, .length = 4, .lkey = receiver->lkey };
	receive[1] = (struct ibv_sge){ .addr = (uintptr_t)there, .length = 12, .lkey = receiver->lkey };
	check_ok(rdma_post_recvv(connection.server, there, receive, 2));
	check_ok(rdma_post_sendv(connection.client, here, send, 2, IBV_SEND_SIGNALED));
	complete(rdma_get_send_comp, connection.client, here);
	complete(rdma_get_recv_comp, connection.server, there);
	check(!memcmp(there + 32, "89ab", 4) && !memcmp(there, "cdef01234567", 12), "pieces");

	check_ok(rdma_post_writev(connection.client, here, send, 2, IBV_SEND_SIGNALED, (uintptr_t)there, receiver->rkey));
	complete(rdma_get_send_comp, connection.client, here);
	check(!memcmp(there, "89abcdef01234567", 16), "pieces");
	check_ok(rdma_dereg_mr(sender));
	check_ok(rdma_dereg_mr(receiver));

	receiver = rdma_reg_read(connection.server, there, sizeof(there));
	sender = rdma_reg_write(connection.client, here, sizeof(here));
	check(sender && receiver, "registering: %m");
	send[0].lkey = sender->lkey;
	send[1].lkey = sender->lkey;
	check_ok(rdma_post_readv(connection.client, here, send, 2, IBV_SEND_SIGNALED, (uintptr_t)there, receiver->rkey));
	complete(rdma_get_send_comp, connection.client, here);
	check(!memcmp(here, "0123456789abcdef", 16), "pieces");
	check_ok(rdma_dereg_mr(sender));
	check_ok(rdma_dereg_mr(receiver));
	close_connection();
}

/* What was not received yet ends with the connection. */
static void flushed(void)
{
	struct ibv_mr *receiver;
	struct ibv_wc completion;

	establish(&connection);
	receiver = rdma_reg_msgs(connection.client, here, sizeof(here));
	check(receiver, "rdma_reg_msgs: %m");
	check_ok(rdma_post_recv(connection.client, here, here, sizeof(here), receiver));
	check_ok(rdma_disconnect(connection.client));
	check(rdma_get_recv_comp(connection.client, &completion) == 1, "no completion");
	check(completion.status == IBV_WC_WR_FLUSH_ERR && completion.wr_id == (uintptr_t)here, "%s",
	      ibv_wc_status_str(completion.status));
	check_ok(rdma_dereg_mr(receiver));
	dismantle(&connection);
}

/* Memory that is given back after its id keeps the protection domain only until then. */
static void memory_outlives_the_id(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct resources before = { 0 };

	for (int i = 0; i < 10; i++) {
		struct rdma_cm_id *id = open_client(channel, RDMA_PS_TCP, 7499);
		struct ibv_mr *mr = rdma_reg_msgs(id, here, sizeof(here));

		check(mr, "rdma_reg_msgs: %m");
		check_ok(rdma_destroy_id(id));
		check_ok(rdma_dereg_mr(mr));
		/* The next use of the device finds what is left over. */
		id = open_client(channel, RDMA_PS_TCP, 7499);
		check_ok(rdma_destroy_id(id));
		if (i == 0)
			before = count_resources();
	}
	check_resources(&before);
	rdma_destroy_event_channel(channel);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(messages),
		TEST(inline_message),
		TEST(remote_writes_and_reads),
		TEST(remote_write_without_leave),
		TEST(scattered_messages),
		TEST(flushed),
		TEST(memory_outlives_the_id),
	};

	return RUN_TESTS(tests, argc, argv);
}
