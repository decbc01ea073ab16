/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events of completion channels and of contexts. A queue's descriptor counts its events. Programs wait on it, but only
 * this process takes from it, together with the event: so an event can be withdrawn, and no two readers meet.
 */
#include "verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct event {
	struct event *next;
	const struct object *object;
	uint32_t *reported;
	struct verbs_event event;
};

int events_open(struct event_queue *queue)
{
	queue->first = queue->last = NULL;
	queue->fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	return queue->fd < 0 ? -1 : 0;
}

void events_close(struct event_queue *queue)
{
	events_forget(queue, NULL);
	close(queue->fd);
}

static void add(struct event_queue *queue, const struct event *template)
{
	struct event *event = malloc(sizeof(*event));

	if (!event)
		abort();
	*event = *template;
	event->next = NULL;
	if (queue->last)
		queue->last->next = event;
	else
		queue->first = event;
	queue->last = event;
	eventfd_write(queue->fd, 1);
}

void events_add(struct event_queue *queue, struct object *object, uint32_t *reported, uint32_t type)
{
	add(queue, &(struct event){ .object = object, .reported = reported, .event = { object->cookie, type, 0 } });
}

void events_add_port(struct event_queue *queue, uint32_t type, uint32_t port)
{
	add(queue, &(struct event){ .event = { port, type, 0 } });
}

void object_event(struct object *object, enum ibv_event_type type)
{
	events_add(&object->context->events, object, &object->reported.async, type);
}

/* There is an event, so that this does not wait. */
static void uncount(struct event_queue *queue)
{
	eventfd_t one;

	eventfd_read(queue->fd, &one);
}

void events_forget(struct event_queue *queue, const struct object *object)
{
	struct event **link = &queue->first;

	queue->last = NULL;
	while (*link) {
		struct event *event = *link;

		if (object && event->object != object) {
			queue->last = event;
			link = &event->next;
			continue;
		}
		*link = event->next;
		uncount(queue);
		free(event);
	}
}

int events_take(struct event_queue *queue, struct verbs_event *taken)
{
	struct event *event = queue->first;

	if (!event) {
		errno = EAGAIN;
		return -1;
	}
	*taken = event->event;
	if (event->reported)
		++*event->reported;
	queue->first = event->next;
	if (!queue->first)
		queue->last = NULL;
	uncount(queue);
	free(event);
	return 0;
}

CALL(call_get_event)
{
	const struct verbs_name *in = call->in;
	struct context *context = contexts;
	struct channel *channel;

	/* The last event of a context tells that its device is gone. */
	while (context && context->number != in->context)
		context = context->next;
	if (!context)
		return -EBADF;
	if (in->handle == VERBS_ASYNC_EVENTS)
		return events_take(&context->events, call->out) ? -errno : 0;
	channel = object_find(context, UVERBS_OBJECT_COMP_CHANNEL, in->handle);
	return channel && !events_take(&channel->events, call->out) ? 0 : -errno;
}
