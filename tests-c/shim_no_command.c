/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Preloaded, makes a kernel that has the command for user events look like one that does not: such a kernel answers
 * EINVAL to a number that it does not know.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

enum { WRITE_CM_EVENT = 24 };

/* What every command for the connection manager begins with. */
struct header {
	uint32_t command;
	uint16_t in;
	uint16_t out;
};

static ssize_t (*next_write)(int, const void *, size_t);

__attribute__((constructor)) static void find_next_write(void)
{
	next_write = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
}

static bool is_user_event(int fd, const void *data, size_t size)
{
	struct header header;
	struct stat file;

	if (size < sizeof(header))
		return false;
	memcpy(&header, data, sizeof(header));
	return header.command == WRITE_CM_EVENT && sizeof(header) + header.in == size && !fstat(fd, &file) &&
	       S_ISCHR(file.st_mode);
}

ssize_t write(int fd, const void *data, size_t size)
{
	if (is_user_event(fd, data, size)) {
		errno = EINVAL;
		return -1;
	}
	return next_write(fd, data, size);
}
