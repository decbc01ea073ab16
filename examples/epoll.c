/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * One thread and one epoll set: connection events, completions and a signal. Takes any number of connections, sends
 * each message back, and ends on SIGTERM or SIGINT. Ask it with client.c.
 * Build: cc epoll.c $(pkg-config --cflags --libs librdmacm)
 * Usage: epoll PORT
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

enum { MESSAGE_SIZE = 64 };

struct peer {
	char in[MESSAGE_SIZE], out[MESSAGE_SIZE];
	struct ibv_mr *region;
};

static int set;

static void end(const char *what)
{
	perror(what);
	exit(1);
}

/* The pointer comes back with what happens at the descriptor. */
static void watch(int fd, void *pointer)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = pointer };

	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) || epoll_ctl(set, EPOLL_CTL_ADD, fd, &event))
		end("watching a descriptor");
}

static int open_signals(void)
{
	sigset_t signals;
	int fd;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	fd = signalfd(-1, &signals, SFD_CLOEXEC);
	if (fd < 0)
		end("signalfd");
	return fd;
}

static void take_connection(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr queues = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct peer *peer = calloc(1, sizeof(*peer));

	if (!peer || rdma_create_qp(id, NULL, &queues))
		end("rdma_create_qp");
	peer->region = rdma_reg_msgs(id, peer, sizeof(*peer));
	if (!peer->region)
		end("rdma_reg_msgs");
	id->context = peer;
	watch(id->recv_cq_channel->fd, id);
	if (ibv_req_notify_cq(id->recv_cq, 0) || rdma_post_recv(id, NULL, peer->in, MESSAGE_SIZE, peer->region))
		end("rdma_post_recv");
	/* A peer that is gone again shows in the events. */
	rdma_accept(id, NULL);
}

static void drop_connection(struct rdma_cm_id *id)
{
	struct peer *peer = id->context;

	rdma_disconnect(id);
	rdma_dereg_mr(peer->region);
	rdma_destroy_qp(id);
	rdma_destroy_id(id);
	free(peer);
}

/* All events that are there. */
static void take_events(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;

	while (!rdma_get_cm_event(channel, &event)) {
		enum rdma_cm_event_type kind = event->event;
		struct rdma_cm_id *id = event->id;

		rdma_ack_cm_event(event);
		if (kind == RDMA_CM_EVENT_CONNECT_REQUEST)
			take_connection(id);
		else if (kind == RDMA_CM_EVENT_DISCONNECTED || kind == RDMA_CM_EVENT_CONNECT_ERROR ||
			 kind == RDMA_CM_EVENT_REJECTED)
			drop_connection(id);
	}
	if (errno != EAGAIN)
		end("rdma_get_cm_event");
}

static void answer(struct rdma_cm_id *id, uint32_t length)
{
	struct peer *peer = id->context;
	struct ibv_wc sent;

	printf("received \"%.*s\"\n", (int)length, peer->in);
	fflush(stdout);
	memcpy(peer->out, peer->in, length);
	/* The last answer has arrived: the peer has sent again. */
	while (ibv_poll_cq(id->send_cq, 1, &sent) > 0)
		;
	rdma_post_recv(id, NULL, peer->in, MESSAGE_SIZE, peer->region);
	rdma_post_send(id, NULL, peer->out, length, peer->region, 0);
}

/* The queue is armed before it is read: what comes later makes an event again. */
static void take_messages(struct rdma_cm_id *id)
{
	struct ibv_wc received;
	struct ibv_cq *queue;
	void *context;

	if (ibv_get_cq_event(id->recv_cq_channel, &queue, &context))
		return;
	ibv_ack_cq_events(queue, 1);
	ibv_req_notify_cq(queue, 0);
	while (ibv_poll_cq(queue, 1, &received) > 0) {
		if (received.status == IBV_WC_SUCCESS)
			answer(id, received.byte_len);
	}
}

static struct rdma_cm_id *open_listener(struct rdma_event_channel *channel, uint16_t port)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct rdma_cm_id *listener;

	if (rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP))
		end("rdma_create_id");
	if (rdma_bind_addr(listener, (struct sockaddr *)&any))
		end("rdma_bind_addr");
	if (rdma_listen(listener, 16))
		end("rdma_listen");
	printf("listening on port %d\n", ntohs(rdma_get_src_port(listener)));
	fflush(stdout);
	return listener;
}

int main(int argc, char **argv)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	int signals;

	if (argc != 2) {
		fprintf(stderr, "usage: %s PORT\n", argv[0]);
		return 2;
	}
	set = epoll_create1(EPOLL_CLOEXEC);
	signals = open_signals();
	channel = rdma_create_event_channel();
	if (!channel)
		end("rdma_create_event_channel");
	listener = open_listener(channel, (uint16_t)atoi(argv[1]));
	watch(channel->fd, channel);
	watch(signals, NULL);
	for (;;) {
		struct epoll_event event;

		if (epoll_wait(set, &event, 1, -1) != 1)
			end("epoll_wait");
		if (!event.data.ptr)
			break;
		if (event.data.ptr == channel)
			take_events(channel);
		else
			take_messages(event.data.ptr);
	}
	rdma_destroy_id(listener);
	rdma_destroy_event_channel(channel);
	return 0;
}
