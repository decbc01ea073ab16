/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Devices: their list, opening and closing. */
#include "inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MAX_DEVICES = 256 };

/* A device that was seen once stays, at the same address. Without a lock, since the process may fork at any time. */
static struct sim_device *devices;

static struct sim_device *find(const struct verbs_device *told)
{
	struct sim_device *device = __atomic_load_n(&devices, __ATOMIC_ACQUIRE);

	while (device && (device->index != told->index || device->guid != told->guid))
		device = device->next;
	return device;
}

static struct sim_device *enter(const struct verbs_device *told)
{
	struct sim_device *device = find(told);

	if (device)
		return device;
	device = calloc(1, sizeof(*device));
	if (!device)
		return NULL;
	device->index = told->index;
	device->guid = told->guid;
	device->device.node_type = told->node_type;
	device->device.transport_type = told->transport;
	memcpy(device->device.name, told->name, sizeof(device->device.name));
	snprintf(device->device.dev_name, sizeof(device->device.dev_name), "uverbs%u", told->number);
	snprintf(device->device.dev_path, sizeof(device->device.dev_path), "/sys/class/infiniband_verbs/uverbs%u",
		 told->number);
	snprintf(device->device.ibdev_path, sizeof(device->device.ibdev_path), "/sys/class/infiniband/%s", told->name);
	device->next = __atomic_load_n(&devices, __ATOMIC_ACQUIRE);
	while (!__atomic_compare_exchange_n(&devices, &device->next, device, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
	return device;
}

/* The real library looks for devices through a socket, or in files. */
static bool has_room_to_look(void)
{
	int fd = (int)syscall(SYS_memfd_create, "look", MFD_CLOEXEC);

	if (fd >= 0)
		real_close(fd);
	return fd >= 0;
}

struct ibv_device **ibv_get_device_list(int *count)
{
	struct verbs_device *told = calloc(MAX_DEVICES, sizeof(*told));
	struct ibv_device **list = calloc(MAX_DEVICES + 1, sizeof(*list));
	long found = -1;

	if (count)
		*count = 0;
	if (told && list && has_room_to_look())
		found = sim_call(VERBS_DEVICES, NULL, 0, told, MAX_DEVICES * sizeof(*told));
	for (long i = 0; i < found; i++) {
		struct sim_device *device = enter(&told[i]);

		if (!device) {
			found = -1;
			break;
		}
		list[i] = &device->device;
	}
	free(told);
	if (found < 0) {
		free(list);
		return NULL;
	}
	if (count)
		*count = (int)found;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
	return ((struct sim_device *)device)->guid;
}

int ibv_get_device_index(struct ibv_device *device)
{
	return (int)((struct sim_device *)device)->index;
}

/* Its name is what a link in /proc/self/fd of a real context shows. */
static int make_command_fd(const struct ibv_device *device, uint32_t context)
{
	struct command_mark mark = { .magic = COMMAND_MAGIC, .context = context };
	char name[128];
	int fd;

	snprintf(name, sizeof(name), "/dev/infiniband/%s", device->dev_name);
	fd = (int)syscall(SYS_memfd_create, name, MFD_CLOEXEC);
	if (fd >= 0 && syscall(SYS_write, fd, &mark, sizeof(mark)) != sizeof(mark)) {
		real_close(fd);
		return -1;
	}
	return fd;
}

static void fill(struct sim_context *context, struct ibv_device *device, const struct verbs_opened *opened)
{
	context->number = opened->context;
	context->verbs.sz = sizeof(context->verbs);
	context->verbs.query_port = query_port;
	context->verbs.query_device_ex = query_device_ex;
	context->verbs.open_xrcd = open_xrcd;
	context->verbs.close_xrcd = close_xrcd;
	context->verbs.create_srq_ex = create_srq_ex;
	context->verbs.get_srq_num = get_srq_num;
	context->verbs.create_qp_ex = create_qp_ex;
	context->verbs.context.device = device;
	context->verbs.context.num_comp_vectors = (int)opened->completion_vectors;
	context->verbs.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	context->verbs.context.ops.poll_cq = poll_cq;
	context->verbs.context.ops.req_notify_cq = req_notify_cq;
	context->verbs.context.ops.post_send = post_send;
	context->verbs.context.ops.post_recv = post_recv;
	context->verbs.context.ops.post_srq_recv = post_srq_recv;
	pthread_mutex_init(&context->verbs.context.mutex, NULL);
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	uint32_t index = ((struct sim_device *)device)->index;
	struct sim_context *context = calloc(1, sizeof(*context));
	struct verbs_opened opened;
	int async_fd;

	if (!context)
		return NULL;
	if (sim_call_fds(VERBS_OPEN, &index, sizeof(index), &opened, sizeof(opened), &async_fd, 1) < 0) {
		free(context);
		return NULL;
	}
	fill(context, device, &opened);
	context->verbs.context.async_fd = async_fd;
	context->verbs.context.cmd_fd = make_command_fd(device, opened.context);
	if (context->verbs.context.cmd_fd < 0) {
		int error = errno;

		ibv_close_device(&context->verbs.context);
		errno = error;
		return NULL;
	}
	return &context->verbs.context;
}

int ibv_close_device(struct ibv_context *context)
{
	struct verbs_name name = name_of(context, VERBS_NONE);

	TELL(VERBS_CLOSE, &name);
	real_close(context->async_fd);
	if (context->cmd_fd >= 0)
		real_close(context->cmd_fd);
	pthread_mutex_destroy(&context->mutex);
	free(verbs_get_ctx(context));
	return 0;
}
