/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Clients of the kernel process, and the calls that they make. */
#ifndef SIM_KERNEL_H
#define SIM_KERNEL_H

#include "../protocol.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct host;
struct watch;

/* A process, from its first call until it ends or executes another program. */
struct client {
	int fd;
	pid_t pid;
	char program[SIM_NAME_MAX];
	struct host *host;
	struct watch *watch;
	struct client *next;
};

/* What a call answers besides its result. */
struct answer {
	size_t size;
	uint32_t delay_ms;
	unsigned int fd_count;
	int fds[SIM_FDS_MAX];		/* closed here once they are sent */
	unsigned char data[SIM_DATA_MAX] __attribute__((aligned(16)));
};

/* Puts these bytes at the end of the answer. */
void answer_bytes(struct answer *answer, const void *data, size_t size);

/* 0 or more, or -errno. */
typedef long call_handler(struct client *client, const void *in, size_t in_size, struct answer *answer);

/* Begins to take clients at this socket. */
void serve_clients(int listening);
bool any_client(void);

#endif
