/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opening: the connection manager's node, its files in sysfs, and netlink sockets that RDMA answers. */
#include "call.h"
#include "cm/cm.h"
#include "next.h"
#include "protocol.h"
#include "real.h"

#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static bool is_cm_node(const char *path)
{
	char by_number[32];

	snprintf(by_number, sizeof(by_number), "/dev/char/%d:%d", SIM_CM_MAJOR, SIM_CM_MINOR);
	return !strcmp(path, SIM_CM_NODE) || !strcmp(path, by_number);
}

/* A file of sysfs, as an anonymous file with its text. -1 with ENOENT for one that is not simulated. */
static int open_sysfs(const char *path, int flags)
{
	char text[4096];
	long size = sim_call(SIM_FILE, path, strlen(path), text, sizeof(text));
	int fd;

	if (size < 0)
		return -1;
	fd = (int)syscall(SYS_memfd_create, path, flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
	if (fd >= 0 && syscall(SYS_pwrite64, fd, text, size, 0) != size) {
		real_close(fd);
		errno = EIO;
		return -1;
	}
	return fd;
}

/* Whether the path is a simulated one; then *fd is its descriptor, or -1 with errno. */
static bool open_simulated(const char *path, int flags, int *fd)
{
	if (!path)
		return false;
	if (is_cm_node(path)) {
		*fd = sim_cm_open(flags);
		return true;
	}
	if (starts_with(path, "/sys/class/misc/rdma_cm/") || starts_with(path, "/sys/class/infiniband")) {
		*fd = open_sysfs(path, flags);
		return *fd >= 0 || errno != ENOENT;
	}
	return false;
}

#define OPEN(name)                                                              \
	REPLACES int name(const char *path, int flags, ...)                     \
	{                                                                       \
		va_list arguments;                                              \
		mode_t mode;                                                    \
		int fd;                                                         \
										\
		if (open_simulated(path, flags, &fd))                           \
			return fd;                                              \
		va_start(arguments, flags);                                     \
		mode = mode_of(flags, &arguments);                              \
		va_end(arguments);                                              \
		return NEXT(name)(path, flags, mode);                           \
	}

#define OPENAT(name)                                                            \
	REPLACES int name(int folder, const char *path, int flags, ...)         \
	{                                                                       \
		va_list arguments;                                              \
		mode_t mode;                                                    \
		int fd;                                                         \
										\
		if (open_simulated(path, flags, &fd))                           \
			return fd;                                              \
		va_start(arguments, flags);                                     \
		mode = mode_of(flags, &arguments);                              \
		va_end(arguments);                                              \
		return NEXT(name)(folder, path, flags, mode);                   \
	}

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

REPLACES int socket(int family, int kind, int protocol)
{
	int fd;

	if (family != AF_NETLINK || protocol != NETLINK_RDMA)
		return NEXT(socket)(family, kind, protocol);
	if (sim_call_fds(SIM_NETLINK_OPEN, NULL, 0, NULL, 0, &fd, 1) < 0)
		return -1;
	if (!(kind & SOCK_CLOEXEC))
		real_fcntl(fd, F_SETFD, 0);
	if (kind & SOCK_NONBLOCK)
		real_fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK);
	return fd;
}
