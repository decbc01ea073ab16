/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the library says with RDMACM_LOG, and where. */
#include "helper.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;

/* In front of the one of libc, for one case. */
static bool privileged;

__attribute__((visibility("default"))) unsigned long getauxval(unsigned long type)
{
	unsigned long (*next)(unsigned long);

	*(void **)&next = dlsym(RTLD_NEXT, "getauxval");
	return type == AT_SECURE && privileged ? 1 : next(type);
}

static void check_unsaid(const char *text)
{
	check(!was_diagnosed(text), "it says \"%s\"", text);
}

/* A call that fails, an event, commands. */
static void use_library(void)
{
	open_pair(&channel, &id);
	check_fails(rdma_listen(NULL, 1), EINVAL);
	write_event(id, 7, 0);
	take_event(channel, id, 7, 0);
	close_pair(channel, id);
}

static void off(void)
{
	start_diagnostics("0");
	use_library();
	check_unsaid("librdmacm");
}

static void errors(void)
{
	start_diagnostics("error");
	use_library();
	check_diagnosed("rdma_listen: Invalid argument (EINVAL)\n");
	check_unsaid("event RDMA_CM_EVENT_USER");
	check_unsaid("command ");
}

static void events(void)
{
	char text[128];

	start_diagnostics("event");
	use_library();
	snprintf(text, sizeof(text), "event RDMA_CM_EVENT_USER, status 7, id %p (kernel: ", (void *)id);
	check_diagnosed(text);
	check_diagnosed("rdma_listen: Invalid argument (EINVAL)\n");
	check_unsaid("command ");
}

static void commands(void)
{
	start_diagnostics("command");
	use_library();
	check_diagnosed("command CreateId, kernel's id ");
	check_diagnosed(": done\n");
	check_diagnosed("event RDMA_CM_EVENT_USER");
	check_diagnosed("rdma_listen: Invalid argument (EINVAL)\n");
}

static void a_command_that_fails(void)
{
	struct sockaddr_in nowhere = { .sin_family = AF_INET };

	start_diagnostics("command");
	open_pair(&channel, &id);
	inet_pton(AF_INET, "192.0.2.1", &nowhere.sin_addr);
	check_fails(rdma_bind_addr(id, (struct sockaddr *)&nowhere), EADDRNOTAVAIL);
	check_diagnosed("command Bind, kernel's id ");
	check_diagnosed("(EADDRNOTAVAIL)\n");
	close_pair(channel, id);
}

/* That there is nothing is told with all commands only. */
static void nothing_there(void)
{
	struct rdma_cm_event *event;

	start_diagnostics("event");
	channel = open_channel();
	check_ok(fcntl(channel->fd, F_SETFL, O_NONBLOCK));
	check_fails(rdma_get_cm_event(channel, &event), EAGAIN);
	check_unsaid("rdma_get_cm_event");
	rdma_destroy_event_channel(channel);
}

static void unknown_level(void)
{
	start_diagnostics("everything");
	use_library();
	check_diagnosed("RDMACM_LOG: the levels are error, event and command\n");
	check_diagnosed("rdma_listen: Invalid argument (EINVAL)\n");
}

static void with_more_privilege(void)
{
	privileged = true;
	start_diagnostics("command");
	use_library();
	check_unsaid("librdmacm");
}

/* A folder of the case's own, and the name of a file in it; what is said goes there. */
static char folder[] = "/tmp/diagnostics-XXXXXX", file[64], elsewhere[64];

static void log_to_file(void)
{
	char value[80];

	check(mkdtemp(folder), "mkdtemp: %m");
	snprintf(file, sizeof(file), "%s/log", folder);
	snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", folder);
	snprintf(value, sizeof(value), "error,%s", file);
	start_diagnostics(value);
}

static void remove_files(void)
{
	unlink(file);
	unlink(elsewhere);
	check_ok(rmdir(folder));
}

static off_t size_of(const char *path)
{
	struct stat status;

	return stat(path, &status) ? 0 : status.st_size;
}

/* The descriptor of the file in this process; -1 if it is not open. */
static int descriptor_of(const char *path)
{
	struct stat wanted, status;

	check_ok(stat(path, &wanted));
	for (int fd = 3; fd < 256; fd++)
		if (!fstat(fd, &status) && status.st_ino == wanted.st_ino && status.st_dev == wanted.st_dev)
			return fd;
	return -1;
}

static void in_a_file(void)
{
	struct stat status;
	off_t before;

	log_to_file();
	umask(0);
	use_library();
	check_ok(stat(file, &status));
	check((status.st_mode & 07777) == 0600, "mode %o", status.st_mode);
	check(status.st_size > 0, "it is empty");
	check(fcntl(descriptor_of(file), F_GETFD) == FD_CLOEXEC, "it stays open in other programs");
	check_unsaid("librdmacm");
	before = status.st_size;
	use_library();
	check(size_of(file) > before, "no more is said");
	remove_files();
}

static void child_that_fails(void)
{
	check_fails(rdma_listen(NULL, 1), EINVAL);
}

static void in_the_file_of_the_parent(void)
{
	off_t before;

	log_to_file();
	use_library();
	before = size_of(file);
	run_child(child_that_fails);
	check(size_of(file) > before, "the child says nothing");
	remove_files();
}

/* Another user may have put it there. */
static void not_through_a_link(void)
{
	log_to_file();
	check_ok(symlink(elsewhere, file));
	use_library();
	check(size_of(elsewhere) == 0, "it follows the link");
	check_diagnosed("(ELOOP)\n");
	check_diagnosed("rdma_listen: Invalid argument (EINVAL)\n");
	remove_files();
}

/* A program that closes all descriptors has files of its own under the same numbers. */
static void not_in_a_file_of_the_program(void)
{
	int own, number;

	log_to_file();
	use_library();
	number = descriptor_of(file);
	own = open(elsewhere, O_RDWR | O_CREAT | O_EXCL, 0600);
	check(own >= 0 && dup2(own, number) == number, "%s: %m", elsewhere);
	use_library();
	check(size_of(elsewhere) == 0, "it writes into the program's file");
	remove_files();
}

static sem_t taken;
static int holder;

/* Acknowledges when the wait for that is told. */
static void *hold_event(void *unused)
{
	struct rdma_cm_event *event = get_event(channel, id, 3, 0);

	(void)unused;
	holder = gettid();
	sem_post(&taken);
	while (!was_diagnosed("is not acknowledged"))
		usleep(50000);
	check_ok(rdma_ack_cm_event(event));
	return NULL;
}

static void destroying_waits(void)
{
	char text[128];
	pthread_t thread;

	start_diagnostics("error");
	open_pair(&channel, &id);
	check_ok(sem_init(&taken, 0, 0));
	write_event(id, 3, 0);
	thread = start_thread(hold_event, NULL);
	sem_wait(&taken);
	check_ok(rdma_destroy_id(id));
	check_ok(pthread_join(thread, NULL));
	snprintf(text, sizeof(text), "rdma_destroy_id of id %p waits: RDMA_CM_EVENT_USER is not acknowledged, which thread %d took ",
		 (void *)id, holder);
	check_diagnosed(text);
	rdma_destroy_event_channel(channel);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(off),
		TEST(errors),
		TEST(events),
		TEST(commands),
		TEST(a_command_that_fails),
		TEST(nothing_there),
		TEST(unknown_level),
		TEST(with_more_privilege),
		TEST(in_a_file),
		TEST(in_the_file_of_the_parent),
		TEST(not_through_a_link),
		TEST(not_in_a_file_of_the_program),
		SLOW_TEST(destroying_waits, 60),
	};

	return RUN_TESTS(tests, argc, argv);
}
