/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls on one id from two threads at once. The C library has no defence against these, and may crash: nothing here
 * is for the comparison.
 */
#include "connection.h"

#include <unistd.h>


static pthread_barrier_t barrier;

static unsigned long rounds(unsigned long usual)
{
	return number_from_env("TEST_ROUNDS", usual);
}

/* Runs the function in a thread, which begins when this one comes to the barrier. */
static pthread_t start_racer(void *(*run)(void *), void *arg)
{
	pthread_barrier_init(&barrier, NULL, 2);
	return start_thread(run, arg);
}

static void end_racer(pthread_t thread)
{
	join_thread(thread);
	pthread_barrier_destroy(&barrier);
}

static void meet(void)
{
	pthread_barrier_wait(&barrier);
}

static void spin(unsigned long count)
{
	for (volatile unsigned long i = 0; i < count; i++)
		;
}

static void *take_the_answer(void *arg)
{
	struct connection *connection = arg;
	struct rdma_cm_event *event = NULL;

	meet();
	check_ok(rdma_get_cm_event(connection->client_channel, &event));
	check(event->id == connection->client, "id");
	check(event->event == RDMA_CM_EVENT_ESTABLISHED || event->event == RDMA_CM_EVENT_CONNECT_ERROR ||
		      event->event == RDMA_CM_EVENT_CONNECT_RESPONSE, "%s", rdma_event_str(event->event));
	check_ok(rdma_ack_cm_event(event));
	return NULL;
}

/* The event's processing moves the queue pair that goes. */
static void destroying_a_queue_pair_as_its_answer_is_taken(void)
{
	unsigned long count = rounds(60);
	struct connection connection = { 0 };

	for (unsigned long i = 0; i < count; i++) {
		pthread_t taker;

		prepare(&connection);
		request(&connection, NULL);
		create_qp(connection.server);
		check_ok(rdma_accept(connection.server, NULL));
		taker = start_racer(take_the_answer, &connection);
		meet();
		spin(i * 2000);
		rdma_destroy_qp(connection.client);
		end_racer(taker);
		check(!connection.client->qp && !connection.client->send_cq, "left over");
		dismantle(&connection);
	}
}

static void *end_connection(void *arg)
{
	struct connection *connection = arg;

	meet();
	/* There may be no queue pair by then. */
	check_ok(rdma_disconnect(connection->client));
	return NULL;
}

static void destroying_a_queue_pair_as_its_connection_ends(void)
{
	unsigned long count = rounds(60);
	struct connection connection = { 0 };

	for (unsigned long i = 0; i < count; i++) {
		pthread_t racer;

		establish(&connection);
		racer = start_racer(end_connection, &connection);
		meet();
		spin(i * 1000);
		rdma_destroy_qp(connection.client);
		end_racer(racer);
		pass_event(connection.server_channel, RDMA_CM_EVENT_DISCONNECTED, connection.server);
		dismantle(&connection);
	}
}

/* Both threads read it: it is made before the second begins. */
static struct sockaddr *group;

static unsigned long leave_all(struct rdma_cm_id *id)
{
	unsigned long count = 0;

	while (!rdma_leave_multicast(id, group))
		count++;
	check(errno == EADDRNOTAVAIL, "rdma_leave_multicast: %m");
	return count;
}

static bool joining_ends;
static unsigned long left;

static void *leave_again_and_again(void *id)
{
	while (!__atomic_load_n(&joining_ends, __ATOMIC_ACQUIRE)) {
		unsigned long count = leave_all(id);

		/* One that only asks would keep the other from the id's list. */
		if (!count)
			usleep(100);
		__atomic_fetch_add(&left, count, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void take_what_is_there(struct rdma_event_channel *channel, struct rdma_cm_id *id, void *context)
{
	struct rdma_cm_event *event;

	while (!rdma_get_cm_event(channel, &event)) {
		check(event->id == id && event->param.ud.private_data == context, "event");
		check_ok(rdma_ack_cm_event(event));
	}
	check(errno == EAGAIN, "rdma_get_cm_event: %m");
}

/*
 * Each membership is left once, and whatever arrives belongs to one. There is one at a time: of several of one id in one
 * group the kernel ends any, and may tell of another one afterwards.
 */
static void joining_and_leaving(void)
{
	unsigned long count = rounds(100);
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_member(channel);
	pthread_t thread;

	create_qp(id);
	group = group_address("239.99.1.8");
	set_nonblocking(channel->fd);
	thread = start_thread(leave_again_and_again, id);
	for (unsigned long i = 0; i < count; i++) {
		check_ok(rdma_join_multicast(id, group, &count));
		do
			take_what_is_there(channel, id, &count);
		while (__atomic_load_n(&left, __ATOMIC_ACQUIRE) <= i);
	}
	__atomic_store_n(&joining_ends, true, __ATOMIC_RELEASE);
	join_thread(thread);
	check(left == count, "joined %lu times, left %lu times", count, left);
	rdma_destroy_qp(id);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

/* All of a conversation by several threads on one channel, whoever gets an event. */
enum { TAKERS = 4, CLIENTS = 24 };

static unsigned int told_clients, told_servers, ended;
static struct rdma_cm_id *accepted[CLIENTS];
static unsigned int accepted_count;

static void *take_events(void *arg)
{
	struct rdma_event_channel *channel = arg;
	struct rdma_cm_event *event;
	bool goes_on = true;

	while (goes_on) {
		check_ok(rdma_get_cm_event(channel, &event));
		switch (event->event) {
		case RDMA_CM_EVENT_CONNECT_REQUEST:
			accepted[__atomic_fetch_add(&accepted_count, 1, __ATOMIC_RELAXED)] = event->id;
			create_qp(event->id);
			check_ok(rdma_accept(event->id, NULL));
			break;
		case RDMA_CM_EVENT_ESTABLISHED:
			__atomic_fetch_add(event->id->context ? &told_clients : &told_servers, 1, __ATOMIC_RELAXED);
			break;
		case RDMA_CM_EVENT_DISCONNECTED:
			rdma_disconnect(event->id);
			__atomic_fetch_add(&ended, 1, __ATOMIC_RELEASE);
			break;
		case RDMA_CM_EVENT_TIMEWAIT_EXIT:
			break;
		case RDMA_CM_EVENT_USER:
			goes_on = false;
			break;
		default:
			fail("%s with status %d", rdma_event_str(event->event), event->status);
		}
		check_ok(rdma_ack_cm_event(event));
	}
	return NULL;
}

static void await_count(const unsigned int *counter, unsigned int wanted, const char *what)
{
	uint64_t limit = now_ms() + 40000 * time_scale();

	while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) < wanted) {
		check(now_ms() < limit, "%u of %u %s", *counter, wanted, what);
		sleep_ms(10);
	}
}

static void several_takers(void)
{
	struct rdma_event_channel *channel = open_channel(), *resolving = open_channel();
	struct rdma_cm_id *listener = open_listener(channel, RDMA_PS_TCP), *clients[CLIENTS];
	pthread_t takers[TAKERS];

	for (int i = 0; i < CLIENTS; i++) {
		clients[i] = open_client(resolving, RDMA_PS_TCP, port_of(listener));
		clients[i]->context = clients[i];
		create_qp(clients[i]);
		check_ok(rdma_migrate_id(clients[i], channel));
	}
	for (int i = 0; i < TAKERS; i++)
		takers[i] = start_thread(take_events, channel);
	for (int i = 0; i < CLIENTS; i++)
		check_ok(rdma_connect(clients[i], NULL));
	await_count(&told_clients, CLIENTS, "clients");
	await_count(&told_servers, CLIENTS, "servers");
	for (int i = 0; i < CLIENTS; i++)
		check_ok(rdma_disconnect(clients[i]));
	await_count(&ended, 2 * CLIENTS, "ends");
	for (int i = 0; i < TAKERS; i++)
		write_event(listener, 0, 0);
	for (int i = 0; i < TAKERS; i++)
		join_thread(takers[i]);
	check(accepted_count == CLIENTS, "%u requests", accepted_count);
	for (int i = 0; i < CLIENTS; i++) {
		rdma_destroy_qp(clients[i]);
		check_ok(rdma_destroy_id(clients[i]));
		rdma_destroy_qp(accepted[i]);
		check_ok(rdma_destroy_id(accepted[i]));
	}
	check_ok(rdma_destroy_id(listener));
	rdma_destroy_event_channel(channel);
	rdma_destroy_event_channel(resolving);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		SLOW_TEST(destroying_a_queue_pair_as_its_answer_is_taken, 60),
		SLOW_TEST(destroying_a_queue_pair_as_its_connection_ends, 60),
		SLOW_TEST(joining_and_leaving, 120),
		SLOW_TEST(several_takers, 60),
	};

	return RUN_TESTS(tests, argc, argv);
}
