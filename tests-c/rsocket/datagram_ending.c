/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Datagram sockets that come and go, and devices that are removed. */
#include "../script.h"
#include "datagram.h"

#include <pthread.h>
#include <unistd.h>

static void exchange(void)
{
	int one = bound_socket(), other = bound_socket();

	back_and_forth(one, other, 5);
	close_both(one, other);
}

/* A peer that begins anew at the same address is found again. */
static void reborn(void)
{
	int one = bound_socket(), other = bound_socket();
	struct sockaddr_in other_name = name_of(other);

	for (int life = 0; life < 3; life++) {
		back_and_forth(other, one, 5);
		check_ok(sockets()->close(other));
		other = sockets()->socket(AF_INET, SOCK_DGRAM, 0);
		check_ok(sockets()->bind(other, (struct sockaddr *)&other_name, sizeof(other_name)));
	}
	close_both(one, other);
}

static void come_and_go(void)
{
	int other = bound_socket();
	struct sockaddr_in other_name = name_of(other);

	for (int round = 0; round < 50; round++) {
		int one = bound_socket();
		struct sockaddr_in one_name = name_of(one);

		send_to(one, "x", 1, &other_name);
		receive_from(other, 1, &one_name);
		check_ok(sockets()->close(one));
	}
	check_ok(sockets()->close(other));
}

static void *receive_until_closed(void *socket)
{
	check_fails(sockets()->recv(*(int *)socket, in, 1, 0), EBADF);
	return NULL;
}

static void closed_meanwhile(void)
{
	int one = bound_socket(), other = bound_socket(), closed = other;
	struct sockaddr_in other_name = name_of(other);
	pthread_t threads[3];

	if (is_kernel())
		skip_test("the kernel's calls go on waiting");
	send_to(one, "x", 1, &other_name);
	receive_from(other, 1, NULL);
	for (int i = 0; i < 3; i++)
		threads[i] = start_thread(receive_until_closed, &closed);
	usleep(100000);
	check_ok(sockets()->close(other));
	for (int i = 0; i < 3; i++)
		check(thread_ends(threads[i], 10000), "recv does not return");
	/* Number and port are free. */
	other = sockets()->socket(AF_INET, SOCK_DGRAM, 0);
	check(other == closed, "number %d instead of %d", other, closed);
	check_ok(sockets()->bind(other, (struct sockaddr *)&other_name, sizeof(other_name)));
	close_both(one, other);
}

/* The number of a socket that close(2) has closed is the next one's, and stays that. */
static void number_again(void)
{
	int one = bound_socket(), other = bound_socket(), again;
	struct sockaddr_in one_name = name_of(one), other_name = name_of(other);

	if (is_kernel())
		skip_test("close(2) is right for them");
	send_to(one, "x", 1, &other_name);
	receive_from(other, 1, &one_name);
	check_ok(close(one));
	again = sockets()->socket(AF_INET, SOCK_STREAM, 0);
	check(again == one, "number %d instead of %d", again, one);
	check(fcntl(again, F_GETFD) >= 0, "it is closed: %m");
	close_both(again, other);
	exchange();
}

static int inherited;

static void in_child(void)
{
	check_fails(sockets()->recv(inherited, in, 1, MSG_DONTWAIT), EPERM);
	check_ok(sockets()->close(inherited));
	exchange();
}

/* The parent's are the parent's. */
static void forked(void)
{
	int one = bound_socket(), other = bound_socket();
	struct sockaddr_in one_name = name_of(one), other_name = name_of(other);

	if (is_kernel())
		skip_test("the kernel's sockets are both's");
	send_to(one, "x", 1, &other_name);
	receive_from(other, 1, &one_name);
	inherited = one;
	run_child(in_child);
	for (int round = 0; round < 5; round++) {
		send_to(one, "x", 1, &other_name);
		receive_from(other, 1, &one_name);
	}
	close_both(one, other);
}

/* A queue pair that has failed is replaced. */
static void failed_queue_pair(void)
{
	int one = bound_socket(), other = bound_socket();

	if (is_kernel())
		skip_test("they have none");
	/* More often than it has places for messages, one of which is lost each time. */
	for (int life = 0; life < 100; life++) {
		script("fail ibv_post_recv 1 EIO");
		back_and_forth(one, other, 3);
	}
	close_both(one, other);
}

static void *receive_nothing(void *socket)
{
	check_fails(sockets()->recv(*(int *)socket, in, 1, 0), ENODEV);
	return NULL;
}

/* No call waits for what cannot come. The last case, since the device that comes back may be another one. */
static void removed_device(void)
{
	int one, other;
	struct sockaddr_in one_name, other_name;
	pthread_t waiter;

	if (is_kernel())
		skip_test("they have no device");
	one = bound_socket(), other = bound_socket();
	one_name = name_of(one), other_name = name_of(other);
	for (int round = 0; round < 3; round++) {
		send_to(one, "x", 1, &other_name);
		receive_from(other, 1, &one_name);
	}
	/* What is not taken stays in the device's memory. */
	send_to(other, "x", 1, &one_name);
	send_to(other, "x", 1, &one_name);
	check(poll_one(one, POLLIN, 10000) == POLLIN, "nothing has come");
	waiter = start_thread(receive_nothing, &other);
	usleep(100000);
	script("remove rxe0");
	check(thread_ends(waiter, 10000), "recv does not return");
	check(sockets()->sendto(other, "x", 1, 0, (struct sockaddr *)&one_name, sizeof(one_name)) == -1, "sent");
	close_both(one, other);
	script("device rxe0 roce");
	script("address " SOCKETS_ADDRESS "/24 rxe0");
	exchange();
}

static const struct test tests[] = {
	TEST(come_and_go), TEST(reborn), TEST(closed_meanwhile), TEST(number_again), TEST(forked),
	TEST(failed_queue_pair), TEST(removed_device),
};

int main(int argc, char **argv)
{
	return RUN_TESTS(tests, argc, argv);
}
