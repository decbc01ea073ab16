/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "files.h"

#include "protocol.h"
#include "real.h"

#include <stdio.h>
#include <sys/types.h>

enum { FD_COUNT = 65536 };

/*
 * No lock: each field is written before the kind, and a descriptor belongs to one thread until it is handed out. The
 * inode tells a descriptor that was closed behind our back, by close_range() or the like, from the next of its number.
 */
static struct file {
	enum sim_file_kind kind;
	uint64_t number;
	ino_t inode;
} files[FD_COUNT];

static ino_t inode_of(int fd)
{
	int error = errno;
	struct stat status;
	ino_t inode = real_fstat(fd, &status) ? 0 : status.st_ino;

	errno = error;
	return inode;
}

void sim_file_add(int fd, enum sim_file_kind kind, uint64_t number)
{
	if (fd < 0 || fd >= FD_COUNT)
		return;
	files[fd].number = number;
	files[fd].inode = inode_of(fd);
	__atomic_store_n(&files[fd].kind, kind, __ATOMIC_RELEASE);
}

void sim_file_forget(int fd)
{
	if (fd >= 0 && fd < FD_COUNT && files[fd].kind)
		__atomic_store_n(&files[fd].kind, SIM_FILE_NONE, __ATOMIC_RELEASE);
}

void sim_file_copy(int from, int to)
{
	uint64_t number;
	enum sim_file_kind kind = sim_file_kind(from, &number);

	if (kind)
		sim_file_add(to, kind, number);
	else
		sim_file_forget(to);
}

enum sim_file_kind sim_file_kind(int fd, uint64_t *number)
{
	enum sim_file_kind kind;

	if (fd < 0 || fd >= FD_COUNT)
		return SIM_FILE_NONE;
	kind = __atomic_load_n(&files[fd].kind, __ATOMIC_ACQUIRE);
	if (!kind || files[fd].inode != inode_of(fd))
		return SIM_FILE_NONE;
	*number = files[fd].number;
	return kind;
}

void sim_file_path(enum sim_file_kind kind, uint64_t number, char *path, size_t size)
{
	if (kind == SIM_FILE_CM)
		snprintf(path, size, "%s", SIM_CM_NODE);
	else
		snprintf(path, size, "/dev/infiniband/uverbs%u", (unsigned int)number);
}
