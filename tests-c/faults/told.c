/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "told.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>

/* Failures that the library tells of by another errno, as rdma_cma.h documents. */
static const struct {
	const char *function;
	int failure, told;	/* failure 0: all of them */
} documented[] = {
	/* The kernel takes a command as a whole. */
	{ "write", FAULTS_SHORT, ENODATA },
	/* A device that cannot be used is none. */
	{ "ibv_get_device_list", 0, ENODEV },
	{ "ibv_open_device", 0, ENODEV },
	{ "ibv_query_device", 0, ENODEV },
	/* EAGAIN of a socket's call would say that it is worth waiting. */
	{ "mmap", EAGAIN, ENOMEM },
	{ "pthread_key_create", EAGAIN, ENOMEM },
	/* getaddrinfo(3): its values, and what EAI_SYSTEM leaves in errno. */
	{ "getaddrinfo", EAI_MEMORY, ENOMEM },
	{ "getaddrinfo", EAI_AGAIN, EAGAIN },
	{ "getaddrinfo", EAI_SYSTEM, EMFILE },
};

bool is_told(const struct faults *faults, int error)
{
	if (error == faults->error)
		return true;
	for (size_t i = 0; i < sizeof(documented) / sizeof(documented[0]); i++)
		if (!strcmp(documented[i].function, faults->kind->name) && documented[i].told == error &&
		    (!documented[i].failure || documented[i].failure == faults->error))
			return true;
	return false;
}
