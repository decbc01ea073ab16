/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files of sysfs that libraries look at. */
#include "sysfs.h"

#include "faults.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool is(const void *in, size_t in_size, const char *path)
{
	return in_size == strlen(path) && !memcmp(in, path, in_size);
}

long file_call(struct client *client, const void *in, size_t in_size, struct answer *answer)
{
	char text[16];
	int size;

	(void)client;
	if (!is(in, in_size, "/sys/class/misc/rdma_cm/abi_version"))
		return -ENOENT;
	size = snprintf(text, sizeof(text), "%u\n", cm_abi());
	answer_bytes(answer, text, (size_t)size);
	return size;
}
