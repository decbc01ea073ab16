/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "inject.h"

#include <link.h>
#include <pthread.h>
#include <string.h>

static struct faults *faults;
static uintptr_t low, high;	/* of the library */
/* Reached without a call, which might need memory. */
static __thread bool armed __attribute__((tls_model("initial-exec")));
static volatile bool others_armed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int find_library(struct dl_phdr_info *object, size_t size, void *unused)
{
	const char *base = strrchr(object->dlpi_name, '/');

	(void)size;
	(void)unused;
	if (strncmp(base ? base + 1 : object->dlpi_name, "librdmacm.so", strlen("librdmacm.so")))
		return 0;
	low = UINTPTR_MAX;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		uintptr_t start = object->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD)
			continue;
		low = start < low ? start : low;
		high = start + part->p_memsz > high ? start + part->p_memsz : high;
	}
	return 1;
}

REPLACES void faults_use(struct faults *new)
{
	if (!high)
		dl_iterate_phdr(find_library, NULL);
	faults = new;
}

REPLACES void faults_arm(bool arm)
{
	armed = arm;
}

REPLACES void faults_arm_others(bool arm)
{
	others_armed = arm;
}

uintptr_t faults_place(const void *address)
{
	uintptr_t at = (uintptr_t)address;

	return at >= low && at < high ? at - low : 0;
}

int faults_way(const struct faults_kind *kind, const void *caller)
{
	uintptr_t place = faults_place(caller);
	int error = 0;

	if (!place || !faults || !(armed || others_armed))
		return 0;
	pthread_mutex_lock(&lock);
	if (faults->calls < FAULTS_CALLS)
		faults->trace[faults->calls] = kind;
	faults->calls++;
	/* Threads take turns, so that it may be another call than in the first run, which cannot fail that way. */
	if (faults->nth && faults->calls >= faults->nth && !faults->happened && kind->ways[faults->way]) {
		faults->nth = faults->calls;
		error = kind->ways[faults->way];
		faults->kind = kind;
		faults->error = error;
		faults->place = place;
		faults->happened = true;
	}
	pthread_mutex_unlock(&lock);
	return error;
}
