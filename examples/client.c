/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * Connects, sends a message and prints what comes back: the active side of server.c.
 * Build: cc client.c $(pkg-config --cflags --libs librdmacm)
 * Usage: client HOST PORT
 */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

enum { TIMEOUT_MS = 2000, MESSAGE_SIZE = 64 };

static void end(const char *what)
{
	perror(what);
	exit(1);
}

/* Each step is answered by an event. */
static void expect(struct rdma_event_channel *channel, enum rdma_cm_event_type kind)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(channel, &event))
		end("rdma_get_cm_event");
	if (event->event != kind) {
		fprintf(stderr, "%s (status %d) instead of %s\n", rdma_event_str(event->event), event->status,
			rdma_event_str(kind));
		exit(1);
	}
	rdma_ack_cm_event(event);
}

static void find_the_way(struct rdma_event_channel *channel, struct rdma_cm_id *id, const char *host, const char *port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *address;
	int error = getaddrinfo(host, port, &hints, &address);

	if (error) {
		fprintf(stderr, "%s: %s\n", host, gai_strerror(error));
		exit(1);
	}
	if (rdma_resolve_addr(id, NULL, address->ai_addr, TIMEOUT_MS))
		end("rdma_resolve_addr");
	freeaddrinfo(address);
	expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(id, TIMEOUT_MS))
		end("rdma_resolve_route");
	expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static void talk(struct rdma_event_channel *channel, struct rdma_cm_id *id)
{
	static char question[MESSAGE_SIZE] = "hello over RDMA", answer[MESSAGE_SIZE];
	struct ibv_qp_init_attr queues = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct rdma_conn_param parameters = { .retry_count = 7, .rnr_retry_count = 7 };
	struct ibv_wc completion;

	if (rdma_create_qp(id, NULL, &queues))
		end("rdma_create_qp");
	struct ibv_mr *out = rdma_reg_msgs(id, question, sizeof(question));
	struct ibv_mr *in = rdma_reg_msgs(id, answer, sizeof(answer));
	if (!out || !in)
		end("rdma_reg_msgs");
	if (rdma_post_recv(id, NULL, answer, sizeof(answer), in))
		end("rdma_post_recv");
	if (rdma_connect(id, &parameters))
		end("rdma_connect");
	expect(channel, RDMA_CM_EVENT_ESTABLISHED);

	if (rdma_post_send(id, NULL, question, strlen(question), out, 0))
		end("rdma_post_send");
	if (rdma_get_send_comp(id, &completion) != 1 || completion.status)
		end("sending");
	if (rdma_get_recv_comp(id, &completion) != 1 || completion.status)
		end("receiving");
	printf("answer \"%.*s\"\n", (int)strnlen(answer, completion.byte_len), answer);

	if (rdma_disconnect(id))
		end("rdma_disconnect");
	expect(channel, RDMA_CM_EVENT_DISCONNECTED);
	rdma_dereg_mr(in);
	rdma_dereg_mr(out);
	rdma_destroy_qp(id);
}

int main(int argc, char **argv)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;

	if (argc != 3) {
		fprintf(stderr, "usage: %s HOST PORT\n", argv[0]);
		return 2;
	}
	channel = rdma_create_event_channel();
	if (!channel)
		end("rdma_create_event_channel");
	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		end("rdma_create_id");
	find_the_way(channel, id, argv[1], argv[2]);
	talk(channel, id);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	return 0;
}
