/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "preloaded.h"

#include <rdma/rsocket.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

bool is_preloaded(void)
{
	const char *objects = getenv("LD_PRELOAD");

	return objects && strstr(objects, "librspreload.so");
}

bool is_over_rdma(int socket)
{
	int size;
	socklen_t length = sizeof(size);

	return getsockopt(socket, SOL_RDMA, RDMA_SQSIZE, &size, &length) == 0;
}

void check_over_rdma(int socket)
{
	check(is_over_rdma(socket) == is_preloaded(), "over RDMA: %d", is_over_rdma(socket));
}

int plain_socket(void)
{
	int number = (int)syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);

	check(number >= 0, "socket: %m");
	return number;
}

int run_preloaded(const struct test *tests, size_t count, int argc, char **argv)
{
	setenv("SOCKETS", "kernel", 1);
	return run_tests(tests, count, argc, argv);
}

void check_works(int one, int other)
{
	char data[4];

	send_all(one, "ping", 4);
	receive_all(other, data, 4);
	check(!memcmp(data, "ping", 4), "%.4s", data);
	send_all(other, "pong", 4);
	receive_all(one, data, 4);
	check(!memcmp(data, "pong", 4), "%.4s", data);
}
