/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "doctor.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SONAME "librdmacm.so.1"

/* A word that stands in this library, and not in rdma-core's. */
static bool is_in_rust(const char *path)
{
	static const char word[] = "RDMACM_LOG";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	bool found = false;

	if (fd < 0)
		return false;
	if (!fstat(fd, &status) && status.st_size > 0) {
		void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

		if (bytes != MAP_FAILED) {
			found = memmem(bytes, (size_t)status.st_size, word, strlen(word));
			munmap(bytes, (size_t)status.st_size);
		}
	}
	close(fd);
	return found;
}

static void find_library(const char *subject, const char *path)
{
	char real[PATH_MAX];

	if (!realpath(path, real))
		snprintf(real, sizeof(real), "%s", path);
	if (is_in_rust(real)) {
		find(FINE, subject, "%s, the one in Rust", real);
		return;
	}
	find(NOTE, subject, "%s, not the one in Rust", real);
	advise("install the package librdmacm1-rs, or run programs by with-librdmacm-rs(1)");
}

/* The dynamic loader that this program runs with; NULL if it cannot be found. */
static const char *own_loader(void)
{
	Dl_info info;

	return dladdr((void *)getauxval(AT_BASE), &info) && info.dli_fname ? info.dli_fname : NULL;
}

/*
 * Has the loader list what the program would load, without running it: a program that is not trusted may name a loader
 * of its own. NULL with errno.
 */
static FILE *list_libraries(const char *program, pid_t *child)
{
	const char *loader = own_loader();
	int ends[2];

	if (!loader) {
		errno = ENOEXEC;
		return NULL;
	}
	if (pipe2(ends, O_CLOEXEC))
		return NULL;
	*child = fork();
	if (*child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		execl(loader, loader, "--list", program, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	if (*child < 0) {
		close(ends[0]);
		return NULL;
	}
	return fdopen(ends[0], "r");
}

/* Of a line "NAME => PATH (ADDRESS)", or "PATH (ADDRESS)" for what is preloaded, if it is about this library. */
static void take_path(const char *line, char *path)
{
	const char *arrow = strstr(line, " => ");

	if (!strstr(line, SONAME))
		return;
	if (arrow)
		line = arrow + 4;
	snprintf(path, PATH_MAX, "%.*s", (int)(strstr(line, " (0x") - line), line);
}

/* The loader's complaint says what, after the name of the program. */
static void find_unloadable(const char *program, const char *complaint)
{
	size_t length = strlen(program);

	if (!strncmp(complaint, program, length) && !strncmp(complaint + length, ": ", 2))
		complaint += length + 2;
	find(BAD, "program", "%s cannot be loaded: %s", program, complaint);
	if (strstr(complaint, SONAME ": version"))
		advise("it is for a newer library: install the package librdmacm1-rs, or run it by with-librdmacm-rs(1)");
	else if (strstr(complaint, SONAME))
		advise("install the package librdmacm1-rs, and run ldconfig");
	else
		advise("file %s tells what it is; a program of another architecture has other libraries", program);
}

static void examine_dynamic(const char *program)
{
	char line[PATH_MAX + 256], path[PATH_MAX] = "", complaint[PATH_MAX + 256] = "";
	pid_t child = -1;
	FILE *list = list_libraries(program, &child);
	int status = -1;

	if (!list) {
		find(BAD, "program", "%s: its libraries cannot be listed: %s", program, strerror(errno));
		advise("LD_DEBUG=libs %s shows what the loader does", program);
		return;
	}
	while (fgets(line, sizeof(line), list)) {
		const char *text = line + strspn(line, " \t");

		line[strcspn(line, "\n")] = '\0';
		if (strstr(text, " (0x")) {
			if (!*path)
				take_path(text, path);
		} else if (!*complaint && strstr(text, ": ")) {
			strcpy(complaint, text);
		}
	}
	fclose(list);
	waitpid(child, &status, 0);
	if (*complaint || status) {
		find_unloadable(program, complaint);
	} else if (*path) {
		find_library("program", path);
	} else {
		find(NOTE, "program", "%s does not name " SONAME " itself", program);
		advise("it has it in it (static), or a plug-in of it loads it: LD_DEBUG=libs %s shows that", program);
	}
}

/* The file that a name stands for, as for a shell. */
static bool find_program(const char *name, char *path)
{
	const char *folders = getenv("PATH");
	char *copy, *folder, *rest;
	bool found = false;

	if (strchr(name, '/') || !folders) {
		snprintf(path, PATH_MAX, "%s", name);
		return !access(path, F_OK);
	}
	copy = rest = strdup(folders);
	while (!found && (folder = strsep(&rest, ":"))) {
		snprintf(path, PATH_MAX, "%s/%s", *folder ? folder : ".", name);
		found = !access(path, X_OK);
	}
	free(copy);
	return found;
}

/* What runs a script; NULL if it is none. The text is changed. */
static char *interpreter(char *text)
{
	char *word, *rest = text + 2;

	if (strncmp(text, "#!", 2))
		return NULL;
	word = strtok_r(rest, " \t", &rest);
	if (word && strlen(word) >= 4 && !strcmp(word + strlen(word) - 4, "/env"))
		word = strtok_r(NULL, " \t", &rest);
	return word;
}

static void examine_program(const char *name)
{
	char path[PATH_MAX], begin[256], *runs;
	struct stat status;

	if (!find_program(name, path) || stat(path, &status)) {
		find(BAD, "program", "%s is not there", name);
		advise("name the file, or a command of PATH");
		return;
	}
	if (read_file(path, begin, sizeof(begin)) && (runs = interpreter(begin))) {
		find(NOTE, "program", "%s is a script for %s, which is looked at", path, runs);
		if (!find_program(runs, path) || stat(path, &status)) {
			find(BAD, "program", "%s is not there", runs);
			advise("install it");
			return;
		}
	}
	if (status.st_mode & (S_ISUID | S_ISGID)) {
		find(NOTE, "program", "%s runs with more privilege than who starts it", path);
		advise("it heeds neither LD_PRELOAD nor LD_LIBRARY_PATH nor RDMACM_LOG");
	}
	examine_dynamic(path);
}

void examine_library(const char *program)
{
	Dl_info info;

	if (dladdr((void *)rdma_create_event_channel, &info) && info.dli_fname)
		find_library("library", info.dli_fname);
	if (program)
		examine_program(program);
}
