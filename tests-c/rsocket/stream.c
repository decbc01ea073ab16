/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Data over a connection, and its end. */
#include "sockets.h"

#include <rdma/rsocket.h>
#include <string.h>
#include <sys/mman.h>

static unsigned char out[1 << 20], in[1 << 20];

static void echo(void)
{
	struct connection connection = open_connection();

	for (size_t length = 1; length <= 65536; length *= 4) {
		fill(out, length, length);
		send_all(connection.client, out, length);
		receive_all(connection.server, in, length);
		check(is_filled(in, length, length), "%zu bytes differ on the way there", length);
		send_all(connection.server, in, length);
		memset(in, 0, length);
		receive_all(connection.client, in, length);
		check(is_filled(in, length, length), "%zu bytes differ on the way back", length);
	}
	close_connection(&connection);
}

struct task {
	int socket;
	size_t total;
};

static void *send_much(void *arg)
{
	struct task *task = arg;
	size_t sent = 0;

	while (sent < task->total) {
		size_t at = sent % sizeof(out), length = sizeof(out) - at;

		if (length > 100003)
			length = 100003;
		send_all(task->socket, out + at, length);
		sent += length;
	}
	check_ok(sockets()->shutdown(task->socket, SHUT_WR));
	return NULL;
}

/* Many times the buffer, in chunks that do not fit it. */
static void much(void)
{
	struct connection connection = open_connection();
	struct task task = { connection.client, 16 << 20 };
	pthread_t thread;
	size_t received = 0;
	ssize_t length;

	fill(out, sizeof(out), 7);
	thread = start_thread(send_much, &task);
	while ((length = sockets()->recv(connection.server, in, 77777, 0)) > 0) {
		for (ssize_t i = 0; i < length; i++, received++) {
			unsigned char wanted = ((received % sizeof(out)) * 2654435761u + 7) >> 16;

			check(in[i] == wanted, "byte %zu is wrong", received);
		}
	}
	check(!length, "recv: %m");
	check(received >= task.total, "%zu bytes of %zu", received, task.total);
	join_thread(thread);
	close_connection(&connection);
}

/* A sender that fills everything gets on when the other side begins to read. */
static void full_until_read(void)
{
	struct connection connection = open_connection();
	size_t sent = 0, received = 0;
	ssize_t length;

	set_blocking(connection.client, false);
	fill(out, sizeof(out), 1);
	while ((length = sockets()->send(connection.client, out, 50000, MSG_NOSIGNAL)) > 0)
		sent += length;
	check(length == -1 && errno == EAGAIN, "send is %zd, %s", length, errno_name(errno));
	check(!(poll_one(connection.client, POLLOUT, 0) & POLLOUT), "ready to send");
	while (received < sent) {
		length = sockets()->recv(connection.server, in, sizeof(in), 0);
		check(length > 0, "recv is %zd, %m", length);
		received += length;
	}
	check(received == sent, "%zu bytes of %zu", received, sent);
	check(poll_one(connection.client, POLLOUT, 5000) & POLLOUT, "not ready to send");
	close_connection(&connection);
}

static void peek(void)
{
	struct connection connection = open_connection();

	send_all(connection.client, "abcdef", 6);
	check(sockets()->recv(connection.server, in, 3, MSG_PEEK) == 3 && !memcmp(in, "abc", 3), "first look");
	check(sockets()->recv(connection.server, in, 100, MSG_PEEK) == 6 && !memcmp(in, "abcdef", 6), "second look");
	check(sockets()->recv(connection.server, in, 100, 0) == 6 && !memcmp(in, "abcdef", 6), "reading");
	check_fails((int)sockets()->recv(connection.server, in, 100, MSG_PEEK | MSG_DONTWAIT), EAGAIN);
	close_connection(&connection);
}

static void *send_late(void *arg)
{
	int *socket = arg;

	sleep_ms(100);
	send_all(*socket, "rest", 4);
	return NULL;
}

static void wait_for_all(void)
{
	struct connection connection = open_connection();
	pthread_t thread;

	send_all(connection.client, "first", 5);
	thread = start_thread(send_late, &connection.client);
	check(sockets()->recv(connection.server, in, 9, MSG_WAITALL) == 9 && !memcmp(in, "firstrest", 9), "not all");
	join_thread(thread);
	/* The end is the end. */
	send_all(connection.client, "xy", 2);
	check_ok(sockets()->shutdown(connection.client, SHUT_WR));
	check(sockets()->recv(connection.server, in, 9, MSG_WAITALL) == 2, "not what was left");
	close_connection(&connection);
}

static void not_waiting(void)
{
	struct connection connection = open_connection();

	check_fails((int)sockets()->recv(connection.server, in, 1, MSG_DONTWAIT), EAGAIN);
	set_blocking(connection.server, false);
	check_fails((int)sockets()->recv(connection.server, in, 1, 0), EAGAIN);
	check_fails((int)sockets()->read(connection.server, in, 1), EAGAIN);
	set_blocking(connection.server, true);
	send_all(connection.client, "x", 1);
	receive_all(connection.server, in, 1);
	close_connection(&connection);
}

static void pieces(void)
{
	struct connection connection = open_connection();
	struct iovec there[] = { { "", 0 }, { "one ", 4 }, { "two", 3 }, { NULL, 0 }, { " three", 6 } };
	char a[5], b[2], c[20];
	struct iovec here[] = { { NULL, 0 }, { a, sizeof(a) }, { b, sizeof(b) }, { c, sizeof(c) } };
	struct msghdr out_message = { .msg_iov = there, .msg_iovlen = 5 };
	struct msghdr in_message = { .msg_iov = here, .msg_iovlen = 4, .msg_flags = 0x55 };

	for (int round = 0; round < 2; round++) {
		memset(c, 0, sizeof(c));
		if (round)
			check(sockets()->sendmsg(connection.client, &out_message, 0) == 13, "sendmsg: %m");
		else
			check(sockets()->writev(connection.client, there, 5) == 13, "writev: %m");
		check(poll_one(connection.server, POLLIN, 5000) & POLLIN, "nothing came");
		if (round)
			check(sockets()->recvmsg(connection.server, &in_message, 0) == 13, "recvmsg: %m");
		else
			check(sockets()->readv(connection.server, here, 4) == 13, "readv: %m");
		check(!memcmp(a, "one t", 5) && !memcmp(b, "wo", 2) && !memcmp(c, " three", 6), "'%.5s' '%.2s' '%s'", a, b, c);
	}
	check(!in_message.msg_flags, "flags %#x", in_message.msg_flags);
	/* The flags of the call count, not those in the struct. */
	in_message.msg_flags = 0;
	check_fails((int)sockets()->recvmsg(connection.server, &in_message, MSG_DONTWAIT), EAGAIN);
	check_fails((int)sockets()->readv(connection.server, here, -1), EINVAL);
	check_fails((int)sockets()->writev(connection.client, there, -1), EINVAL);
	close_connection(&connection);
}

static void half_close(void)
{
	struct connection connection = open_connection();

	send_all(connection.client, "question", 8);
	check_ok(sockets()->shutdown(connection.client, SHUT_WR));
	check_fails((int)sockets()->send(connection.client, "x", 1, MSG_NOSIGNAL), EPIPE);
	receive_all(connection.server, in, 8);
	check(sockets()->recv(connection.server, in, 1, 0) == 0, "no end");
	check(sockets()->recv(connection.server, in, 1, 0) == 0, "no end the second time");
	send_all(connection.server, "answer", 6);
	receive_all(connection.client, in, 6);
	check(!memcmp(in, "answer", 6), "another answer");
	check_ok(sockets()->shutdown(connection.server, SHUT_WR));
	check(sockets()->recv(connection.client, in, 1, 0) == 0, "no end of the answer");
	close_connection(&connection);
}

/* What was sent before the end arrives. */
static void close_after_sending(void)
{
	struct connection connection = open_connection();

	fill(out, 60000, 3);
	send_all(connection.client, out, 60000);
	check_ok(sockets()->close(connection.client));
	sleep_ms(100);
	receive_all(connection.server, in, 60000);
	check(is_filled(in, 60000, 3), "other data");
	check(sockets()->recv(connection.server, in, 1, 0) == 0, "no end");
	check_ok(sockets()->close(connection.server));
}

static void *close_late(void *arg)
{
	int *socket = arg;

	sleep_ms(100);
	check_ok(sockets()->close(*socket));
	return NULL;
}

static void end_wakes_the_reader(void)
{
	struct connection connection = open_connection();
	pthread_t thread = start_thread(close_late, &connection.client);

	check(sockets()->recv(connection.server, in, 1, 0) == 0, "no end");
	join_thread(thread);
	check_ok(sockets()->close(connection.server));
}

static void *shutdown_late(void *arg)
{
	int *socket = arg;

	sleep_ms(100);
	check_ok(sockets()->shutdown(*socket, SHUT_RD));
	return NULL;
}

static void own_shutdown_wakes_the_reader(void)
{
	struct connection connection = open_connection();
	pthread_t thread = start_thread(shutdown_late, &connection.server);

	check(sockets()->recv(connection.server, in, 1, 0) == 0, "no end");
	join_thread(thread);
	close_connection(&connection);
}

/* Both directions at once, each by a thread of its own on either side. */
static void *receive_much(void *arg)
{
	struct task *task = arg;
	static __thread unsigned char room[65536];
	size_t received = 0;
	ssize_t length;

	while ((length = sockets()->recv(task->socket, room, sizeof(room), 0)) > 0)
		received += length;
	check(!length, "recv: %m");
	check(received >= task->total, "%zu bytes of %zu", received, task->total);
	return NULL;
}

static void both_directions(void)
{
	struct connection connection = open_connection();
	struct task client = { connection.client, 4 << 20 }, server = { connection.server, 4 << 20 };
	pthread_t threads[] = {
		start_thread(send_much, &client),
		start_thread(send_much, &server),
		start_thread(receive_much, &client),
		start_thread(receive_much, &server),
	};

	for (int i = 0; i < 4; i++)
		join_thread(threads[i]);
	close_connection(&connection);
}

static void time_limits(void)
{
	struct connection connection = open_connection();
	struct timeval limit = { .tv_usec = 200000 }, got = { 0 };
	socklen_t length = sizeof(got);
	uint64_t start;

	check_ok(sockets()->setsockopt(connection.server, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)));
	check_ok(sockets()->setsockopt(connection.client, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)));
	check_ok(sockets()->getsockopt(connection.server, SOL_SOCKET, SO_RCVTIMEO, &got, &length));
	check(length == sizeof(got) && !got.tv_sec && got.tv_usec == 200000, "read back %ld", (long)got.tv_usec);
	start = now_ms();
	check_fails((int)sockets()->recv(connection.server, in, 1, 0), EAGAIN);
	check(now_ms() - start >= 190, "after %u ms", (unsigned int)(now_ms() - start));
	/* What came counts. */
	send_all(connection.client, "abc", 3);
	check(sockets()->recv(connection.server, in, 10, MSG_WAITALL) == 3, "not what came");
	while (sockets()->send(connection.client, out, sizeof(out), MSG_NOSIGNAL) > 0)
		;
	check(errno == EAGAIN, "send: %m");
	close_connection(&connection);
}

static void nothing_to_send(void)
{
	struct connection connection = open_connection();

	check(sockets()->send(connection.client, NULL, 0, 0) == 0, "send: %m");
	check(sockets()->recv(connection.server, NULL, 0, MSG_DONTWAIT) <= 0, "recv");
	close_connection(&connection);
}

/* Each is told in a message, for which there is room again after a while. */
static void many_mappings(void)
{
	static char memory[4096] __attribute__((aligned(4096)));
	struct connection connection;
	struct sockaddr_in address;
	int listener;

	if (is_kernel())
		return;
	listener = listening_socket(&address);
	connection.client = sockets()->socket(AF_INET, SOCK_STREAM, 0);
	check(connection.client >= 0, "socket: %m");
	set_int(connection.client, SOL_RDMA, RDMA_IOMAPSIZE, 1);
	set_int(connection.client, SOL_RDMA, RDMA_RQSIZE, 32);
	check_ok(sockets()->connect(connection.client, (struct sockaddr *)&address, sizeof(address)));
	connection.server = sockets()->accept(listener, NULL, NULL);
	check(connection.server >= 0, "accept: %m");
	for (int i = 0; i < 200; i++) {
		check(riomap(connection.server, memory, sizeof(memory), PROT_WRITE, 0, 0) == 0, "riomap: %m");
		check_ok(riounmap(connection.server, memory, sizeof(memory)));
		poll_one(connection.client, POLLIN, 0);
		poll_one(connection.server, POLLIN, 0);
	}
	/* The peer tells of room only when somebody looks there. */
	for (int i = 0; i < 500 && !poll_one(connection.server, POLLOUT, 10); i++)
		poll_one(connection.client, POLLIN, 0);
	check(poll_one(connection.server, POLLOUT, 0) == POLLOUT, "no room to send");
	send_all(connection.server, "abc", 3);
	receive_all(connection.client, in, 3);
	check_ok(sockets()->close(listener));
	close_connection(&connection);
}

static const struct test tests[] = {
	TEST(echo),
	SLOW_TEST(much, 60),
	TEST(full_until_read),
	TEST(peek),
	TEST(wait_for_all),
	TEST(not_waiting),
	TEST(pieces),
	TEST(half_close),
	TEST(close_after_sending),
	TEST(end_wakes_the_reader),
	TEST(own_shutdown_wakes_the_reader),
	SLOW_TEST(both_directions, 60),
	TEST(time_limits),
	TEST(nothing_to_send),
	TEST(many_mappings),
};

int main(int argc, char **argv)
{
	return RUN_TESTS(tests, argc, argv);
}
