/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What there is, for tests that look for leaks. */
#include "verbs.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *name;
	enum uverbs_default_objects kind;
	const char *number;
} kinds[] = {
	{ "pd", UVERBS_OBJECT_PD, "pdn" },
	{ "cq", UVERBS_OBJECT_CQ, "cqn" },
	{ "qp", UVERBS_OBJECT_QP, "lqpn" },
	{ "mr", UVERBS_OBJECT_MR, "mrn" },
	{ "srq", UVERBS_OBJECT_SRQ, "srqn" },
	{ "ah", UVERBS_OBJECT_AH, "ahn" },
	{ "xrcd", UVERBS_OBJECT_XRCD, "xrcdn" },
	{ "channel", UVERBS_OBJECT_COMP_CHANNEL, "channeln" },
};

static void show(struct answer *answer, const struct context *context, const char *number, uint32_t value)
{
	char line[256];
	int length = snprintf(line, sizeof(line), "link %s/- %s %u pid %d comm %s \n", context->device->name, number,
			      value, (int)context->client->pid, context->client->program);

	/* A list that does not fit is long enough to show a leak. */
	if (answer->size + (size_t)length <= sizeof(answer->data))
		answer_bytes(answer, line, (size_t)length);
}

static void show_objects(struct answer *answer, const struct context *context, size_t which)
{
	for (const struct object *object = context->objects; object; object = object->next)
		if (object->kind == kinds[which].kind)
			show(answer, context, kinds[which].number, object->handle);
}

long verbs_resources(const char *kind, struct answer *answer)
{
	bool found = !strcmp(kind, "ctx");

	for (const struct context *context = contexts; context; context = context->next) {
		if (!strcmp(kind, "ctx"))
			show(answer, context, "ctxn", context->number);
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			if (!strcmp(kind, kinds[i].name))
				show_objects(answer, context, i);
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		found |= !strcmp(kind, kinds[i].name);
	return found ? 0 : -EOPNOTSUPP;
}
