/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What programs do with descriptors: those that play nodes look like nodes, and their copies are known too. */
#include "call.h"
#include "cm/cm.h"
#include "files.h"
#include "next.h"
#include "protocol.h"
#include "real.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

REPLACES int close(int fd)
{
	/* A program that closes all that it may have open does not mean ours. */
	if (sim_is_connection(fd)) {
		errno = EBADF;
		return -1;
	}
	sim_file_forget(fd);
	return NEXT(close)(fd);
}

REPLACES int dup(int fd)
{
	int copy = NEXT(dup)(fd);

	if (copy >= 0)
		sim_file_copy(fd, copy);
	return copy;
}

REPLACES int dup2(int fd, int wanted)
{
	int copy = NEXT(dup2)(fd, wanted);

	if (copy >= 0 && copy != fd)
		sim_file_copy(fd, copy);
	return copy;
}

REPLACES int dup3(int fd, int wanted, int flags)
{
	int copy = NEXT(dup3)(fd, wanted, flags);

	if (copy >= 0)
		sim_file_copy(fd, copy);
	return copy;
}

/* Every argument that fcntl() takes fits into a long. */
#define FCNTL(name)                                                             \
	REPLACES int name(int fd, int command, ...)                             \
	{                                                                       \
		va_list arguments;                                              \
		long argument;                                                  \
		int result;                                                     \
										\
		va_start(arguments, command);                                   \
		argument = va_arg(arguments, long);                             \
		va_end(arguments);                                              \
		result = NEXT(name)(fd, command, argument);                     \
		if (result >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC)) \
			sim_file_copy(fd, result);                              \
		return result;                                                  \
	}

FCNTL(fcntl)
FCNTL(fcntl64)

/* What the status of a node is instead of that of the descriptor that plays it. */
static int as_node(int fd, mode_t *mode, dev_t *device)
{
	uint64_t number;
	enum sim_file_kind kind = sim_file_kind(fd, &number);

	if (!kind)
		return 0;
	*mode = S_IFCHR | 0666;
	*device = kind == SIM_FILE_CM ? makedev(SIM_CM_MAJOR, SIM_CM_MINOR) : makedev(231, 192 + (unsigned int)number);
	return 1;
}

REPLACES int fstat(int fd, struct stat *status)
{
	int result = NEXT(fstat)(fd, status);

	if (!result)
		as_node(fd, &status->st_mode, &status->st_rdev);
	return result;
}

REPLACES int fstat64(int fd, struct stat64 *status)
{
	int result = NEXT(fstat64)(fd, status);

	if (!result)
		as_node(fd, &status->st_mode, &status->st_rdev);
	return result;
}

REPLACES int statx(int folder, const char *restrict path, int flags, unsigned int mask, struct statx *restrict status)
{
	int result = NEXT(statx)(folder, path, flags, mask, status);
	mode_t mode;
	dev_t device;

	if (!result && !*path && as_node(folder, &mode, &device)) {
		status->stx_mode = (uint16_t)mode;
		status->stx_rdev_major = major(device);
		status->stx_rdev_minor = minor(device);
	}
	return result;
}

/* The path of a node, where the link is that of a descriptor of this process under /proc. */
static ssize_t node_path(const char *name, const char *link, ssize_t length, char *target, size_t size)
{
	uint64_t number;
	char path[64], *end;
	long fd = strtol(name, &end, 10);
	enum sim_file_kind kind;
	size_t full;

	if (end == name || *end || (strncmp(link, "socket:", 7) && strncmp(link, "/memfd:", 7)))
		return length;
	kind = sim_file_kind((int)fd, &number);
	if (!kind)
		return length;
	sim_file_path(kind, number, path, sizeof(path));
	full = strlen(path) < size ? strlen(path) : size;
	memcpy(target, path, full);
	return (ssize_t)full;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

REPLACES ssize_t readlinkat(int folder, const char *restrict path, char *restrict target, size_t size)
{
	ssize_t length = NEXT(readlinkat)(folder, path, target, size);

	return length < 7 ? length : node_path(last_part(path), target, length, target, size);
}

REPLACES ssize_t readlink(const char *restrict path, char *restrict target, size_t size)
{
	ssize_t length = NEXT(readlink)(path, target, size);

	return length < 7 ? length : node_path(last_part(path), target, length, target, size);
}

REPLACES ssize_t write(int fd, const void *data, size_t size)
{
	uint64_t file;

	if (sim_file_kind(fd, &file) == SIM_FILE_CM)
		return sim_cm_write(fd, file, data, size);
	return NEXT(write)(fd, data, size);
}
