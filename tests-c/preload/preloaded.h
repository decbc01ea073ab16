/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs that know nothing but the kernel's sockets, whose rules their cases state. They run as they are, and with
 * librspreload.so: then their connections are made over RDMA.
 */
#ifndef TESTS_PRELOADED_H
#define TESTS_PRELOADED_H

#include "../rsocket/sockets.h"

/* Whether librspreload.so is there. */
bool is_preloaded(void);

/* Whether it is a socket over RDMA by now. */
bool is_over_rdma(int socket);

/* Fails if it is not, though librspreload.so is there. */
void check_over_rdma(int socket);

/* A socket that librspreload.so does not know of. */
int plain_socket(void);

/* As run_tests(), with the functions of libc. */
int run_preloaded(const struct test *tests, size_t count, int argc, char **argv);

#define RUN_PRELOADED(tests, argc, argv) run_preloaded(tests, sizeof(tests) / sizeof((tests)[0]), argc, argv)

/* Both directions of a connection work. */
void check_works(int one, int other);

#endif
