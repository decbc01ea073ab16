/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The descriptors of this process that play nodes under /dev/infiniband. */
#ifndef SIM_FILES_H
#define SIM_FILES_H

#include <stddef.h>
#include <stdint.h>

enum sim_file_kind {
	SIM_FILE_NONE,
	SIM_FILE_CM,		/* /dev/infiniband/rdma_cm; the number is the kernel process's */
	SIM_FILE_UVERBS,	/* /dev/infiniband/uverbs<number> */
};

/* From now on, until it is closed, the descriptor and its copies are this. */
void sim_file_add(int fd, enum sim_file_kind kind, uint64_t number);
/* A copy of a descriptor, which may be any. */
void sim_file_copy(int from, int to);
/* It is about to be closed. */
void sim_file_forget(int fd);

/* What a descriptor is, and its number. NONE for all that is not from here. */
enum sim_file_kind sim_file_kind(int fd, uint64_t *number);

/* The path of such a descriptor's node. */
void sim_file_path(enum sim_file_kind kind, uint64_t number, char *path, size_t size);

#endif
