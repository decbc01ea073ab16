/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The same commands as the library's, written straight to the device: what the kernel alone costs. */
#include "way.h"

#include "die.h"

#include <fcntl.h>
#include <rdma/rdma_user_cm.h>
#include <stdint.h>
#include <unistd.h>

/* Of linux/rdma_user_cm.h's users; that header and the library's cannot be included together. */
enum { USER_EVENT = 18 };

struct write_message {
	struct rdma_ucm_cmd_hdr header;
	struct rdma_ucm_write_cm_event body;
};

struct get_message {
	struct rdma_ucm_cmd_hdr header;
	struct rdma_ucm_get_event body;
};

/* All messages are made once: nothing is measured but the kernel. */
static struct rdma_ucm_event_resp reply;
static const struct get_message get_message = {
	.header = { RDMA_USER_CM_CMD_GET_EVENT, sizeof(get_message.body), sizeof(reply) },
	.body = { .response = (uintptr_t)&reply },
};
static struct write_message write_messages[ENDS];
static int fds[ENDS], empty;

static int open_device(int flags)
{
	int fd = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC | flags);

	if (fd < 0)
		die("/dev/infiniband/rdma_cm");
	return fd;
}

static __u32 create_id(int fd)
{
	struct rdma_ucm_create_id_resp created;
	struct {
		struct rdma_ucm_cmd_hdr header;
		struct rdma_ucm_create_id body;
	} message = {
		.header = { RDMA_USER_CM_CMD_CREATE_ID, sizeof(message.body), sizeof(created) },
		.body = { .uid = 1, .response = (uintptr_t)&created, .ps = RDMA_PS_TCP },
	};

	if (write(fd, &message, sizeof(message)) != sizeof(message))
		die("CREATE_ID");
	return created.id;
}

static void open_ends(void)
{
	for (int i = 0; i < ENDS; i++) {
		fds[i] = open_device(0);
		write_messages[i] = (struct write_message){
			.header = { RDMA_USER_CM_CMD_WRITE_CM_EVENT, sizeof(write_messages[i].body), 0 },
			.body = { .id = create_id(fds[i]), .event = USER_EVENT, .status = 1, .param.arg = 2 },
		};
	}
	empty = open_device(O_NONBLOCK);
}

static void write_one(int end)
{
	if (write(fds[end], &write_messages[end], sizeof(write_messages[end])) != sizeof(write_messages[end]))
		die("WRITE_CM_EVENT");
}

static int get_event(int fd)
{
	return write(fd, &get_message, sizeof(get_message)) == sizeof(get_message);
}

static void read_one(int end)
{
	if (!get_event(fds[end]))
		die("GET_EVENT");
}

static void get_one(int end, int slot)
{
	(void)slot;
	read_one(end);
}

static void read_nothing(void)
{
	if (get_event(empty))
		die("an event from nowhere");
}

const struct way raw_way = {
	.name = "raw",
	.open = open_ends,
	.write = write_one,
	.read = read_one,
	.get = get_one,
	.read_nothing = read_nothing,
};
