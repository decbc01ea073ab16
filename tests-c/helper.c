/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "helper.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct rdma_event_channel *open_channel(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	check(channel, "rdma_create_event_channel: %m");
	return channel;
}

struct rdma_cm_id *open_id(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *id;

	check_ok(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	return id;
}

struct rdma_cm_id *open_bound_id(struct rdma_event_channel *channel)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct rdma_cm_id *id = open_id(channel);

	inet_pton(AF_INET, DEVICE_ADDRESS, &address.sin_addr);
	check_ok(rdma_bind_addr(id, (struct sockaddr *)&address));
	check(id->verbs, "no device");
	return id;
}

void open_pair(struct rdma_event_channel **channel, struct rdma_cm_id **id)
{
	*channel = open_channel();
	*id = open_id(*channel);
}

void close_pair(struct rdma_event_channel *channel, struct rdma_cm_id *id)
{
	check_ok(rdma_destroy_id(id));
	check_empty(channel);
	rdma_destroy_event_channel(channel);
}

void write_event(struct rdma_cm_id *id, int status, uint64_t arg)
{
	int ret = rdma_write_cm_event(id, RDMA_CM_EVENT_USER, status, arg);

	check(!ret, "rdma_write_cm_event: %s", errno_name(errno));
}

struct rdma_cm_event *get_event(struct rdma_event_channel *channel, struct rdma_cm_id *id, int status, uint64_t arg)
{
	struct rdma_cm_event *event = NULL;

	check_ok(rdma_get_cm_event(channel, &event));
	check(event, "no event");
	check(event->event == RDMA_CM_EVENT_USER, "event %d, not a user event", (int)event->event);
	check(event->id == id, "event of another id");
	check(!event->listen_id, "listen_id is set");
	check(event->status == status, "status %d, not %d", event->status, status);
	check(event->param.arg == arg, "arg %#llx, not %#llx", (unsigned long long)event->param.arg,
	      (unsigned long long)arg);
	return event;
}

void take_event(struct rdma_event_channel *channel, struct rdma_cm_id *id, int status, uint64_t arg)
{
	check_ok(rdma_ack_cm_event(get_event(channel, id, status, arg)));
}

void check_empty(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;
	int flags = fcntl(channel->fd, F_GETFL);

	set_nonblocking(channel->fd);
	check_fails(rdma_get_cm_event(channel, &event), EAGAIN);
	check(!fcntl(channel->fd, F_SETFL, flags), "fcntl: %m");
}

bool is_iwarp(const struct rdma_cm_id *id)
{
	return id->verbs && id->verbs->device->transport_type == IBV_TRANSPORT_IWARP;
}

bool is_route_resolved(const struct rdma_cm_id *id)
{
	return is_iwarp(id) ? !id->route.num_paths : id->route.num_paths == 1 && id->route.path_rec;
}

int count_kernel_ids(void)
{
	char line[512], owner[64];
	int count = 0;
	FILE *tool;

	/* The tool must not be given the library under test. */
	unsetenv("LD_PRELOAD");
	snprintf(owner, sizeof(owner), " comm %.15s ", program_invocation_short_name);
	tool = popen("rdma resource show cm_id", "r");
	check(tool, "rdma: %m");
	while (fgets(line, sizeof(line), tool))
		if (strstr(line, owner))
			count++;
	pclose(tool);
	return count;
}

void check_devices_are_let_go(int kept)
{
	enum { SLEEP_MS = 10, LIMIT_MS = 1000 };
	unsigned int slept = 0;

	while (count_fds("/dev/infiniband/uverbs") > kept) {
		check(slept < LIMIT_MS * time_scale(), "a device is open after %u ms", slept);
		sleep_ms(SLEEP_MS);
		slept += SLEEP_MS;
	}
}

void add_lab_device(void)
{
	check(!run_command("for try in $(seq 50); do"
			   "  grep -qsi ffff:0a63:0001 /sys/class/infiniband/rxe0/ports/1/gids/* && exit 0;"
			   "  rdma link add rxe0 type rxe netdev d0 2>/dev/null;"
			   "  sleep 0.1;"
			   "done; exit 1"), "the device does not come back");
}

void *remove_lab_device(void *unused)
{
	(void)unused;
	check(!run_command("rdma link del rxe0"), "rdma link del failed");
	return NULL;
}

static int diagnostics;

void start_diagnostics(const char *log)
{
	diagnostics = memfd_create("diagnostics", MFD_CLOEXEC);
	check(diagnostics >= 0 && dup2(diagnostics, STDERR_FILENO) >= 0, "standard error: %m");
	check_ok(setenv("RDMACM_LOG", log, 1));
}

static void read_diagnostics(char *said, size_t size)
{
	ssize_t length = pread(diagnostics, said, size - 1, 0);

	check(length >= 0, "pread: %m");
	said[length] = '\0';
}

bool was_diagnosed(const char *text)
{
	char said[8192];

	read_diagnostics(said, sizeof(said));
	return strstr(said, text);
}

void check_diagnosed(const char *text)
{
	char said[8192];

	read_diagnostics(said, sizeof(said));
	check(strstr(said, text), "not \"%s\" is said, but \"%.*s\"", text, (int)strcspn(said, "\n"), said);
}

/*
 * A thread that waits for an event does so in write(2), on the simulator in recv(2); the kernel tells that of a
 * sleeping thread only.
 */
static bool waits_for_event(int tid)
{
	char path[64];
	long number = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	file = fopen(path, "r");
	check(file, "%s: %m", path);
	if (fscanf(file, "%ld", &number) != 1)
		number = -1;
	fclose(file);
	return number == SYS_write || number == SYS_recvfrom;
}

static void *wait_for_event(void *arg)
{
	struct waiter *waiter = arg;

	__atomic_store_n(&waiter->tid, gettid(), __ATOMIC_RELEASE);
	waiter->ret = rdma_get_cm_event(waiter->channel, &waiter->event);
	waiter->error = errno;
	return NULL;
}

void start_waiter(struct waiter *waiter, struct rdma_event_channel *channel)
{
	int tid;

	*waiter = (struct waiter){ .channel = channel };
	waiter->thread = start_thread(wait_for_event, waiter);
	while (!(tid = __atomic_load_n(&waiter->tid, __ATOMIC_ACQUIRE)) || !waits_for_event(tid))
		sched_yield();
}

void set_port_range(const char *range)
{
	FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "w");

	check(file && fputs(range, file) >= 0 && !fclose(file), "ip_local_port_range: %m");
}
