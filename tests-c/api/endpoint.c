/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rdma_create_ep, rdma_destroy_ep and rdma_get_request. */
#include "connection.h"

#include <arpa/inet.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static struct rdma_cm_id *create_endpoint(uint16_t port, int flags, struct ibv_qp_init_attr *attr)
{
	struct rdma_addrinfo *list = endpoint_addresses(port, flags);
	struct rdma_cm_id *id = NULL;

	check_ok(rdma_create_ep(&id, list, NULL, attr));
	check(id && id->verbs && id->channel, "endpoint");
	rdma_freeaddrinfo(list);
	return id;
}

static struct rdma_cm_id *listening_endpoint(struct ibv_qp_init_attr *attr)
{
	struct rdma_cm_id *id = create_endpoint(0, RAI_PASSIVE, attr);

	check_ok(rdma_listen(id, 0));
	check(port_of(id), "no port");
	return id;
}

/* The client: connects to the port, sends a message if it has a queue pair, and ends the connection. */
static void *run_client(void *arg)
{
	const uint16_t *port = arg;
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct rdma_cm_id *id = create_endpoint(*port, 0, &attr);
	char message[16] = "an endpoint";
	struct ibv_mr *mr = rdma_reg_msgs(id, message, sizeof(message));
	struct ibv_wc completion;

	check(mr, "rdma_reg_msgs: %m");
	check(id->qp && id->send_cq && is_route_resolved(id), "not ready");
	check_ok(rdma_connect(id, NULL));
	check_ok(rdma_post_send(id, NULL, message, sizeof(message), mr, IBV_SEND_SIGNALED));
	check(rdma_get_send_comp(id, &completion) == 1 && completion.status == IBV_WC_SUCCESS, "send");
	check_ok(rdma_disconnect(id));
	check_ok(rdma_dereg_mr(mr));
	rdma_destroy_ep(id);
	return NULL;
}

static void receive_and_end(struct rdma_cm_id *id)
{
	char message[16];
	struct ibv_mr *mr = rdma_reg_msgs(id, message, sizeof(message));
	struct pollfd client_ends = { .fd = id->channel->fd, .events = POLLIN };
	struct ibv_wc completion;

	check(mr, "rdma_reg_msgs: %m");
	check_ok(rdma_post_recv(id, NULL, message, sizeof(message), mr));
	check_ok(rdma_accept(id, NULL));
	check(rdma_get_recv_comp(id, &completion) == 1 && completion.status == IBV_WC_SUCCESS, "receive");
	check(!strcmp(message, "an endpoint"), "received '%s'", message);
	/* The device may not have acknowledged the message yet, and would not do so on a queue pair that has ended. */
	check(poll(&client_ends, 1, -1) == 1, "poll: %m");
	check_ok(rdma_disconnect(id));
	check_ok(rdma_dereg_mr(mr));
	rdma_destroy_ep(id);
}

static void both_sides(void)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct rdma_cm_id *listener = listening_endpoint(&attr), *id = NULL;
	uint16_t port = port_of(listener);
	pthread_t client;

	check(!listener->qp && !listener->event, "listener");
	client = start_thread(run_client, &port);
	check_ok(rdma_get_request(listener, &id));
	check(id && id->qp && id->send_cq && id->recv_cq, "no queue pair");
	check(id->event && id->event->event == RDMA_CM_EVENT_CONNECT_REQUEST, "event");
	check(id->event->listen_id == listener && id->event->id == id && !listener->event, "ids");
	check(id->channel && id->channel != listener->channel, "channel");
	check(id->pd == listener->pd && id->qp->pd == id->pd, "domain");
	receive_and_end(id);
	join_thread(client);
	rdma_destroy_ep(listener);
}

/* Of the caller's struct only the sizes are written to. */
static void attributes_are_left_alone(void)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct rdma_cm_id *id = create_endpoint(7499, 0, &attr);

	check(!attr.send_cq && !attr.recv_cq, "queues are written back");
	rdma_destroy_ep(id);
}

/* Without attributes the program makes the queue pairs. */
static void without_attributes(void)
{
	struct rdma_cm_id *listener = listening_endpoint(NULL), *id = NULL;
	uint16_t port = port_of(listener);
	pthread_t client;

	client = start_thread(run_client, &port);
	check_ok(rdma_get_request(listener, &id));
	check(!id->qp && !id->send_cq, "a queue pair");
	create_qp(id);
	receive_and_end(id);
	join_thread(client);
	rdma_destroy_ep(listener);
}

static void client_without_attributes(void)
{
	struct rdma_cm_id *id = create_endpoint(7499, 0, NULL);

	check(!id->qp && !id->send_cq && is_route_resolved(id), "endpoint");
	check(rdma_get_dst_port(id) == htons(7499), "port");
	create_qp(id);
	check_fails(rdma_connect(id, NULL), ECONNREFUSED);
	rdma_destroy_ep(id);
}

/* A listener serves one client after another. */
static void one_after_another(void)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct rdma_cm_id *listener = listening_endpoint(&attr), *id;
	uint16_t port = port_of(listener);
	struct resources before = { 0 };

	for (int i = 0; i < 4; i++) {
		pthread_t client;

		if (i == 1)
			before = count_resources();
		client = start_thread(run_client, &port);
		check_ok(rdma_get_request(listener, &id));
		receive_and_end(id);
		join_thread(client);
	}
	check_resources(&before);
	rdma_destroy_ep(listener);
}

static void with_a_domain_of_the_program(void)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct rdma_addrinfo *list = endpoint_addresses(7499, 0);
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *other = open_bound_id(channel), *id = NULL;
	struct ibv_pd *pd = ibv_alloc_pd(other->verbs);

	check(pd, "ibv_alloc_pd: %m");
	check_ok(rdma_create_ep(&id, list, pd, &attr));
	check(id->qp->pd == pd && id->pd == pd, "domain");
	rdma_destroy_ep(id);
	check_ok(ibv_dealloc_pd(pd));
	rdma_freeaddrinfo(list);
	check_ok(rdma_destroy_id(other));
	rdma_destroy_event_channel(channel);
}

static void *destroy_endpoint(void *id)
{
	rdma_destroy_ep(id);
	return NULL;
}

/* A request outlives its listener. */
static void listener_destroyed_before_accepting(void)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct rdma_cm_id *listener = listening_endpoint(&attr), *id = NULL;
	uint16_t port = port_of(listener);
	pthread_t client = start_thread(run_client, &port);
	pthread_t destroyer;

	check_ok(rdma_get_request(listener, &id));
	destroyer = start_thread(destroy_endpoint, listener);
	check(thread_ends(destroyer, 5000), "rdma_destroy_ep of the listener hangs");
	check(id->event && id->event->event == RDMA_CM_EVENT_CONNECT_REQUEST, "event");
	receive_and_end(id);
	join_thread(client);
}

static int port_pipe[2];

/* Is refused by a server that has no descriptors left, and served later. */
static void client_process(void)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct rdma_cm_id *id;
	uint16_t port;

	check(read(port_pipe[0], &port, sizeof(port)) == sizeof(port), "read: %m");
	id = create_endpoint(port, 0, &attr);
	check_fails(rdma_connect(id, NULL), ECONNREFUSED);
	rdma_destroy_ep(id);
	run_client(&port);
}

static void without_descriptors(void)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct rdma_cm_id *listener, *id = NULL;
	struct rlimit usual, none;
	uint16_t port;
	pid_t client;
	int lowest;

	check(!pipe(port_pipe), "pipe: %m");
	client = start_process(client_process);
	listener = listening_endpoint(&attr);
	port = port_of(listener);
	check(!getrlimit(RLIMIT_NOFILE, &usual), "getrlimit: %m");
	lowest = dup(0);
	check(lowest >= 0 && !close(lowest), "dup: %m");
	none = (struct rlimit){ .rlim_cur = (rlim_t)lowest, .rlim_max = usual.rlim_max };
	check(!setrlimit(RLIMIT_NOFILE, &none), "setrlimit: %m");
	check(write(port_pipe[1], &port, sizeof(port)) == sizeof(port), "write: %m");
	check_fails(rdma_get_request(listener, &id), EMFILE);
	check(!id, "an id");
	check(!setrlimit(RLIMIT_NOFILE, &usual), "setrlimit: %m");

	check_ok(rdma_get_request(listener, &id));
	receive_and_end(id);
	end_process(client);
	rdma_destroy_ep(listener);
}

static void request_behind_a_user_event(void)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct rdma_cm_id *listener = listening_endpoint(&attr), *id = NULL;
	uint16_t port = port_of(listener);
	pthread_t client;

	write_event(listener, -EIO, 5);
	client = start_thread(run_client, &port);
	check_ok(rdma_get_request(listener, &id));
	take_event(listener->channel, listener, -EIO, 5);
	receive_and_end(id);
	join_thread(client);
	rdma_destroy_ep(listener);
}

/* After moving to a channel the program asks the channel. */
static void moved_to_a_channel(void)
{
	struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);
	struct rdma_cm_id *listener = listening_endpoint(&attr), *id = NULL;
	struct rdma_event_channel *channel = open_channel();
	uint16_t port = port_of(listener);
	pthread_t client;

	check_ok(rdma_migrate_id(listener, channel));
	check_fails(rdma_get_request(listener, &id), EINVAL);
	client = start_thread(run_client, &port);
	id = take_request(channel, listener);
	check(id->channel == channel, "channel");
	/* Only rdma_get_request makes queue pairs. */
	check(!id->qp, "a queue pair");
	create_qp(id);
	check_ok(rdma_migrate_id(id, NULL));
	receive_and_end(id);
	join_thread(client);
	rdma_destroy_ep(listener);
	rdma_destroy_event_channel(channel);
}

/* An endpoint is an id: all of it goes with rdma_destroy_id, too. */
static void destroyed_as_an_id(void)
{
	struct resources before = { 0 };
	struct rdma_cm_id *id;

	for (int i = 0; i < 4; i++) {
		struct ibv_qp_init_attr attr = small_qp(IBV_QPT_RC);

		if (i == 1)
			before = count_resources();
		id = listening_endpoint(&attr);
		check_ok(rdma_destroy_id(id));
		id = create_endpoint(7499, 0, &attr);
		rdma_destroy_qp(id);
		check_ok(rdma_destroy_id(id));
	}
	check_resources(&before);
}

static void with_a_shared_queue(void)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct resources before = { 0 };

	for (int i = 0; i < 3; i++) {
		struct rdma_cm_id *id;

		if (i == 1)
			before = count_resources();
		id = create_endpoint(7499, 0, NULL);
		check_ok(rdma_create_srq(id, NULL, &srq));
		create_qp(id);
		check(id->qp->srq == id->srq, "shared queue");
		rdma_destroy_ep(id);
	}
	check_resources(&before);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(both_sides, .needs = "migrate_id"),
		TEST(attributes_are_left_alone),
		TEST(without_attributes, .needs = "migrate_id"),
		TEST(client_without_attributes),
		TEST(one_after_another, .needs = "migrate_id"),
		TEST(with_a_domain_of_the_program),
		TEST(listener_destroyed_before_accepting, .needs = "migrate_id"),
		SLOW_TEST(without_descriptors, 15, .needs = "migrate_id"),
		TEST(request_behind_a_user_event, .needs = "migrate_id"),
		TEST(moved_to_a_channel, .needs = "migrate_id"),
		TEST(destroyed_as_an_id),
		TEST(with_a_shared_queue),
	};

	return RUN_TESTS(tests, argc, argv);
}
