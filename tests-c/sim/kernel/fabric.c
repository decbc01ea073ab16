/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric.h"

#include "../fabric.h"
#include "../protocol.h"
#include "kernel.h"
#include "loop.h"
#include "script.h"
#include "topology.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* A shell's next program finds the fabric that its last one left. */
enum { LINGER_MS = 1000 };

static struct timer *lingering;
static bool lingered;

static void stop_lingering(void *arg)
{
	(void)arg;
	lingered = true;
}

static bool ended(void)
{
	if (any_client()) {
		if (lingering)
			cancel(lingering);
		lingering = NULL;
		return false;
	}
	if (!lingering)
		lingering = after(LINGER_MS, stop_lingering, NULL);
	return lingered;
}

/* The lock tells who serves a folder; it goes with the process. -1: somebody else does, or errno. */
static int lock_folder(const char *folder)
{
	char path[PATH_MAX + sizeof("/lock")];
	int fd;

	if (mkdir(folder, 0700) && errno != EEXIST)
		return -1;
	snprintf(path, sizeof(path), "%s/lock", folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int listen_in(const char *folder, struct sockaddr_un *address)
{
	int fd;

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (sim_socket_path(folder, address->sun_path, sizeof(address->sun_path))) {
		errno = ENAMETOOLONG;
		return -1;
	}
	unlink(address->sun_path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)address, sizeof(*address)) || listen(fd, 1024))
		return -1;
	return fd;
}

/* Nothing of the program that started it is kept open, or keeps it from ending. */
static void leave_the_starter(int listening, int lock)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	for (int fd = STDERR_FILENO + 1; fd < 1024; fd++)
		if (fd != listening && fd != lock)
			close(fd);
	if (chdir("/"))
		perror("/");
}

static void raise_limit(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static void serve(int listening, const char *folder, const struct sockaddr_un *address)
{
	serve_clients(listening);
	loop(ended);
	if (!unlink(address->sun_path) && !chdir(folder))
		unlink("lock");
	rmdir(folder);
}

int run_fabric(const char *name, const char *script)
{
	struct sockaddr_un address;
	char folder[PATH_MAX];
	int lock = lock_folder(name), listening;
	pid_t pid;

	if (lock < 0 && errno == EWOULDBLOCK)
		return EXIT_SUCCESS;
	if (lock < 0 || !realpath(name, folder)) {
		perror(name);
		return EXIT_FAILURE;
	}
	if (script && run_script(script))
		return EXIT_FAILURE;
	complete_topology();
	listening = listen_in(folder, &address);
	if (listening < 0) {
		perror(folder);
		return EXIT_FAILURE;
	}
	pid = fork();
	if (pid < 0) {
		perror("fork");
		return EXIT_FAILURE;
	}
	if (!pid) {
		raise_limit();
		leave_the_starter(listening, lock);
		serve(listening, folder, &address);
		_exit(EXIT_SUCCESS);
	}
	return EXIT_SUCCESS;
}
