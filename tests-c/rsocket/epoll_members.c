/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rules of epoll(7) about members that connect, end and are closed, with sets of sockets of either kind. */
#include "sets.h"

#include <string.h>
#include <unistd.h>

static char in[1];

static void end_of_peer(void)
{
	struct connection connection = open_connection();
	int set = open_set(), writing = open_set();

	add(set, connection.client, EPOLLIN | EPOLLRDHUP | EPOLLET);
	add(writing, connection.client, EPOLLOUT | EPOLLET);
	check_one(writing, connection.client, EPOLLOUT);
	send_all(connection.server, "x", 1);
	check_one(set, connection.client, EPOLLIN);
	check_ok(sockets()->shutdown(connection.server, SHUT_WR));
	wait_for(set, connection.client, EPOLLIN | EPOLLRDHUP);
	check_one(writing, connection.client, EPOLLOUT);
	receive_all(connection.client, in, 1);
	check(sockets()->recv(connection.client, in, 1, 0) == 0, "no end");
	check_ok(sockets()->shutdown(connection.client, SHUT_WR));
	modify(set, connection.client, 0);
	wait_for(set, connection.client, EPOLLHUP);
	check_ok(sockets()->close(connection.server));
	close_set(set);
	close_set(writing);
	check_ok(sockets()->close(connection.client));
}

static void close_member(void)
{
	struct connection first = open_connection(), second = open_connection();
	struct epoll_event event = { .events = EPOLLIN };
	int set = open_set(), ends[2];

	add(set, first.client, EPOLLIN);
	add(set, second.client, EPOLLIN);
	send_all(first.server, "x", 1);
	check_one(set, first.client, EPOLLIN);
	check_ok(sockets()->close(first.client));
	check_nothing(set, 50);
	/* The number is another file's. */
	check_ok(pipe(ends));
	check(ends[0] == first.client || ends[1] == first.client, "%d was not used again", first.client);
	check_fails(sockets()->epoll_ctl(set, EPOLL_CTL_MOD, first.client, &event), ENOENT);
	check_fails(sockets()->epoll_ctl(set, EPOLL_CTL_DEL, first.client, &event), ENOENT);
	add(set, ends[0], EPOLLIN);
	check(write(ends[1], "x", 1) == 1, "write: %m");
	check_one(set, ends[0], EPOLLIN);
	check(read(ends[0], in, 1) == 1, "read: %m");
	check_nothing(set, 0);
	send_all(second.server, "x", 1);
	check_one(set, second.client, EPOLLIN);
	check_ok(close(ends[0]));
	check_ok(close(ends[1]));
	/* The number is another socket's. */
	first.client = sockets()->socket(AF_INET, SOCK_STREAM, 0);
	check_fails(sockets()->epoll_ctl(set, EPOLL_CTL_DEL, first.client, &event), ENOENT);
	check_ok(sockets()->close(first.client));
	check_ok(sockets()->close(first.server));
	close_set(set);
	close_connection(&second);
}

static void close_set_first(void)
{
	struct connection connection = open_connection();
	int before = count_fds(NULL), set;

	for (int i = 0; i < 100; i++) {
		set = open_set();
		add(set, connection.client, EPOLLIN | (i % 2 ? EPOLLET : 0));
		close_set(set);
	}
	check(count_fds(NULL) == before, "%d descriptors more", count_fds(NULL) - before);
	check_fails(sockets()->close(set), EBADF);
	check_fails(sockets()->epoll_wait(set, &(struct epoll_event){ 0 }, 1, 0), EBADF);
	send_all(connection.server, "x", 1);
	receive_all(connection.client, in, 1);
	close_connection(&connection);
}

static void errors(void)
{
	struct connection connection = open_connection();
	struct epoll_event event = { .events = EPOLLIN }, events[2];
	int set = open_set(), member = connection.client, file = open("/etc/passwd", O_RDONLY);

	check_fails(sockets()->epoll_create(0x1234), EINVAL);
	check_fails(sockets()->epoll_ctl(-1, EPOLL_CTL_ADD, member, &event), EBADF);
	check_fails(sockets()->epoll_ctl(set, EPOLL_CTL_ADD, -1, &event), EBADF);
	check_fails(sockets()->epoll_ctl(set, EPOLL_CTL_ADD, set, &event), EINVAL);
	check_fails(sockets()->epoll_ctl(file, EPOLL_CTL_ADD, member, &event), EINVAL);
	check_fails(sockets()->epoll_ctl(set, EPOLL_CTL_ADD, file, &event), EPERM);
	check_fails(sockets()->epoll_ctl(set, EPOLL_CTL_ADD, member, NULL), EFAULT);
	check_fails(sockets()->epoll_ctl(set, 77, member, &event), EINVAL);
	check_fails(sockets()->epoll_ctl(set, EPOLL_CTL_MOD, member, &event), ENOENT);
	check_fails(sockets()->epoll_ctl(set, EPOLL_CTL_DEL, member, NULL), ENOENT);
	event.events = EPOLLIN | EPOLLEXCLUSIVE | EPOLLONESHOT;
	check_fails(sockets()->epoll_ctl(set, EPOLL_CTL_ADD, member, &event), EINVAL);
	event.events = EPOLLIN | EPOLLEXCLUSIVE | EPOLLRDHUP;
	check_fails(sockets()->epoll_ctl(set, EPOLL_CTL_ADD, member, &event), EINVAL);
	add(set, member, EPOLLIN);
	check_fails(sockets()->epoll_ctl(set, EPOLL_CTL_ADD, member, &event), EINVAL);
	event.events = EPOLLIN;
	check_fails(sockets()->epoll_ctl(set, EPOLL_CTL_ADD, member, &event), EEXIST);
	event.events = EPOLLIN | EPOLLEXCLUSIVE;
	check_fails(sockets()->epoll_ctl(set, EPOLL_CTL_MOD, member, &event), EINVAL);
	check_ok(sockets()->epoll_ctl(set, EPOLL_CTL_DEL, member, NULL));
	check_fails(sockets()->epoll_ctl(set, EPOLL_CTL_DEL, member, NULL), ENOENT);
	for (int most = -1; most <= 0; most++)
		check_fails(sockets()->epoll_wait(set, events, most, 0), EINVAL);
	check_fails(sockets()->epoll_wait(file, events, 1, 0), EINVAL);
	check_fails(sockets()->epoll_wait(-1, events, 1, 0), EBADF);
	add(set, connection.client, EPOLLOUT);
	check_fails(sockets()->epoll_wait(set, NULL, 1, 0), EFAULT);
	close_set(set);
	set = sockets()->epoll_create(EPOLL_CLOEXEC);
	check(fcntl(set, F_GETFD) == FD_CLOEXEC, "no FD_CLOEXEC");
	close_set(set);
	check_ok(close(file));
	close_connection(&connection);
}

static void listener(void)
{
	struct sockaddr_in address;
	int set = open_set(), listener = listening_socket(&address), clients[3], server;

	add(set, listener, EPOLLIN | EPOLLET);
	check_nothing(set, 0);
	for (int i = 0; i < 2; i++) {
		clients[i] = sockets()->socket(AF_INET, SOCK_STREAM, 0);
		check_ok(sockets()->connect(clients[i], (struct sockaddr *)&address, sizeof(address)));
		check_one(set, listener, EPOLLIN);
		check_nothing(set, 50);
	}
	modify(set, listener, EPOLLIN);
	for (int i = 0; i < 2; i++) {
		check_one(set, listener, EPOLLIN);
		server = sockets()->accept(listener, NULL, NULL);
		check(server >= 0, "accept: %m");
		check_ok(sockets()->close(clients[i]));
		check_ok(sockets()->close(server));
	}
	check_nothing(set, 50);
	check_ok(sockets()->close(listener));
	close_set(set);
}

/* A socket that is a member before it connects. */
static void connecting(void)
{
	struct sockaddr_in address;
	int set = open_set(), listener = listening_socket(&address), client, server, dead;

	client = sockets()->socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	dead = sockets()->socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	add(set, client, EPOLLIN | EPOLLOUT);
	check_one(set, client, EPOLLOUT | EPOLLHUP);
	modify(set, client, EPOLLIN | EPOLLOUT | EPOLLET);
	check_one(set, client, EPOLLOUT | EPOLLHUP);
	check_fails(sockets()->connect(client, (struct sockaddr *)&address, sizeof(address)), EINPROGRESS);
	wait_for(set, client, EPOLLOUT);
	check(!get_int(client, SOL_SOCKET, SO_ERROR), "an error");
	server = sockets()->accept(listener, NULL, NULL);
	check(server >= 0, "accept: %m");
	send_all(server, "x", 1);
	wait_for(set, client, EPOLLIN | EPOLLOUT);
	check_ok(sockets()->close(listener));
	/* Nobody is there. */
	add(set, dead, EPOLLIN | EPOLLOUT);
	check_one(set, dead, EPOLLOUT | EPOLLHUP);
	check(sockets()->connect(dead, (struct sockaddr *)&address, sizeof(address)) == -1, "connected");
	/* The kernel's sockets know at once, if the peer is near. */
	if (errno == EINPROGRESS) {
		wait_for(set, dead, EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP);
		check(get_int(dead, SOL_SOCKET, SO_ERROR) == ECONNREFUSED, "not refused");
	} else {
		check(errno == ECONNREFUSED, "connect: %m");
	}
	check_ok(sockets()->close(dead));
	check_ok(sockets()->close(client));
	check_ok(sockets()->close(server));
	close_set(set);
}

/* A child has the descriptors, but does not disturb the parent. */
static struct connection inherited;
static int inherited_set;

static void child(void)
{
	check_ok(sockets()->close(inherited.client));
	check_ok(sockets()->close(inherited_set));
}

static void forked(void)
{
	inherited = open_connection();
	inherited_set = open_set();
	add(inherited_set, inherited.client, EPOLLIN);
	run_child(child);
	send_all(inherited.server, "x", 1);
	check_one(inherited_set, inherited.client, EPOLLIN);
	close_set(inherited_set);
	close_connection(&inherited);
}

static const struct test tests[] = {
	TEST(end_of_peer),
	TEST(close_member),
	TEST(close_set_first),
	TEST(errors),
	TEST(listener),
	TEST(connecting),
	TEST(forked),
};

int main(int argc, char **argv)
{
	return RUN_TESTS(tests, argc, argv);
}
