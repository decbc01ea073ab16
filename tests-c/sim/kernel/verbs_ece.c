/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options of enhanced connections, which the two ends of a connection agree on. */
#include "verbs.h"

#include <errno.h>

CALL(call_set_ece)
{
	const struct verbs_ece *in = call->in;
	struct context *context = context_find(call->client, in->qp.context);
	struct queue_pair *qp = context ? object_find(context, UVERBS_OBJECT_QP, in->qp.handle) : NULL;

	if (!qp)
		return -errno;
	if (!context->device->has_ece)
		return -EOPNOTSUPP;
	if (in->ece.vendor_id && in->ece.vendor_id != DEVICE_ECE_VENDOR)
		return -EINVAL;
	qp->ece.options = in->ece.options & DEVICE_ECE_OPTIONS;
	return 0;
}

CALL(call_query_ece)
{
	const struct verbs_name *in = call->in;
	struct context *context = context_find(call->client, in->context);
	struct queue_pair *qp = context ? object_find(context, UVERBS_OBJECT_QP, in->handle) : NULL;

	if (!qp)
		return -errno;
	if (!context->device->has_ece)
		return -EOPNOTSUPP;
	*(struct ibv_ece *)call->out = qp->ece;
	return 0;
}
