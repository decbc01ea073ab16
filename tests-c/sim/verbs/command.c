/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands by ioctl(2) on the descriptor of a context: which objects are on it. */
#include "inside.h"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <sys/ioctl.h>

enum { ATTRIBUTES = 3 };

static struct ib_uverbs_attr *find(struct ib_uverbs_ioctl_hdr *command, uint16_t id, size_t size)
{
	for (int i = 0; i < ATTRIBUTES; i++)
		if (command->attrs[i].attr_id == id && command->attrs[i].len >= size)
			return &command->attrs[i];
	return NULL;
}

static int info_handles(uint32_t context, struct ib_uverbs_ioctl_hdr *command)
{
	struct verbs_kind kind = { .context = context };
	struct ib_uverbs_attr *object, *total, *list;
	uint32_t count;
	long found;

	if (command->num_attrs != ATTRIBUTES) {
		errno = EINVAL;
		return -1;
	}
	object = find(command, UVERBS_ATTR_INFO_OBJECT_ID, sizeof(uint64_t));
	total = find(command, UVERBS_ATTR_INFO_TOTAL_HANDLES, sizeof(count));
	list = find(command, UVERBS_ATTR_INFO_HANDLES_LIST, sizeof(uint32_t));
	if (!object || !total || !list) {
		errno = EINVAL;
		return -1;
	}
	kind.kind = (uint32_t)object->data;
	found = sim_call(VERBS_HANDLES, &kind, sizeof(kind), (void *)(uintptr_t)list->data,
			 list->len / sizeof(uint32_t) * sizeof(uint32_t));
	if (found < 0)
		return -1;
	count = (uint32_t)found;
	*(uint32_t *)(uintptr_t)total->data = count;
	return 0;
}

__attribute__((visibility("default"))) int ioctl(int fd, unsigned long request, ...)
{
	struct command_mark mark;
	struct ib_uverbs_ioctl_hdr *command;
	va_list arguments;
	void *argument;

	va_start(arguments, request);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	if (request != RDMA_VERBS_IOCTL || syscall(SYS_pread64, fd, &mark, sizeof(mark), 0L) != sizeof(mark) ||
	    mark.magic != COMMAND_MAGIC)
		return (int)syscall(SYS_ioctl, fd, request, argument);
	command = argument;
	if (command->object_id != UVERBS_OBJECT_DEVICE || command->method_id != UVERBS_METHOD_INFO_HANDLES) {
		errno = EPROTONOSUPPORT;
		return -1;
	}
	return info_handles(mark.context, command);
}
