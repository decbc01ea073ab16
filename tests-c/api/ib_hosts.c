/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processes on two hosts of a subnet: a server in the south, clients in the north. */
#include "subnet.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PORT = 7471, SIZE = 4096, CLIENTS = 5 };

/* The server tells through here that it listens, and is told to end. */
static int ready[2], over[2];
static struct sockaddr *place;
static int clients = 1;

static struct sockaddr *ip_address(const char *text)
{
	static struct sockaddr_in6 in6;
	struct sockaddr_in *in = (struct sockaddr_in *)&in6;

	memset(&in6, 0, sizeof(in6));
	if (strchr(text, ':')) {
		in6.sin6_family = AF_INET6;
		in6.sin6_port = htons(PORT);
		check(inet_pton(AF_INET6, text, &in6.sin6_addr) == 1, "address %s", text);
	} else {
		in->sin_family = AF_INET;
		in->sin_port = htons(PORT);
		check(inet_pton(AF_INET, text, &in->sin_addr) == 1, "address %s", text);
	}
	return (struct sockaddr *)&in6;
}

static struct rdma_cm_id *listen_in_the_south(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *listener = open_id(channel);

	check_ok(rdma_bind_addr(listener, place));
	check(listener->verbs && !strcmp(ibv_get_device_name(listener->verbs->device), south.device), "device");
	check_ok(rdma_listen(listener, 0));
	check(write(ready[1], "", 1) == 1, "pipe: %m");
	return listener;
}

static void complete(int (*get)(struct rdma_cm_id *, struct ibv_wc *), struct rdma_cm_id *id)
{
	struct ibv_wc completion;

	check(get(id, &completion) == 1, "no completion");
	check(completion.status == IBV_WC_SUCCESS, "%s", ibv_wc_status_str(completion.status));
}

/* What a server lets its client do with its memory. */
struct offer {
	uint64_t address;
	uint32_t key;
};

/* Offers memory, takes a message that comes when it is written to, and answers. */
static void serve(struct rdma_event_channel *channel, struct rdma_cm_id *id)
{
	static char message[SIZE], memory[SIZE];
	struct ibv_mr *region, *target;
	struct offer offer;
	struct rdma_conn_param param = { .private_data = &offer, .private_data_len = sizeof(offer) };

	create_qp(id);
	region = rdma_reg_msgs(id, message, sizeof(message));
	target = rdma_reg_write(id, memory, sizeof(memory));
	check(region && target, "registering: %m");
	offer = (struct offer){ (uintptr_t)memory, target->rkey };
	check_ok(rdma_post_recv(id, NULL, message, sizeof(message), region));
	check_ok(rdma_accept(id, &param));
	check(!pass_event(channel, RDMA_CM_EVENT_ESTABLISHED, id), "status");
	complete(rdma_get_recv_comp, id);
	check(!strcmp(message, "from the north") && !memcmp(memory, message, SIZE), "message '%s'", message);
	strcpy(message, "from the south");
	check_ok(rdma_post_send(id, NULL, message, sizeof(message), region, IBV_SEND_SIGNALED));
	complete(rdma_get_send_comp, id);
	pass_event(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	check_ok(rdma_disconnect(id));
	check_ok(rdma_dereg_mr(region));
	check_ok(rdma_dereg_mr(target));
	rdma_destroy_qp(id);
	check_ok(rdma_destroy_id(id));
}

static void server(void)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;

	channel = open_channel();
	listener = listen_in_the_south(channel);
	for (int i = 0; i < clients; i++) {
		struct rdma_event_channel *own = open_channel();
		struct rdma_cm_id *id = take_request(channel, listener);

		/* Other clients may be asking meanwhile. */
		check_ok(rdma_migrate_id(id, own));
		serve(own, id);
		rdma_destroy_event_channel(own);
	}
	check_ok(rdma_destroy_id(listener));
	rdma_destroy_event_channel(channel);
}

/* From the address to the end of a connection, with data in both directions. */
static void client(void)
{
	static char message[SIZE], answer[SIZE];
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct rdma_cm_event *event;
	struct ibv_mr *region, *target;
	struct offer offer;

	channel = open_channel();
	id = open_id(channel);
	resolve_to(id, place);
	check(!strcmp(ibv_get_device_name(id->verbs->device), north.device), "device");
	create_qp(id);
	region = rdma_reg_msgs(id, message, sizeof(message));
	target = rdma_reg_msgs(id, answer, sizeof(answer));
	check(region && target, "registering: %m");
	check_ok(rdma_post_recv(id, NULL, answer, sizeof(answer), target));
	check_ok(rdma_connect(id, NULL));
	event = next_event(channel, RDMA_CM_EVENT_ESTABLISHED, id);
	memcpy(&offer, event->param.conn.private_data, sizeof(offer));
	check_ok(rdma_ack_cm_event(event));
	strcpy(message, "from the north");
	check_ok(rdma_post_write(id, NULL, message, sizeof(message), region, 0, offer.address, offer.key));
	check_ok(rdma_post_send(id, NULL, message, sizeof(message), region, IBV_SEND_SIGNALED));
	complete(rdma_get_send_comp, id);
	complete(rdma_get_recv_comp, id);
	check(!strcmp(answer, "from the south"), "answer '%s'", answer);
	check_ok(rdma_disconnect(id));
	pass_event(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	check_ok(rdma_dereg_mr(region));
	check_ok(rdma_dereg_mr(target));
	rdma_destroy_qp(id);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

/* Returns when it listens. */
static pid_t start_server(void (*run)(void), struct sockaddr *there)
{
	char byte;
	pid_t child;

	need_subnet();
	place = there;
	check(!pipe(ready) && !pipe(over), "pipe: %m");
	child = start_process_at(&south, run);
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1) {
		end_process(child);
		fail("the server has ended");
	}
	return child;
}

static void meet(struct sockaddr *there)
{
	pid_t child = start_server(server, there);

	client();
	end_process(child);
}

static void by_ipv4(void)
{
	meet(ip_address(south.ip));
}

static void by_ipv6(void)
{
	meet(ip_address(south.ip6));
}

static void by_gid(void)
{
	meet(ib_address(&south, PORT));
}

static void by_gid_in_another_partition(void)
{
	meet(ib_address_in(&south, PORT, PARTITION));
}

static void several_clients(void)
{
	pid_t child, others[CLIENTS];

	clients = CLIENTS;
	child = start_server(server, ip_address(south.ip));
	for (int i = 0; i < CLIENTS; i++)
		others[i] = start_process(client);
	for (int i = 0; i < CLIENTS; i++)
		end_process(others[i]);
	end_process(child);
}

static void accept_and_wait(void)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener, *id;
	char byte;

	channel = open_channel();
	listener = listen_in_the_south(channel);
	id = take_request(channel, listener);
	create_qp(id);
	check_ok(rdma_accept(id, NULL));
	/* Until it is killed. */
	check(read(over[0], &byte, 1) == 1, "pipe: %m");
}

static void killed_server(void)
{
	pid_t child = start_server(accept_and_wait, ip_address(south.ip));
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_id(channel);

	resolve_to(id, place);
	create_qp(id);
	check_ok(rdma_connect(id, NULL));
	check(!pass_event(channel, RDMA_CM_EVENT_ESTABLISHED, id), "status");
	check(!kill(child, SIGKILL), "kill: %m");
	pass_event(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	check_ok(rdma_disconnect(id));
	rdma_destroy_qp(id);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void listen_and_wait(void)
{
	char byte;

	listen_in_the_south(open_channel());
	check(read(over[0], &byte, 1) == 1, "pipe: %m");
}

/* The port is another one; and the host of the asking side has a listener there, which is not meant. */
static void refused(void)
{
	struct rdma_conn_param param = { 0 };
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id, *listener;
	struct sockaddr_in elsewhere;
	pid_t child = start_server(listen_and_wait, ip_address(south.ip));
	int status;

	memcpy(&elsewhere, place, sizeof(elsewhere));
	elsewhere.sin_port = htons(PORT + 1);
	channel = open_channel();
	listener = open_id(channel);
	check_ok(rdma_bind_addr(listener, device_address(AF_INET, PORT + 1)));
	check_ok(rdma_listen(listener, 0));
	id = open_id(channel);
	resolve_to(id, (struct sockaddr *)&elsewhere);
	create_qp(id);
	check_ok(rdma_connect(id, &param));
	status = pass_event(channel, RDMA_CM_EVENT_REJECTED, id);
	check(status == 8, "status %d", status);
	rdma_destroy_qp(id);
	check_ok(rdma_destroy_id(id));
	check_ok(rdma_destroy_id(listener));
	rdma_destroy_event_channel(channel);
	check(write(over[1], "", 1) == 1, "pipe: %m");
	end_process(child);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(by_ipv4),
		TEST(by_ipv6),
		TEST(by_gid),
		TEST(by_gid_in_another_partition),
		TEST(several_clients),
		TEST(killed_server),
		TEST(refused),
	};

	return RUN_TESTS(tests, argc, argv);
}
