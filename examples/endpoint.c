/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * The same conversation as server.c and client.c with endpoints, whose calls wait for their result.
 * Build: cc endpoint.c $(pkg-config --cflags --libs librdmacm)
 * Usage: endpoint PORT          waits for a connection
 *        endpoint PORT HOST     connects
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

enum { MESSAGE_SIZE = 64 };

static char message[MESSAGE_SIZE];

static void end(const char *what)
{
	perror(what);
	exit(1);
}

/* An endpoint for the address: a connecting one has a queue pair, a listening one gives its attributes to each request. */
static struct rdma_cm_id *open_endpoint(const char *host, const char *port, int flags)
{
	struct rdma_addrinfo hints = { .ai_flags = flags, .ai_port_space = RDMA_PS_TCP }, *address;
	struct ibv_qp_init_attr queues = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct rdma_cm_id *id;

	if (rdma_getaddrinfo(host, port, &hints, &address))
		end("rdma_getaddrinfo");
	if (rdma_create_ep(&id, address, NULL, &queues))
		end("rdma_create_ep");
	rdma_freeaddrinfo(address);
	return id;
}

static struct ibv_mr *ready_to_receive(struct rdma_cm_id *id)
{
	struct ibv_mr *region = rdma_reg_msgs(id, message, sizeof(message));

	if (!region)
		end("rdma_reg_msgs");
	if (rdma_post_recv(id, NULL, message, sizeof(message), region))
		end("rdma_post_recv");
	return region;
}

static uint32_t receive(struct rdma_cm_id *id)
{
	struct ibv_wc completion;

	if (rdma_get_recv_comp(id, &completion) != 1 || completion.status)
		end("receiving");
	return completion.byte_len;
}

static void send_from(struct rdma_cm_id *id, void *data, size_t length, struct ibv_mr *region)
{
	struct ibv_wc completion;

	if (rdma_post_send(id, NULL, data, length, region, 0))
		end("rdma_post_send");
	if (rdma_get_send_comp(id, &completion) != 1 || completion.status)
		end("sending");
}

static void serve(const char *port)
{
	struct rdma_cm_id *listener = open_endpoint(NULL, port, RAI_PASSIVE);
	struct rdma_cm_id *id;

	if (rdma_listen(listener, 1))
		end("rdma_listen");
	printf("listening on port %s\n", port);
	fflush(stdout);
	if (rdma_get_request(listener, &id))
		end("rdma_get_request");
	struct ibv_mr *region = ready_to_receive(id);
	if (rdma_accept(id, NULL))
		end("rdma_accept");

	uint32_t length = receive(id);
	printf("received \"%.*s\"\n", (int)length, message);
	send_from(id, message, length, region);

	rdma_disconnect(id);
	rdma_dereg_mr(region);
	rdma_destroy_ep(id);
	rdma_destroy_ep(listener);
}

static void ask(const char *host, const char *port)
{
	static char question[] = "hello from an endpoint";
	struct rdma_cm_id *id = open_endpoint(host, port, 0);
	struct ibv_mr *in = ready_to_receive(id);
	struct ibv_mr *out = rdma_reg_msgs(id, question, sizeof(question));

	if (!out)
		end("rdma_reg_msgs");
	if (rdma_connect(id, NULL))
		end("rdma_connect");
	send_from(id, question, strlen(question), out);
	printf("answer \"%.*s\"\n", (int)receive(id), message);

	rdma_disconnect(id);
	rdma_dereg_mr(out);
	rdma_dereg_mr(in);
	rdma_destroy_ep(id);
}

int main(int argc, char **argv)
{
	if (argc == 2) {
		serve(argv[1]);
	} else if (argc == 3) {
		ask(argv[2], argv[1]);
	} else {
		fprintf(stderr, "usage: %s PORT [HOST]\n", argv[0]);
		return 2;
	}
	return 0;
}
