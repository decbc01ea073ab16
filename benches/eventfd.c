/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The cheapest way the kernel has to wake a thread through a descriptor. */
#include "way.h"

#include "die.h"

#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int fds[ENDS];

static void open_ends(void)
{
	for (int i = 0; i < ENDS; i++) {
		fds[i] = eventfd(0, EFD_CLOEXEC);
		if (fds[i] < 0)
			die("eventfd");
	}
}

static void write_one(int end)
{
	const uint64_t value = 1;

	if (write(fds[end], &value, sizeof(value)) != sizeof(value))
		die("eventfd write");
}

static void read_one(int end)
{
	uint64_t value;

	if (read(fds[end], &value, sizeof(value)) != sizeof(value))
		die("eventfd read");
}

const struct way eventfd_way = {
	.name = "eventfd",
	.open = open_ends,
	.write = write_one,
	.read = read_one,
};
