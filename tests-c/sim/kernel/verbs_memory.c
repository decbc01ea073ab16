/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory regions, who may reach what in them, and how data gets from one process to another. */
#include "verbs.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

enum {
	REMOTE = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC,
	KNOWN_ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | REMOTE | IBV_ACCESS_OPTIONAL_RANGE,
};

/* The key also tells a region from an earlier one with the same handle. */
static uint32_t make_key(const struct object *object)
{
	return object->handle << 8 | (object->generation & 0xff);
}

static bool is_mapped(pid_t pid, uint64_t address)
{
	char byte;
	struct iovec local = { &byte, 1 }, remote = { (void *)(uintptr_t)address, 1 };

	return process_vm_readv(pid, &local, 1, &remote, 1, 0) == 1 || errno != EFAULT;
}

/* What others may write, the owner must be able to. Of the memory only the ends are looked at. */
static int set_region(struct region *region, const struct verbs_new_mr *wanted)
{
	if (wanted->access & ~(uint32_t)KNOWN_ACCESS)
		return -EOPNOTSUPP;
	if ((wanted->access & REMOTE) && !(wanted->access & IBV_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	if (wanted->address + wanted->length < wanted->address || wanted->iova + wanted->length < wanted->iova)
		return -EINVAL;
	if (wanted->length && (!is_mapped(region->pid, wanted->address) ||
			       !is_mapped(region->pid, wanted->address + wanted->length - 1)))
		return -EFAULT;
	region->address = wanted->address;
	region->length = wanted->length;
	region->iova = wanted->iova;
	region->access = wanted->access;
	return 0;
}

CALL(call_create_mr)
{
	const struct verbs_new_mr *in = call->in;
	struct verbs_made_mr *out = call->out;
	struct context *context = context_find(call->client, in->context);
	struct object *pd = context ? object_find(context, UVERBS_OBJECT_PD, in->pd) : NULL;
	struct region *region = pd ? object_new(context, UVERBS_OBJECT_MR, sizeof(*region), 0) : NULL;
	int error;

	if (!region)
		return -errno;
	region->pid = call->client->pid;
	error = set_region(region, in);
	if (error) {
		object_free(&region->object);
		return error;
	}
	region->pd = object_use(pd);
	region->key = make_key(&region->object);
	*out = (struct verbs_made_mr){ region->object.handle, region->key };
	return 0;
}

CALL(call_change_mr)
{
	const struct verbs_changed_mr *in = call->in;
	struct context *context = context_find(call->client, in->now.context);
	struct region *region = context ? object_find(context, UVERBS_OBJECT_MR, in->handle) : NULL;
	struct verbs_new_mr now = in->now;
	struct object *pd;
	int error;

	if (!region)
		return -errno;
	pd = region->pd;
	if ((in->flags & IBV_REREG_MR_CHANGE_PD) && !(pd = object_find(context, UVERBS_OBJECT_PD, now.pd)))
		return -errno;
	if (!(in->flags & IBV_REREG_MR_CHANGE_TRANSLATION)) {
		now.address = region->address;
		now.length = region->length;
		now.iova = region->iova;
	}
	if (!(in->flags & IBV_REREG_MR_CHANGE_ACCESS))
		now.access = region->access;
	error = set_region(region, &now);
	if (error)
		return error;
	object_leave(region->pd);
	region->pd = object_use(pd);
	return 0;
}

void region_free(struct region *region)
{
	object_leave(region->pd);
	object_free(&region->object);
}

static bool add_span(struct spans *spans, const struct object *pd, uint64_t address, uint64_t length, uint32_t key,
		     unsigned int access)
{
	struct region *region = object_at(UVERBS_OBJECT_MR, key >> 8);
	uint64_t offset;

	if (!region || region->key != key || region->pd != pd || (region->access & access) != access)
		return false;
	offset = address - region->iova;
	if (address < region->iova || offset > region->length || length > region->length - offset)
		return false;
	spans->span[spans->count++] = (struct span){ region->pid, region->address + offset, length };
	spans->length += length;
	return true;
}

bool spans_of_sges(struct spans *spans, const struct object *pd, const struct ibv_sge *sges, unsigned int count,
		   unsigned int access)
{
	spans->count = 0;
	spans->length = 0;
	for (unsigned int i = 0; i < count; i++)
		if (sges[i].length && !add_span(spans, pd, sges[i].addr, sges[i].length, sges[i].lkey, access))
			return false;
	return true;
}

bool spans_of_key(struct spans *spans, const struct object *pd, uint64_t address, uint64_t length, uint32_t key,
		  unsigned int access)
{
	spans->count = 0;
	spans->length = 0;
	return !length || add_span(spans, pd, address, length, key, access);
}

void spans_of_own(struct spans *spans, void *data, uint64_t length)
{
	*spans = (struct spans){ .count = 1, .length = length, .span = { { 0, (uintptr_t)data, length } } };
}

void spans_skip(struct spans *spans, uint64_t bytes)
{
	for (unsigned int i = 0; i < spans->count && bytes; i++) {
		struct span *span = &spans->span[i];
		uint64_t part = bytes < span->length ? bytes : span->length;

		span->address += part;
		span->length -= part;
		spans->length -= part;
		bytes -= part;
	}
}

/* A place in spans. */
struct position {
	const struct spans *spans;
	unsigned int index;
	uint64_t offset;
};

/* What is there in one piece; nothing at the end. */
static struct span piece(struct position *position)
{
	struct span span;

	while (position->index < position->spans->count) {
		span = position->spans->span[position->index];
		if (span.length > position->offset) {
			span.address += position->offset;
			span.length -= position->offset;
			return span;
		}
		position->index++;
		position->offset = 0;
	}
	return (struct span){ 0 };
}

static bool move(struct span there, void *here, size_t size, bool from)
{
	struct iovec local = { here, size }, remote = { (void *)(uintptr_t)there.address, size };

	if (there.pid)
		return (from ? process_vm_readv(there.pid, &local, 1, &remote, 1, 0) :
			       process_vm_writev(there.pid, &local, 1, &remote, 1, 0)) == (ssize_t)size;
	if (from)
		memcpy(here, remote.iov_base, size);
	else
		memcpy(remote.iov_base, here, size);
	return true;
}

enum copied spans_copy(const struct spans *target, const struct spans *source)
{
	static unsigned char data[1 << 18];
	struct position to = { .spans = target }, from = { .spans = source };

	for (;;) {
		struct span in = piece(&from), out = piece(&to);
		uint64_t size = in.length < out.length ? in.length : out.length;

		if (!size)
			return COPIED;
		if (size > sizeof(data))
			size = sizeof(data);
		if (!move(in, data, size, true))
			return NO_SOURCE;
		if (!move(out, data, size, false))
			return NO_TARGET;
		from.offset += size;
		to.offset += size;
	}
}
