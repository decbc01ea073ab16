/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A child of fork(): inherited sockets are the parent's, and are left alone; it can make its own, whatever other threads
 * of the parent were in the middle of. */
#include "sockets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct connection connection;
static bool is_over;

static void talk(const struct connection *with)
{
	char word[5] = "";

	send_all(with->client, "there", 5);
	receive_all(with->server, word, 5);
	check(!memcmp(word, "there", 5), "'%.5s' came", word);
	send_all(with->server, "and b", 5);
	receive_all(with->client, word, 5);
	check(!memcmp(word, "and b", 5), "'%.5s' came back", word);
}

static void talk_by_own_sockets(void)
{
	struct connection own = open_connection();

	talk(&own);
	close_connection(&own);
}

static void is_not_permitted(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t length = sizeof(int);
	char byte = 0;
	int value = 0;

	check_fails((int)sockets()->send(connection.client, &byte, 1, 0), EPERM);
	check_fails((int)sockets()->recv(connection.server, &byte, 1, MSG_DONTWAIT), EPERM);
	check_fails(sockets()->shutdown(connection.client, SHUT_RDWR), EPERM);
	check_fails(sockets()->listen(connection.client, 1), EPERM);
	check_fails(sockets()->connect(connection.client, (struct sockaddr *)&address, sizeof(address)), EPERM);
	check_fails(sockets()->getsockopt(connection.client, SOL_SOCKET, SO_ERROR, &value, &length), EPERM);
	check_fails(sockets()->fcntl(connection.client, F_GETFL), EPERM);
	check(poll_one(connection.client, POLLIN, 0) == POLLERR, "poll finds something");
}

static void inherited_sockets(void)
{
	connection = open_connection();
	run_child(is_not_permitted);
	talk(&connection);
	close_connection(&connection);
}

static void close_and_go_on(void)
{
	check_ok(sockets()->close(connection.client));
	check_ok(sockets()->close(connection.server));
	check_fails(sockets()->close(connection.server), EBADF);
	talk_by_own_sockets();
}

static void closed_by_the_child(void)
{
	connection = open_connection();
	run_child(close_and_go_on);
	talk(&connection);
	close_connection(&connection);
}

/* As daemons do. The numbers are given out again. */
static void close_descriptors_and_go_on(void)
{
	close(connection.client);
	close(connection.server);
	talk_by_own_sockets();
}

static void descriptors_closed_by_the_child(void)
{
	connection = open_connection();
	run_child(close_descriptors_and_go_on);
	talk(&connection);
	close_connection(&connection);
}

static bool is_file(int fd, const char *name)
{
	char path[32], target[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, target, sizeof(target) - 1) > 0 && !strcmp(target, name);
}

static void reuse_numbers_and_go_on(void)
{
	bool is_reused[64] = { false };
	int null = open("/dev/null", O_RDWR);

	check(null >= 0, "open: %m");
	for (int fd = 3; fd < 64; fd++)
		if (is_file(fd, "anon_inode:[eventfd]")) {
			check(dup2(null, fd) == fd, "dup2: %m");
			is_reused[fd] = true;
		}
	talk_by_own_sockets();
	for (int fd = 3; fd < 64; fd++)
		check(!is_reused[fd] || is_file(fd, "/dev/null"), "%d is closed", fd);
}

/* What the thread of the parent has to sleep with is no more than numbers to the child. */
static void numbers_reused_by_the_child(void)
{
	connection = open_connection();
	check(!poll_one(connection.server, POLLIN, 10), "something came");
	run_child(reuse_numbers_and_go_on);
	talk(&connection);
	close_connection(&connection);
}

static void exit_at_once(void)
{
	exit(EXIT_SUCCESS);
}

static void left_by_the_child(void)
{
	connection = open_connection();
	run_child(exit_at_once);
	talk(&connection);
	close_connection(&connection);
}

static void *come_and_go(void *unused)
{
	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE))
		talk_by_own_sockets();
	return unused;
}

static void *talk_on(void *unused)
{
	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE))
		talk(&connection);
	return unused;
}

static void use_all(void)
{
	is_not_permitted();
	close_and_go_on();
	exit(EXIT_SUCCESS);
}

static void child_of_a_busy_parent(void)
{
	pthread_t busy[2];

	connection = open_connection();
	busy[0] = start_thread(come_and_go, NULL);
	busy[1] = start_thread(talk_on, NULL);
	for (int i = 0; i < 15; i++) {
		sleep_ms(1 + i % 3);
		run_child(use_all);
	}
	__atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
	join_thread(busy[0]);
	join_thread(busy[1]);
	talk(&connection);
	close_connection(&connection);
}

static const struct test tests[] = {
	TEST(inherited_sockets),
	TEST(closed_by_the_child),
	TEST(descriptors_closed_by_the_child),
	TEST(numbers_reused_by_the_child),
	TEST(left_by_the_child),
	SLOW_TEST(child_of_a_busy_parent, 120),
};

int main(int argc, char **argv)
{
	return RUN_TESTS(tests, argc, argv);
}
