/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What fails on this side: queue pairs that cannot be moved, and descriptors that are not there. */
#include "connection.h"

#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* From this state no connection begins. */
static void break_queue_pair(struct rdma_cm_id *id)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	int error = ibv_modify_qp(id->qp, &attr, IBV_QP_STATE);

	check(!error, "ibv_modify_qp: %s", errno_name(error));
}

/* An event whose processing fails says why: a negative errno. What the kernel says of the connection later is no news. */
static void an_answer_that_cannot_be_used(void)
{
	struct connection connection = { 0 };
	struct rdma_cm_event *event;

	prepare(&connection);
	request(&connection, NULL);
	create_qp(connection.server);
	break_queue_pair(connection.client);
	check_ok(rdma_accept(connection.server, NULL));
	event = next_event(connection.client_channel, RDMA_CM_EVENT_CONNECT_ERROR, connection.client);
	check(event->status == -EINVAL, "status %d", event->status);
	check_ok(rdma_ack_cm_event(event));
	check_ok(rdma_disconnect(connection.server));
	sleep_ms(500);
	check_empty(connection.client_channel);
	dismantle(&connection);
}

static void *accept_one(void *arg)
{
	struct connection *connection = arg;

	connection->server = take_request(connection->server_channel, connection->listener);
	create_qp(connection->server);
	check_ok(rdma_accept(connection->server, NULL));
	return NULL;
}

static void an_answer_that_cannot_be_waited_for(void)
{
	struct connection connection = { 0 };
	pthread_t server;

	prepare(&connection);
	check_ok(rdma_migrate_id(connection.client, NULL));
	break_queue_pair(connection.client);
	server = start_thread(accept_one, &connection);
	check_fails(rdma_connect(connection.client, NULL), EINVAL);
	check(connection.client->event && connection.client->event->event == RDMA_CM_EVENT_CONNECT_ERROR, "event");
	join_thread(server);
	dismantle(&connection);
}

/* The kernel is not asked then, and the request can be answered otherwise. */
static void accepting_with_a_broken_queue_pair(void)
{
	struct connection connection = { 0 };

	prepare(&connection);
	request(&connection, NULL);
	create_qp(connection.server);
	break_queue_pair(connection.server);
	check_fails(rdma_accept(connection.server, NULL), EINVAL);
	check_empty(connection.client_channel);
	rdma_destroy_qp(connection.server);
	establish(&connection);
	disconnect(&connection);
	dismantle(&connection);
}

/* The connection ends for the other side, whatever state the queue pair is in. */
static void disconnecting_with_a_broken_queue_pair(void)
{
	struct connection connection = { 0 };

	establish(&connection);
	break_queue_pair(connection.client);
	disconnect(&connection);
	dismantle(&connection);
}

static struct rlimit usual;

static void no_more_descriptors(void)
{
	struct rlimit none;
	int lowest = dup(0);

	check(lowest >= 0 && !close(lowest), "dup: %m");
	check(!getrlimit(RLIMIT_NOFILE, &usual), "getrlimit: %m");
	none = (struct rlimit){ .rlim_cur = (rlim_t)lowest, .rlim_max = usual.rlim_max };
	check(!setrlimit(RLIMIT_NOFILE, &none), "setrlimit: %m");
}

static void descriptors_again(void)
{
	check(!setrlimit(RLIMIT_NOFILE, &usual), "setrlimit: %m");
}

static void without_descriptors(void)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_client(channel, RDMA_PS_TCP, 7499), *other = NULL;

	no_more_descriptors();
	errno = 0;
	check(!rdma_create_event_channel() && errno == EMFILE, "channel: %s", errno_name(errno));
	check_fails(rdma_create_id(NULL, &other, NULL, RDMA_PS_TCP), EMFILE);
	check_fails(rdma_migrate_id(id, NULL), EMFILE);
	check(id->channel == channel, "channel");
	check_fails(rdma_create_qp(id, NULL, &attr), EMFILE);
	check(!id->qp && !id->send_cq && !id->recv_cq && !id->recv_cq_channel, "something is left");
	/* What needs no descriptor works. */
	check_ok(rdma_create_id(channel, &other, NULL, RDMA_PS_TCP));
	check_ok(rdma_bind_addr(other, device_address(AF_INET, 0)));
	check_ok(rdma_destroy_id(other));
	descriptors_again();

	create_qp(id);
	rdma_destroy_qp(id);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

/* The device of an address cannot be opened: the address is no use, and the program is told. */
static void without_a_descriptor_for_the_device(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_id(channel);
	struct rdma_cm_event *event;

	no_more_descriptors();
	check_ok(rdma_resolve_addr(id, NULL, device_address(AF_INET, 7499), 2000));
	event = next_event(channel, RDMA_CM_EVENT_ADDR_ERROR, id);
	check(event->status == -EMFILE, "status %d", event->status);
	check_ok(rdma_ack_cm_event(event));
	check(!id->verbs, "a device");
	descriptors_again();
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static int ports[2], questions[2];

static void tell(int fd, uint16_t value)
{
	check(write(fd, &value, sizeof(value)) == sizeof(value), "write: %m");
}

static uint16_t hear(int fd)
{
	uint16_t value;

	check(read(fd, &value, sizeof(value)) == sizeof(value), "the other process is gone");
	return value;
}

/* Listens everywhere, so that it meets the device with the first request: for which it has no descriptor. */
static void serve_without_descriptors(void)
{
	struct sockaddr_in everywhere = { .sin_family = AF_INET };
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;

	start_diagnostics("error");
	channel = open_channel();
	listener = open_id(channel);
	check_ok(rdma_bind_addr(listener, (struct sockaddr *)&everywhere));
	check_ok(rdma_listen(listener, 1));
	set_nonblocking(channel->fd);
	no_more_descriptors();
	tell(ports[1], port_of(listener));
	/* The client has asked. */
	hear(questions[0]);
	check_empty(channel);
	check_diagnosed("refusing a connection request, the 1. in this process");
	descriptors_again();
	tell(ports[1], 0);
	check_ok(rdma_destroy_id(take_request(channel, listener)));
	check_ok(rdma_destroy_id(listener));
	rdma_destroy_event_channel(channel);
}

/* A request for which there is no room is refused, and the listener goes on. */
static void a_request_without_a_descriptor_for_the_device(void)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct pollfd answer;
	uint16_t port;
	pid_t server;

	check(!pipe(ports) && !pipe(questions), "pipe: %m");
	server = start_process(serve_without_descriptors);
	port = hear(ports[0]);
	channel = open_channel();
	id = open_client(channel, RDMA_PS_TCP, port);
	create_qp(id);
	check_ok(rdma_connect(id, NULL));
	/* The server learns of it by taking its next event. */
	sleep_ms(500);
	tell(questions[1], 0);
	hear(ports[0]);
	answer = (struct pollfd){ .fd = channel->fd, .events = POLLIN };
	check(poll(&answer, 1, 15000) == 1, "the request is not answered");
	observe("status %d", pass_event(channel, RDMA_CM_EVENT_REJECTED, id));
	rdma_destroy_qp(id);
	check_ok(rdma_destroy_id(id));
	id = open_client(channel, RDMA_PS_TCP, port);
	create_qp(id);
	check_ok(rdma_connect(id, NULL));
	pass_event(channel, RDMA_CM_EVENT_REJECTED, id);
	rdma_destroy_qp(id);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
	end_process(server);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(an_answer_that_cannot_be_used, .needs = "handshake"),
		TEST(an_answer_that_cannot_be_waited_for, .needs = "handshake migrate_id"),
		TEST(accepting_with_a_broken_queue_pair),
		TEST(disconnecting_with_a_broken_queue_pair),
		TEST(without_descriptors),
		TEST(without_a_descriptor_for_the_device),
		SLOW_TEST(a_request_without_a_descriptor_for_the_device, 60),
	};

	return RUN_TESTS(tests, argc, argv);
}
