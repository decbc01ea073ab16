/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ids without a channel of the program: each call waits for its own answer, which is id->event afterwards. */
#include "connection.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

/* The other side, a thread with a channel: it answers one request in one of these ways. */
enum answer { ACCEPT, REFUSE, ACCEPT_AND_DISCONNECT };

struct peer {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	enum answer answer;
	uint16_t port;
	pthread_t thread;
};

static void *answer_one(void *arg)
{
	struct peer *peer = arg;
	struct rdma_cm_id *id = take_request(peer->channel, peer->listener);

	/* The other side is to be found waiting. */
	sleep_ms(100);
	if (peer->answer == REFUSE) {
		check_ok(rdma_reject(id, NULL, 0));
	} else {
		create_qp(id);
		check_ok(rdma_accept(id, NULL));
		pass_event(peer->channel, RDMA_CM_EVENT_ESTABLISHED, id);
		if (peer->answer == ACCEPT_AND_DISCONNECT)
			check_ok(rdma_disconnect(id));
		pass_event(peer->channel, RDMA_CM_EVENT_DISCONNECTED, id);
		sleep_ms(100);
		if (peer->answer == ACCEPT)
			check_ok(rdma_disconnect(id));
		rdma_destroy_qp(id);
	}
	check_ok(rdma_destroy_id(id));
	return NULL;
}

static void start_peer(struct peer *peer, enum answer answer)
{
	peer->channel = open_channel();
	peer->listener = open_listener(peer->channel, RDMA_PS_TCP);
	peer->answer = answer;
	peer->port = port_of(peer->listener);
	peer->thread = start_thread(answer_one, peer);
}

static void end_peer(struct peer *peer)
{
	join_thread(peer->thread);
	check_ok(rdma_destroy_id(peer->listener));
	rdma_destroy_event_channel(peer->channel);
}

/* An id that is ready to connect to a new peer. */
static struct rdma_cm_id *open_towards(struct peer *peer, enum answer answer)
{
	struct rdma_cm_id *id = open_waiting(RDMA_PS_TCP);

	start_peer(peer, answer);
	resolve_waiting(id, peer->port);
	create_qp(id);
	return id;
}

static void connected(void)
{
	struct peer peer;
	struct rdma_cm_id *id = open_towards(&peer, ACCEPT);

	check_ok(rdma_connect(id, NULL));
	check_answer(id, RDMA_CM_EVENT_ESTABLISHED);
	check(id->event->status == 0 && id->event->param.conn.qp_num, "parameters");
	check(!strcmp(qp_state(id), "RTS"), "the queue pair is %s", qp_state(id));
	check_ok(rdma_disconnect(id));
	check_answer(id, RDMA_CM_EVENT_DISCONNECTED);
	close_waiting(id);
	end_peer(&peer);
}

static void rejected(void)
{
	struct peer peer;
	struct rdma_cm_id *id = open_towards(&peer, REFUSE);

	check_fails(rdma_connect(id, NULL), ECONNREFUSED);
	check_answer(id, RDMA_CM_EVENT_REJECTED);
	check(id->event->status == refusal_status(id, 28), "status %d", id->event->status);
	close_waiting(id);
	end_peer(&peer);
}

/* The peer was faster: its disconnection is the answer to ours. */
static void disconnected_by_the_peer_first(void)
{
	struct peer peer;
	struct rdma_cm_id *id = open_towards(&peer, ACCEPT_AND_DISCONNECT);
	struct pollfd ready;

	check_ok(rdma_connect(id, NULL));
	ready = (struct pollfd){ .fd = id->channel->fd, .events = POLLIN };
	check(poll(&ready, 1, 15000) == 1, "the peer does not disconnect");
	check_ok(rdma_disconnect(id));
	check_answer(id, RDMA_CM_EVENT_DISCONNECTED);
	close_waiting(id);
	end_peer(&peer);
}

/* When what has ended is ended again nothing follows, and nothing is waited for. */
static void disconnected_twice(void)
{
	struct peer peer;
	struct rdma_cm_id *id = open_towards(&peer, ACCEPT);

	check_ok(rdma_connect(id, NULL));
	check_ok(rdma_disconnect(id));
	check(!rdma_disconnect(id) || errno == EINVAL, "again: %m");
	close_waiting(id);
	end_peer(&peer);
}

/* Elsewhere an event of the connection follows that ends any wait. */
static void disconnected_twice_with_iwarp(void)
{
	struct rdma_cm_id *id = open_waiting(RDMA_PS_TCP);
	bool does;

	check_ok(rdma_bind_addr(id, device_address(AF_INET, 0)));
	does = is_iwarp(id);
	close_waiting(id);
	if (!does)
		skip_test("not an iWARP device");
	disconnected_twice();
}

/* An event that the program does not wait for keeps its place until it is asked for. */
static void connected_behind_a_user_event(void)
{
	struct peer peer;
	struct rdma_cm_id *id = open_towards(&peer, ACCEPT);

	write_event(id, 0, 1);
	write_event(id, 0, 2);
	check_ok(rdma_connect(id, NULL));
	check_answer(id, RDMA_CM_EVENT_ESTABLISHED);
	write_event(id, 0, 3);
	check_ok(rdma_disconnect(id));
	check_answer(id, RDMA_CM_EVENT_DISCONNECTED);
	take_event(id->channel, id, 0, 1);
	take_event(id->channel, id, 0, 2);
	take_event(id->channel, id, 0, 3);
	check_empty(id->channel);
	close_waiting(id);
	end_peer(&peer);
}

/* An event with a status is no failure of a call that it does not answer. */
static void a_user_event_is_no_failure(void)
{
	struct peer peer;
	struct rdma_cm_id *id = open_towards(&peer, ACCEPT);

	write_event(id, -EIO, 1);
	check_ok(rdma_connect(id, NULL));
	check_answer(id, RDMA_CM_EVENT_ESTABLISHED);
	take_event(id->channel, id, -EIO, 1);
	check_ok(rdma_disconnect(id));
	close_waiting(id);
	end_peer(&peer);
}

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

/* Signals, even many of them, end no wait. */
static void connected_in_a_storm_of_signals(void)
{
	struct sigaction action = { .sa_handler = count_signal };
	struct itimerval often = { .it_interval = { .tv_usec = 2000 }, .it_value = { .tv_usec = 2000 } };
	struct itimerval never = { 0 };
	struct rdma_cm_id *id = open_waiting(RDMA_PS_TCP);
	struct peer peer;
	sigset_t alarm;

	/* The signals are this thread's. */
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	start_peer(&peer, ACCEPT);
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	check(!sigaction(SIGALRM, &action, NULL), "sigaction: %m");
	check(!setitimer(ITIMER_REAL, &often, NULL), "setitimer: %m");
	resolve_waiting(id, peer.port);
	create_qp(id);
	check_ok(rdma_connect(id, NULL));
	check_answer(id, RDMA_CM_EVENT_ESTABLISHED);
	check_ok(rdma_disconnect(id));
	check_answer(id, RDMA_CM_EVENT_DISCONNECTED);
	check(!setitimer(ITIMER_REAL, &never, NULL), "setitimer: %m");
	check(signals, "no signal came");
	close_waiting(id);
	end_peer(&peer);
}

static void *connect_to(void *arg)
{
	const struct peer *peer = arg;
	struct rdma_cm_id *id = open_waiting(RDMA_PS_TCP);

	resolve_waiting(id, peer->port);
	create_qp(id);
	check_ok(rdma_connect(id, NULL));
	check_ok(rdma_disconnect(id));
	close_waiting(id);
	return NULL;
}

/* Both sides wait. */
static void accepted(void)
{
	struct rdma_cm_id *listener = open_waiting(RDMA_PS_TCP), *id;
	struct peer peer = { 0 };

	check_ok(rdma_bind_addr(listener, device_address(AF_INET, 0)));
	check_ok(rdma_listen(listener, 1));
	peer.port = port_of(listener);
	peer.thread = start_thread(connect_to, &peer);
	check_ok(rdma_get_request(listener, &id));
	check_answer(id, RDMA_CM_EVENT_CONNECT_REQUEST);
	check(id->event->listen_id == listener && id->channel != listener->channel, "id of the request");
	create_qp(id);
	check_ok(rdma_accept(id, NULL));
	check_answer(id, RDMA_CM_EVENT_ESTABLISHED);
	check_ok(rdma_disconnect(id));
	check_answer(id, RDMA_CM_EVENT_DISCONNECTED);
	close_waiting(id);
	join_thread(peer.thread);
	close_waiting(listener);
}

static void nothing_is_left(void)
{
	struct resources before = { 0 };

	for (int i = 0; i < 6; i++) {
		if (i == 1)
			before = count_resources();
		connected();
	}
	check_resources(&before);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(connected),
		TEST(rejected),
		TEST(disconnected_by_the_peer_first),
		SLOW_TEST(disconnected_twice, 60, .needs = "time-wait"),
		TEST(disconnected_twice_with_iwarp),
		TEST(connected_behind_a_user_event),
		TEST(a_user_event_is_no_failure),
		TEST(connected_in_a_storm_of_signals),
		TEST(accepted, .needs = "migrate_id"),
		TEST(nothing_is_left),
	};

	return RUN_TESTS(tests, argc, argv);
}
