/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cm.h"

#include "../call.h"
#include "../files.h"
#include "../next.h"
#include "../protocol.h"
#include "../real.h"

#include <rdma/rdma_user_cm.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>

enum { COMMAND_MAX = 8192 };

/* A thread that takes an event sees what others did before the commands that led to it, of which ThreadSanitizer is told. */
extern void __tsan_release(void *place) __attribute__((weak));
extern void __tsan_acquire(void *place) __attribute__((weak));
static char order;

int sim_cm_open(int flags)
{
	struct sim_cm_opened opened;
	int fd;

	if (sim_call_fds(SIM_CM_OPEN, NULL, 0, &opened, sizeof(opened), &fd, 1) < 0)
		return -1;
	if (!(flags & O_CLOEXEC))
		real_fcntl(fd, F_SETFD, 0);
	if (flags & O_NONBLOCK)
		real_fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK);
	sim_file_add(fd, SIM_FILE_CM, opened.file);
	return fd;
}

/*
 * Readiness is bytes in the descriptor, which is one end of a stream: the kernel process puts one in for an event,
 * and tells whoever took events how many to take out.
 */
static void take_out(int fd, uint32_t count)
{
	char bytes[64];

	while (count) {
		ssize_t taken = real_recv(fd, bytes, count < sizeof(bytes) ? count : sizeof(bytes), MSG_DONTWAIT);

		if (taken <= 0)
			return;
		count -= (uint32_t)taken;
	}
}

/* One question of a command; 0 or more, -1 with errno, or -2: wait for an event. */
static ssize_t ask(int fd, const struct sim_cm_command *command, int other_fd, const void *data, size_t size)
{
	struct {
		struct sim_cm_answer head;
		unsigned char bytes[COMMAND_MAX];
	} answer;
	size_t answered;
	long result = sim_call_parts(SIM_CM_COMMAND, command, sizeof(*command), data, size, &answer, sizeof(answer), &answered);
	int error = errno;

	if (answered >= sizeof(answer.head)) {
		take_out(fd, answer.head.used);
		take_out(other_fd, answer.head.used_other);
	}
	errno = error;
	if (result < 0)
		return -1;
	if (answer.head.again)
		return -2;
	if (real_copy_to_user((void *)(uintptr_t)answer.head.address, answer.bytes, answered - sizeof(answer.head)))
		return -1;
	return result;
}

/* Until there is an event; here a signal interrupts or restarts, and the thread may be cancelled. */
static bool wait_for_event(int fd)
{
	char byte;
	ssize_t there = NEXT(recv)(fd, &byte, 1, MSG_PEEK);

	if (!there)
		errno = EIO;
	return there == 1;
}

/* Commands with more in them than their bytes: a descriptor, or memory elsewhere. Returns the bytes to send. */
static size_t complete(const struct rdma_ucm_cmd_hdr *header, unsigned char *bytes, size_t size,
		       struct sim_cm_command *command, int *other_fd)
{
	if (header->cmd == RDMA_USER_CM_CMD_MIGRATE_ID) {
		struct rdma_ucm_migrate_id migrate;

		if (size < sizeof(*header) + sizeof(migrate))
			return size;
		memcpy(&migrate, bytes + sizeof(*header), sizeof(migrate));
		if (sim_file_kind((int)migrate.fd, &command->other_file) == SIM_FILE_CM)
			*other_fd = (int)migrate.fd;
	} else if (header->cmd == RDMA_USER_CM_CMD_SET_OPTION) {
		struct rdma_ucm_set_option option;

		if (size != sizeof(*header) + sizeof(option))
			return size;
		memcpy(&option, bytes + sizeof(*header), sizeof(option));
		if (option.optlen > COMMAND_MAX - size)
			return size;
		/* What is not there to be read is not sent, and the kernel process says EFAULT. */
		if (!real_copy_to_user(bytes + size, (void *)(uintptr_t)option.optval, option.optlen))
			size += option.optlen;
	}
	return size;
}

ssize_t sim_cm_write(int fd, uint64_t file, const void *data, size_t size)
{
	unsigned char bytes[COMMAND_MAX];
	struct sim_cm_command command = { .file = file };
	struct rdma_ucm_cmd_hdr header = { .cmd = UINT32_MAX };
	size_t sent = size < 4096 ? size : 4096;
	int other_fd = -1;
	ssize_t result;

	if (real_copy_to_user(bytes, data, sent))
		return -1;
	if (sent >= sizeof(header)) {
		memcpy(&header, bytes, sizeof(header));
		sent = complete(&header, bytes, sent, &command, &other_fd);
	}
	if (__tsan_release)
		__tsan_release(&order);
	for (bool first = true;; first = false) {
		int state;

		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
		result = ask(fd, &command, other_fd, bytes, sent);
		pthread_setcancelstate(state, NULL);
		if (result != -2)
			break;
		/* Another thread has the event, and is about to take its byte. */
		if (!first)
			sched_yield();
		if (!wait_for_event(fd))
			return -1;
	}
	if (__tsan_acquire && header.cmd == RDMA_USER_CM_CMD_GET_EVENT)
		__tsan_acquire(&order);
	/* All of it was taken, unless the answer is that less was. */
	return result == 0 ? (ssize_t)size : result;
}
