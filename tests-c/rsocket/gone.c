/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Peers that are killed or stopped, and devices that are removed: no call waits for what cannot come. */
#include "../helper.h"
#include "sockets.h"

#include <rdma/rsocket.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Until a thread surely waits, and until it has to be back. */
enum { MEANWHILE_MS = 300, BACK_MS = 5000, MAPPED = 4096 };

static char bytes[100000];

/* Another process, whose listener has one connection, which it never reads. */
struct peer {
	pid_t pid;
	struct sockaddr_in address;
};

static struct peer start_peer(bool accepts)
{
	struct peer peer;
	int tell[2];

	check_ok(pipe(tell));
	peer.pid = fork();
	check(peer.pid >= 0, "fork: %m");
	if (!peer.pid) {
		int listener = listening_socket(&peer.address), server;

		check(write(tell[1], &peer.address, sizeof(peer.address)) == sizeof(peer.address), "write: %m");
		server = accepts ? sockets()->accept(listener, NULL, NULL) : -1;
		if (server >= 0 && !is_kernel()) {
			void *memory = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			check(riomap(server, memory, MAPPED, PROT_WRITE, 0, 0) == 0, "riomap: %m");
			send_all(server, "m", 1);
		}
		for (;;)
			pause();
	}
	check(read(tell[0], &peer.address, sizeof(peer.address)) == sizeof(peer.address), "no peer");
	return peer;
}

static void end_peer(struct peer *peer)
{
	kill(peer->pid, SIGKILL);
	check(waitpid(peer->pid, NULL, 0) == peer->pid, "waitpid: %m");
}

static int new_socket(void)
{
	int client = sockets()->socket(AF_INET, SOCK_STREAM, 0);

	check(client >= 0, "socket: %m");
	if (!is_kernel())
		set_int(client, SOL_RDMA, RDMA_IOMAPSIZE, 1);
	return client;
}

static int connect_to(const struct peer *peer)
{
	int client = new_socket();

	check_ok(sockets()->connect(client, (const struct sockaddr *)&peer->address, sizeof(peer->address)));
	if (!is_kernel())
		receive_all(client, &(char){ 0 }, 1);
	return client;
}

static void fill_peer(int client)
{
	ssize_t sent;

	while ((sent = sockets()->send(client, bytes, sizeof(bytes), MSG_NOSIGNAL | MSG_DONTWAIT)) > 0)
		;
	check(errno == EAGAIN, "send: %m");
}

/* Calls that wait; each returns when the connection has ended. */

static void receives(int client)
{
	check(sockets()->recv(client, bytes, 1, 0) <= 0, "data");
}

static void sends(int client)
{
	while (sockets()->send(client, bytes, sizeof(bytes), MSG_NOSIGNAL) > 0)
		;
}

static void polls(int client)
{
	check(poll_one(client, POLLIN, -1) & (POLLIN | POLLHUP | POLLERR), "nothing");
}

static void selects(int client)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(client, &set);
	check(sockets()->select(client + 1, &set, NULL, NULL, NULL) == 1, "select: %m");
}

static void writes_directly(int client)
{
	while (riowrite(client, bytes, MAPPED, 0, 0) == MAPPED)
		;
}

/* With much that the peer has not taken. */
static void closes(int client)
{
	fill_peer(client);
	check_ok(sockets()->close(client));
}

static void shuts_down(int client)
{
	fill_peer(client);
	check_ok(sockets()->shutdown(client, SHUT_RDWR));
	receives(client);
}

static void (*const calls[])(int) = { receives, sends, polls, selects, writes_directly, closes, shuts_down };
static const char *const names[] = { "recv", "send", "poll", "select", "riowrite", "close", "shutdown" };
enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

struct waiting {
	int client, call;
};

static void *wait_in_call(void *arg)
{
	struct waiting *waiting = arg;

	calls[waiting->call](waiting->client);
	return NULL;
}

static bool is_only_ours(int call)
{
	return is_kernel() && calls[call] == writes_directly;
}

static void killed_peer(void)
{
	for (int call = 0; call < CALLS; call++) {
		struct peer peer;
		struct waiting waiting = { .call = call };
		pthread_t thread;

		if (is_only_ours(call))
			continue;
		peer = start_peer(true);
		waiting.client = connect_to(&peer);
		thread = start_thread(wait_in_call, &waiting);
		sleep_ms(MEANWHILE_MS);
		end_peer(&peer);
		check(thread_ends(thread, BACK_MS), "%s does not return", names[call]);
		if (calls[call] == closes)
			continue;
		check(sockets()->send(waiting.client, bytes, 1, MSG_NOSIGNAL) == -1, "something can be sent after %s", names[call]);
		check(poll_one(waiting.client, POLLIN, 0) & POLLIN, "poll after %s", names[call]);
		check_ok(sockets()->close(waiting.client));
	}
}

/* What had come is still there. */
static void killed_peer_after_data(void)
{
	struct peer peer = start_peer(true);
	int client = new_socket();
	char byte = 0;

	if (is_kernel())
		skip_test("the peer sends nothing");
	check_ok(sockets()->connect(client, (struct sockaddr *)&peer.address, sizeof(peer.address)));
	sleep_ms(MEANWHILE_MS);
	end_peer(&peer);
	sleep_ms(MEANWHILE_MS);
	check(sockets()->recv(client, &byte, 1, 0) == 1 && byte == 'm', "the data is lost");
	check_fails((int)sockets()->recv(client, &byte, 1, 0), ECONNRESET);
	check(sockets()->recv(client, &byte, 1, 0) == 0, "no end");
	check_ok(sockets()->close(client));
}

static void stop(const struct peer *peer)
{
	int status;

	check_ok(kill(peer->pid, SIGSTOP));
	check(waitpid(peer->pid, &status, WUNTRACED) == peer->pid && WIFSTOPPED(status), "it does not stop");
}

static void returns_within(uint64_t start, unsigned int ms)
{
	check(now_ms() - start < (uint64_t)ms * time_scale(), "it took %u ms", (unsigned int)(now_ms() - start));
}

/* Nothing moves, and the limits hold. */
static void stopped_peer(void)
{
	struct peer peer = start_peer(true);
	struct timeval limit = { .tv_usec = 300000 };
	int client = connect_to(&peer);
	uint64_t start;

	stop(&peer);
	fill_peer(client);
	check(!(poll_one(client, POLLOUT, 100) & POLLOUT), "ready to send");
	check_ok(sockets()->setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)));
	start = now_ms();
	check_fails((int)sockets()->send(client, bytes, 1, MSG_NOSIGNAL), EAGAIN);
	check(now_ms() - start >= 290, "too soon");
	returns_within(start, 3000);
	start = now_ms();
	check_ok(sockets()->shutdown(client, SHUT_WR));
	returns_within(start, 1000);
	check_fails((int)sockets()->send(client, bytes, 1, MSG_NOSIGNAL), EPIPE);
	end_peer(&peer);
	check_ok(sockets()->close(client));
}

static void closing_to_a_stopped_peer(void)
{
	struct linger second = { .l_onoff = 1, .l_linger = 1 }, none = { .l_onoff = 1 };

	for (int how = 0; how < 4; how++) {
		struct peer peer = start_peer(true);
		int client = connect_to(&peer);
		uint64_t start;

		stop(&peer);
		fill_peer(client);
		if (how == 1)
			set_blocking(client, false);
		if (how == 2)
			check_ok(sockets()->setsockopt(client, SOL_SOCKET, SO_LINGER, &second, sizeof(second)));
		if (how == 3)
			check_ok(sockets()->setsockopt(client, SOL_SOCKET, SO_LINGER, &none, sizeof(none)));
		start = now_ms();
		check_ok(sockets()->close(client));
		/* Without a word the patience is ten seconds. */
		returns_within(start, how == 0 ? 13000 : how == 2 ? 4000 : 1000);
		end_peer(&peer);
	}
}

static void peer_that_goes_on(void)
{
	struct connection connection;
	struct sockaddr_in address;
	int listener = listening_socket(&address), status;
	pid_t child = fork();

	check(child >= 0, "fork: %m");
	if (!child) {
		int client = new_socket();
		ssize_t length;

		check_ok(sockets()->connect(client, (struct sockaddr *)&address, sizeof(address)));
		while ((length = sockets()->recv(client, bytes, sizeof(bytes), 0)) > 0)
			send_all(client, bytes, (size_t)length);
		check(!length, "recv: %m");
		_exit(EXIT_SUCCESS);
	}
	connection.server = sockets()->accept(listener, NULL, NULL);
	check(connection.server >= 0, "accept: %m");
	for (int round = 0; round < 3; round++) {
		stop(&(struct peer){ .pid = child });
		send_all(connection.server, bytes, 30000);
		check(!poll_one(connection.server, POLLIN, 100), "an answer");
		check_ok(kill(child, SIGCONT));
		receive_all(connection.server, bytes, 30000);
	}
	check_ok(sockets()->close(connection.server));
	check(waitpid(child, &status, 0) == child && !status, "status %#x", status);
	check_ok(sockets()->close(listener));
}

/* It answers no request, until it is gone. */
static void stopped_listener(void)
{
	struct peer peer = start_peer(false);
	struct timeval limit = { .tv_usec = 300000 };
	int client = new_socket();
	uint64_t start;

	if (is_kernel())
		skip_test("the kernel answers for it");
	stop(&peer);
	check_ok(sockets()->setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)));
	start = now_ms();
	check_fails(sockets()->connect(client, (struct sockaddr *)&peer.address, sizeof(peer.address)), EINPROGRESS);
	returns_within(start, 3000);
	check_fails(sockets()->connect(client, (struct sockaddr *)&peer.address, sizeof(peer.address)), EALREADY);
	end_peer(&peer);
	check(poll_one(client, POLLOUT, BACK_MS * time_scale()) & POLLERR, "no error");
	check(get_int(client, SOL_SOCKET, SO_ERROR) == ECONNREFUSED, "another error");
	start = now_ms();
	check_ok(sockets()->close(client));
	returns_within(start, 1000);
}

static void *accept_one(void *arg)
{
	int *listener = arg;

	check(sockets()->accept(*listener, NULL, NULL) == -1, "a connection");
	return NULL;
}

static void *connect_to_nobody(void *arg)
{
	struct sockaddr_in nobody = { .sin_family = AF_INET, .sin_port = htons(7471) };
	int *client = arg;

	inet_pton(AF_INET, "10.99.0.77", &nobody.sin_addr);
	check(sockets()->connect(*client, (struct sockaddr *)&nobody, sizeof(nobody)) == -1, "a connection");
	return NULL;
}

/* Under sockets in every state, with threads in every call; nothing of them holds up the removal. */
static void removed_device(void)
{
	struct connection connections[CALLS];
	struct waiting waiting[CALLS];
	pthread_t threads[CALLS], acceptor, remover;
	struct sockaddr_in address;
	int listener;

	if (is_kernel())
		skip_test("they have no device");
	add_lab_device();
	listener = listening_socket(&address);
	acceptor = start_thread(accept_one, &listener);
	for (int call = 0; call < CALLS; call++) {
		connections[call] = open_connection();
		waiting[call] = (struct waiting){ connections[call].client, call };
		threads[call] = start_thread(wait_in_call, &waiting[call]);
	}
	sleep_ms(MEANWHILE_MS);
	remover = start_thread(remove_lab_device, NULL);
	for (int call = 0; call < CALLS; call++)
		check(thread_ends(threads[call], BACK_MS), "%s does not return", names[call]);
	check(thread_ends(acceptor, BACK_MS), "accept does not return");
	for (int call = 0; call < CALLS; call++) {
		if (calls[call] != closes)
			check_ok(sockets()->close(connections[call].client));
		check_ok(sockets()->close(connections[call].server));
	}
	check_ok(sockets()->close(listener));
	check(thread_ends(remover, BACK_MS), "the removal still waits");
	add_lab_device();
	connections[0] = open_connection();
	send_all(connections[0].client, "x", 1);
	receive_all(connections[0].server, bytes, 1);
	close_connection(&connections[0]);
}

/* In the middle of connecting. */
static void device_removed_while_connecting(void)
{
	pthread_t connector, remover;
	int client;

	if (is_kernel())
		skip_test("they have no device");
	add_lab_device();
	client = new_socket();
	connector = start_thread(connect_to_nobody, &client);
	sleep_ms(MEANWHILE_MS);
	remover = start_thread(remove_lab_device, NULL);
	check(thread_ends(connector, BACK_MS), "connect does not return");
	check_ok(sockets()->close(client));
	check(thread_ends(remover, BACK_MS), "the removal still waits");
	add_lab_device();
}

static const struct test tests[] = {
	SLOW_TEST(killed_peer, 60),
	TEST(killed_peer_after_data),
	TEST(stopped_peer),
	SLOW_TEST(closing_to_a_stopped_peer, 60),
	TEST(peer_that_goes_on),
	TEST(stopped_listener),
	SLOW_TEST(removed_device, 60),
	TEST(device_removed_while_connecting),
};

int main(int argc, char **argv)
{
	return RUN_TESTS(tests, argc, argv);
}
