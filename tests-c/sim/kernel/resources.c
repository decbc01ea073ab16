/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "resources.h"

#include "verbs_hooks.h"

#include <errno.h>
#include <string.h>

long resources_call(struct client *client, const void *in, size_t in_size, struct answer *answer)
{
	char kind[32] = "";
	FILE *out;

	(void)client;
	memcpy(kind, in, in_size < sizeof(kind) - 1 ? in_size : sizeof(kind) - 1);
	if (strcmp(kind, "cm_id"))
		return verbs_resources(kind, answer);
	out = fmemopen(answer->data, sizeof(answer->data), "w");
	if (!out)
		return -errno;
	list_cm_ids(out);
	answer->size = (size_t)ftell(out);
	fclose(out);
	return 0;
}
