/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which librdmacm serves this program, which is linked with the distribution's. */
#include "helper.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A preloaded library takes the place of the one the program asks for; that one is not even mapped. */
static void one_library(void)
{
	const char *preload = getenv("LD_PRELOAD");
	char wanted[PATH_MAX] = "", line[PATH_MAX + 128];
	FILE *maps = fopen("/proc/self/maps", "r");
	int mappings = 0;

	check(maps, "/proc/self/maps: %m");
	if (preload)
		check(realpath(preload, wanted), "%s: %m", preload);
	rdma_destroy_event_channel(open_channel());
	while (fgets(line, sizeof(line), maps)) {
		char *path = strchr(line, '/');

		if (!path || !strstr(path, "/librdmacm"))
			continue;
		path[strcspn(path, "\n")] = '\0';
		if (!*wanted)
			strcpy(wanted, path);
		check(!strcmp(path, wanted), "%s is mapped beside %s", path, wanted);
		mappings++;
	}
	fclose(maps);
	check(mappings, "no librdmacm is mapped");
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(one_library),
	};

	return RUN_TESTS(tests, argc, argv);
}
