/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Contexts, and the table of the objects on them. */
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

/* A handle is a place in the table, and fits into the upper bits of a key and the lower ones of a queue pair's number. */
enum { FIRST_HANDLE = 16, END_HANDLE = 1 << 20 };

static struct slot {
	struct object *object;
	uint32_t generation;
	uint32_t next_free;
} *slots;
static uint32_t slot_count, first_free;

struct context *contexts;

struct context *context_open(struct client *client, struct device *device)
{
	static uint32_t last_number;
	struct context *context = calloc(1, sizeof(*context));

	if (!context || events_open(&context->events)) {
		free(context);
		return NULL;
	}
	context->number = ++last_number;
	context->client = client;
	context->device = device;
	context->next = contexts;
	contexts = context;
	return context;
}

/* Objects that others need were made before those. */
void context_close(struct context *context)
{
	struct context **link = &contexts;

	for (struct object *object = context->objects; object; object = object->next)
		if (object->kind == UVERBS_OBJECT_QP)
			memberships_free((struct queue_pair *)object);
	while (context->objects)
		for (struct object *object = context->objects, *next; object; object = next) {
			next = object->next;
			/* The list begins with the youngest. */
			if (!object_destroy(object))
				break;
		}
	events_close(&context->events);
	while (*link != context)
		link = &(*link)->next;
	*link = context->next;
	free(context);
}

struct context *context_find(struct client *client, uint32_t number)
{
	struct context *context = contexts;

	while (context && context->number != number)
		context = context->next;
	/* A forked child may use what it has inherited; a program on another host cannot know of it. */
	if (!context || context->client->host != client->host) {
		errno = EBADF;
		return NULL;
	}
	if (context->gone) {
		errno = EIO;
		return NULL;
	}
	return context;
}

static bool grow(void)
{
	uint32_t count = slot_count ? 2 * slot_count : 256;
	struct slot *larger;

	if (count > END_HANDLE || !(larger = realloc(slots, count * sizeof(*slots)))) {
		errno = ENOMEM;
		return false;
	}
	slots = larger;
	for (uint32_t i = count; i-- > slot_count;) {
		slots[i] = (struct slot){ .next_free = first_free };
		if (i >= FIRST_HANDLE)
			first_free = i;
	}
	slot_count = count;
	return true;
}

void *object_new(struct context *context, enum uverbs_default_objects kind, size_t size, uint64_t cookie)
{
	struct object *object;

	if (!first_free && !grow())
		return NULL;
	object = calloc(1, size);
	if (!object)
		return NULL;
	*object = (struct object){
		.kind = kind,
		.handle = first_free,
		.generation = slots[first_free].generation,
		.context = context,
		.cookie = cookie,
		.next = context->objects,
	};
	context->objects = object;
	first_free = slots[object->handle].next_free;
	slots[object->handle].object = object;
	return object;
}

void object_free(struct object *object)
{
	struct object **link = &object->context->objects;
	struct slot *slot = &slots[object->handle];

	while (*link != object)
		link = &(*link)->next;
	*link = object->next;
	events_forget(&object->context->events, object);
	*slot = (struct slot){ .generation = slot->generation + 1, .next_free = first_free };
	first_free = object->handle;
	free(object);
}

void *object_at(enum uverbs_default_objects kind, uint32_t handle)
{
	struct object *object = handle < slot_count ? slots[handle].object : NULL;

	return object && object->kind == kind ? object : NULL;
}

void *object_find(struct context *context, enum uverbs_default_objects kind, uint32_t handle)
{
	struct object *object = object_at(kind, handle);

	if (!object || object->context != context) {
		errno = EINVAL;
		return NULL;
	}
	return object;
}

int object_destroy(struct object *object)
{
	bool attached = object->kind == UVERBS_OBJECT_QP && ((struct queue_pair *)object)->memberships;

	if (object->users || attached) {
		errno = EBUSY;
		return -1;
	}
	switch (object->kind) {
	case UVERBS_OBJECT_COMP_CHANNEL:
		channel_free((struct channel *)object);
		break;
	case UVERBS_OBJECT_CQ:
		completion_queue_free((struct completion_queue *)object);
		break;
	case UVERBS_OBJECT_QP:
		queue_pair_free((struct queue_pair *)object);
		break;
	case UVERBS_OBJECT_SRQ:
		shared_queue_free((struct shared_queue *)object);
		break;
	case UVERBS_OBJECT_AH:
		address_handle_free((struct address_handle *)object);
		break;
	case UVERBS_OBJECT_MR:
		region_free((struct region *)object);
		break;
	default:
		object_free(object);
	}
	return 0;
}

CALL(call_destroy)
{
	const struct verbs_name *in = call->in;
	struct verbs_reported *out = call->out;
	struct context *context = contexts;
	struct object *object = in->handle < slot_count ? slots[in->handle].object : NULL;

	/* Also when the device is gone. */
	while (context && context->number != in->context)
		context = context->next;
	if (!context)
		return -EBADF;
	if (!object || object->context != context)
		return -EINVAL;
	*out = object->reported;
	return object_destroy(object) ? -errno : 0;
}

CALL(call_handles)
{
	const struct verbs_kind *in = call->in;
	struct context *context = context_find(call->client, in->context);
	size_t room = call->out_size / sizeof(uint32_t);
	uint32_t *out = call->out;
	long count = 0;

	if (!context)
		return -errno;
	for (struct object *object = context->objects; object && (size_t)count < room; object = object->next)
		if (object->kind == in->kind)
			out[count++] = object->handle;
	call->used = (size_t)count * sizeof(*out);
	return count;
}

CALL(call_create_pd)
{
	const struct verbs_name *in = call->in;
	struct context *context = context_find(call->client, in->context);
	struct object *pd = context ? object_new(context, UVERBS_OBJECT_PD, sizeof(*pd), 0) : NULL;

	if (!pd)
		return -errno;
	*(uint32_t *)call->out = pd->handle;
	return 0;
}

static struct xrc_domain *find_domain(const struct device *device, uint64_t file_device, uint64_t inode)
{
	for (uint32_t handle = 0; handle < slot_count; handle++) {
		struct xrc_domain *domain = object_at(UVERBS_OBJECT_XRCD, handle);

		if (domain && domain->object.context->device == device && domain->device == file_device &&
		    domain->inode == inode)
			return domain;
	}
	return NULL;
}

CALL(call_create_xrcd)
{
	const struct verbs_new_xrcd *in = call->in;
	struct context *context = context_find(call->client, in->context);
	struct xrc_domain *domain;
	bool exists;

	if (!context)
		return -errno;
	if (!context->device->has_xrc)
		return -EOPNOTSUPP;
	exists = in->inode && find_domain(context->device, in->device, in->inode);
	if (!in->inode && !(in->flags & O_CREAT))
		return -EINVAL;
	if (!exists && !(in->flags & O_CREAT))
		return -EAGAIN;
	if (exists && (in->flags & O_EXCL))
		return -EINVAL;
	domain = object_new(context, UVERBS_OBJECT_XRCD, sizeof(*domain), 0);
	if (!domain)
		return -errno;
	domain->device = in->device;
	domain->inode = in->inode;
	*(uint32_t *)call->out = domain->object.handle;
	return 0;
}
