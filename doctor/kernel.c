/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#define NODE "/dev/infiniband/rdma_cm"

/* Of rdma/rdma_user_cm.h, which may be older where this is built. */
enum { QUERY = 19, RESOLVE_IB_SERVICE = 23, WRITE_CM_EVENT = 24 };
enum { ABI_MIN = 3, ABI_MAX = 4, USER_EVENT = 18 };
static const uint32_t NO_ID = UINT32_MAX;

static bool user_event_command;

bool has_user_event_command(void)
{
	return user_event_command;
}

/*
 * Whether the kernel knows a command, whose body has that size and begins with these words. It is asked with an id that
 * there is not: a command that is known says so (ENOENT), one that is not is invalid.
 */
static bool knows(int fd, uint32_t command, uint16_t body_size, const uint32_t words[4])
{
	struct {
		uint32_t command;
		uint16_t in, out;
		unsigned char body[512];	/* kernels read the whole struct, whatever the length */
	} message = { .command = command, .in = body_size };

	memcpy(message.body, words, 4 * sizeof(words[0]));
	return write(fd, &message, offsetof(typeof(message), body) + body_size) < 0 && errno != EINVAL && errno != ENOSYS;
}

static void examine_commands(int fd)
{
	const uint32_t query[4] = { 0, 0, NO_ID }, event[4] = { NO_ID, 0, USER_EVENT }, service[4] = { NO_ID };

	if (!knows(fd, QUERY, 16, query)) {
		find(NOTE, "commands", "IP addresses only: AF_IB needs Linux 3.11");
		advise("nothing is to be done, unless a program uses AF_IB");
	}
	user_event_command = knows(fd, WRITE_CM_EVENT, 24, event);
	if (knows(fd, RESOLVE_IB_SERVICE, 88, service)) {
		find(FINE, "commands", "services of the subnet administrator can be looked for");
	} else {
		find(NOTE, "commands", "services of the subnet administrator cannot be looked for");
		advise("nothing is to be done, unless a program does that, on InfiniBand: rdma_resolve_addrinfo with RAI_SA");
		advise("fails with EOPNOTSUPP before Linux 6.18");
	}
}

/* False if the interface is none that is spoken here. */
static bool examine_interface(void)
{
	struct utsname system;
	char text[32];
	int version;

	if (uname(&system))
		strcpy(system.release, "?");
	if (!read_file("/sys/class/misc/rdma_cm/abi_version", text, sizeof(text))) {
		find(NOTE, "kernel", "Linux %s does not tell the interface of its connection manager", system.release);
		advise("the module may not be loaded: modprobe rdma_ucm; at each start: a line \"rdma_ucm\" in");
		advise("/etc/modules-load.d/rdma.conf; in a container it is the host that has to load it");
		return true;
	}
	version = atoi(text);
	if (version < ABI_MIN || version > ABI_MAX) {
		find(BAD, "kernel", "Linux %s, whose connection manager has the interface %s, unknown here", system.release, text);
		advise("take a newer release of the library");
		return false;
	}
	find(version == ABI_MAX ? FINE : NOTE, "kernel", "Linux %s, connection manager with interface %d", system.release, version);
	if (version != ABI_MAX)
		advise("it is old: ids cannot be moved, and there is no multicast");
	return true;
}

/* The number that sysfs tells, if it does, is that of the node. */
static void examine_number(int fd)
{
	unsigned int major_number, minor_number;
	struct stat status;
	char text[32];

	if (!read_file("/sys/class/misc/rdma_cm/dev", text, sizeof(text)) ||
	    sscanf(text, "%u:%u", &major_number, &minor_number) != 2 || fstat(fd, &status) ||
	    status.st_rdev == makedev(major_number, minor_number)) {
		find(FINE, "node", NODE);
		return;
	}
	find(BAD, "node", NODE " is that of another device: %u:%u, not %s", major(status.st_rdev), minor(status.st_rdev), text);
	advise("remove it, and udevadm trigger; the library finds the right one in /dev/char, if it is there");
}

void examine_kernel(void)
{
	bool known = examine_interface();
	int fd = open(NODE, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		find_closed_node("node", NODE);
		return;
	}
	examine_number(fd);
	if (known)
		examine_commands(fd);
	close(fd);
}
