/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Completion queues and their channels. */
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t ring_bytes(uint32_t size)
{
	return sizeof(struct verbs_ring) + size * sizeof(struct ibv_wc);
}

/* Memory for a ring, and its descriptor; NULL with errno. */
static struct verbs_ring *ring_new(uint32_t size, int *fd)
{
	void *ring = MAP_FAILED;

	*fd = memfd_create("completions", MFD_CLOEXEC);
	if (*fd >= 0 && !ftruncate(*fd, (off_t)ring_bytes(size)))
		ring = mmap(NULL, ring_bytes(size), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (ring == MAP_FAILED) {
		if (*fd >= 0)
			close(*fd);
		*fd = -1;
		return NULL;
	}
	((struct verbs_ring *)ring)->size = size;
	return ring;
}

/* How many completions have not been read. The program's count may be anything. */
static uint32_t unread(const struct completion_queue *queue)
{
	return queue->written - __atomic_load_n(&queue->ring->read, __ATOMIC_ACQUIRE);
}

static void notify(struct completion_queue *queue)
{
	queue->armed = UNARMED;
	if (queue->channel)
		events_add(&queue->channel->events, &queue->object, &queue->object.reported.completion, 0);
}

void completion_add(struct completion_queue *queue, const struct ibv_wc *completion, bool solicited)
{
	if (queue->overrun)
		return;
	if (unread(queue) >= queue->size) {
		queue->overrun = true;
		object_event(&queue->object, IBV_EVENT_CQ_ERR);
		return;
	}
	queue->ring->entries[queue->written % queue->size] = *completion;
	__atomic_store_n(&queue->ring->written, ++queue->written, __ATOMIC_RELEASE);
	if (queue->armed == ARMED || (queue->armed == ARMED_SOLICITED && (solicited || completion->status)))
		notify(queue);
}

void completion_queue_free(struct completion_queue *queue)
{
	if (queue->channel)
		events_forget(&queue->channel->events, &queue->object);
	object_leave(queue->channel);
	munmap(queue->ring, ring_bytes(queue->size));
	object_free(&queue->object);
}

void channel_free(struct channel *channel)
{
	events_close(&channel->events);
	object_free(&channel->object);
}

CALL(call_create_channel)
{
	const struct verbs_name *in = call->in;
	struct context *context = context_find(call->client, in->context);
	struct channel *channel;

	if (!context)
		return -errno;
	channel = object_new(context, UVERBS_OBJECT_COMP_CHANNEL, sizeof(*channel), 0);
	if (!channel)
		return -errno;
	if (events_open(&channel->events)) {
		object_free(&channel->object);
		return -errno;
	}
	call->fd = fcntl(channel->events.fd, F_DUPFD_CLOEXEC, 0);
	if (call->fd < 0) {
		channel_free(channel);
		return -EMFILE;
	}
	*(uint32_t *)call->out = channel->object.handle;
	return 0;
}

CALL(call_create_cq)
{
	const struct verbs_new_cq *in = call->in;
	struct context *context = context_find(call->client, in->context);
	struct completion_queue *queue;
	struct channel *channel = NULL;

	if (!context)
		return -errno;
	if (!in->size || in->size > DEVICE_MAX_CQE || in->vector >= DEVICE_VECTORS)
		return -EINVAL;
	if (in->channel != VERBS_NONE) {
		channel = object_find(context, UVERBS_OBJECT_COMP_CHANNEL, in->channel);
		if (!channel)
			return -errno;
	}
	queue = object_new(context, UVERBS_OBJECT_CQ, sizeof(*queue), in->cookie);
	if (!queue)
		return -errno;
	queue->size = in->size;
	queue->ring = ring_new(in->size, &call->fd);
	if (!queue->ring) {
		object_free(&queue->object);
		return -ENOMEM;
	}
	queue->channel = object_use(channel);
	*(uint32_t *)call->out = queue->object.handle;
	return 0;
}

/* What has not been read moves to the new memory. */
CALL(call_resize_cq)
{
	const struct verbs_resized_cq *in = call->in;
	struct context *context = context_find(call->client, in->cq.context);
	struct completion_queue *queue;
	struct verbs_ring *ring;
	uint32_t count;

	if (!context)
		return -errno;
	queue = object_find(context, UVERBS_OBJECT_CQ, in->cq.handle);
	if (!queue)
		return -errno;
	count = unread(queue);
	if (!in->size || in->size > DEVICE_MAX_CQE || count > in->size)
		return -EINVAL;
	ring = ring_new(in->size, &call->fd);
	if (!ring)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		ring->entries[i] = queue->ring->entries[(queue->written - count + i) % queue->size];
	ring->written = count;
	munmap(queue->ring, ring_bytes(queue->size));
	queue->ring = ring;
	queue->size = in->size;
	queue->written = count;
	*(uint32_t *)call->out = queue->object.handle;
	return 0;
}

CALL(call_arm_cq)
{
	const struct verbs_armed_cq *in = call->in;
	struct context *context = context_find(call->client, in->cq.context);
	struct completion_queue *queue;

	if (!context)
		return -errno;
	queue = object_find(context, UVERBS_OBJECT_CQ, in->cq.handle);
	if (!queue)
		return -errno;
	/* The more that was asked for, the earlier the event: it stays. */
	if (queue->armed != ARMED)
		queue->armed = in->solicited_only ? ARMED_SOLICITED : ARMED;
	return 0;
}
