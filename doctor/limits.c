/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "doctor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { CAPABILITY_IPC_LOCK = 14, DESCRIPTORS = 1024 };

/* Less is not enough for a few buffers. */
static const rlim_t LOCKED_MIN = 64 << 20;

/* Whether the kernel counts locked memory of this process at all. */
static bool may_lock_anything(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	unsigned long long capabilities = 0;
	char line[256];

	if (!file)
		return false;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "CapEff: %llx", &capabilities) == 1)
			break;
	fclose(file);
	return capabilities >> CAPABILITY_IPC_LOCK & 1;
}

static void examine_memory(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit)) {
		find(NOTE, "memory", "the limit for locked memory is not told: %s", strerror(errno));
		return;
	}
	if (limit.rlim_cur == RLIM_INFINITY || may_lock_anything()) {
		find(FINE, "memory", "any amount may be locked");
		return;
	}
	find(limit.rlim_cur < LOCKED_MIN ? NOTE : FINE, "memory", "%llu KiB may be locked",
	     (unsigned long long)limit.rlim_cur / 1024);
	if (limit.rlim_cur >= LOCKED_MIN)
		return;
	advise("registering more, or many queues, fails with ENOMEM: ulimit -l unlimited; for logins a line");
	advise("\"* - memlock unlimited\" in /etc/security/limits.d, for services LimitMEMLOCK=infinity");
}

static void examine_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit)) {
		find(NOTE, "descriptors", "the limit is not told: %s", strerror(errno));
		return;
	}
	find(limit.rlim_cur < DESCRIPTORS ? NOTE : FINE, "descriptors", "%llu may be open, %llu at most",
	     (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
	if (limit.rlim_cur < DESCRIPTORS)
		advise("channels, open devices and completion channels take one each, sockets several: ulimit -n");
}

void examine_limits(void)
{
	examine_memory();
	examine_descriptors();
}

void examine_environment(void)
{
	static const char *const names[] = {
		"LD_PRELOAD", "LD_LIBRARY_PATH", "RDMACM_SIM", "RDMACM_LOG", "RDMACM_RESOLVE_TIMEOUT_MS",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			find(NOTE, "environment", "%s=%s", names[i], value);
	}
	if (getenv("RDMACM_SIM"))
		advise("the devices and the connection manager are simulated");
}
