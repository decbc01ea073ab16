/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * Waits for one connection, takes a message and sends it back: the passive side of client.c.
 * Build: cc server.c $(pkg-config --cflags --libs librdmacm)
 * Usage: server PORT
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

enum { MESSAGE_SIZE = 64 };

static void end(const char *what)
{
	perror(what);
	exit(1);
}

/* The next event has to be of this kind. Its id stays valid; the rest of it goes with the acknowledgement. */
static struct rdma_cm_id *expect(struct rdma_event_channel *channel, enum rdma_cm_event_type kind)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(channel, &event))
		end("rdma_get_cm_event");
	if (event->event != kind) {
		fprintf(stderr, "%s (status %d) instead of %s\n", rdma_event_str(event->event), event->status,
			rdma_event_str(kind));
		exit(1);
	}
	struct rdma_cm_id *id = event->id;

	rdma_ack_cm_event(event);
	return id;
}

static void serve(struct rdma_event_channel *channel, struct rdma_cm_id *id)
{
	static char message[MESSAGE_SIZE];
	struct ibv_qp_init_attr queues = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct ibv_wc completion;

	/* Without completion queues in the attributes the library makes some. */
	if (rdma_create_qp(id, NULL, &queues))
		end("rdma_create_qp");
	struct ibv_mr *region = rdma_reg_msgs(id, message, sizeof(message));
	if (!region)
		end("rdma_reg_msgs");
	/* Before the peer can send anything. */
	if (rdma_post_recv(id, NULL, message, sizeof(message), region))
		end("rdma_post_recv");
	if (rdma_accept(id, NULL))
		end("rdma_accept");
	expect(channel, RDMA_CM_EVENT_ESTABLISHED);

	if (rdma_get_recv_comp(id, &completion) != 1 || completion.status)
		end("receiving");
	printf("received \"%.*s\"\n", (int)strnlen(message, completion.byte_len), message);
	if (rdma_post_send(id, NULL, message, completion.byte_len, region, 0))
		end("rdma_post_send");
	if (rdma_get_send_comp(id, &completion) != 1 || completion.status)
		end("sending");

	expect(channel, RDMA_CM_EVENT_DISCONNECTED);
	rdma_disconnect(id);
	rdma_dereg_mr(region);
	rdma_destroy_qp(id);
	rdma_destroy_id(id);
}

int main(int argc, char **argv)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT };
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;

	if (argc != 2) {
		fprintf(stderr, "usage: %s PORT\n", argv[0]);
		return 2;
	}
	any.sin6_port = htons((uint16_t)atoi(argv[1]));
	channel = rdma_create_event_channel();
	if (!channel)
		end("rdma_create_event_channel");
	if (rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP))
		end("rdma_create_id");
	/* IPv4, too. */
	if (rdma_bind_addr(listener, (struct sockaddr *)&any))
		end("rdma_bind_addr");
	if (rdma_listen(listener, 1))
		end("rdma_listen");
	printf("listening on port %d\n", ntohs(rdma_get_src_port(listener)));
	fflush(stdout);

	serve(channel, expect(channel, RDMA_CM_EVENT_CONNECT_REQUEST));
	rdma_destroy_id(listener);
	rdma_destroy_event_channel(channel);
	return 0;
}
