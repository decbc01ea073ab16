/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The device node cannot be opened: the right errno, at once. Needs root; each case changes /dev for itself only. */
#include "helper.h"

#include <arpa/inet.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define NODE "/dev/infiniband/rdma_cm"
#define DEVICE_NODE "/dev/infiniband/uverbs0"

enum { QUICK_MS = 100, NOBODY = 65534 };

static dev_t node_number(const char *path)
{
	struct stat node;

	check(!stat(path, &node), "%s: %m", path);
	return node.st_rdev;
}

static void make_node(const char *path, dev_t number, mode_t mode)
{
	check_ok(mknod(path, S_IFCHR, number));
	check_ok(chmod(path, mode));
}

/* A /dev with an RDMA device and, unless path is NULL, the connection manager's node under that name. */
static void replace_dev(const char *path, mode_t mode)
{
	dev_t number = node_number(NODE), device = node_number(DEVICE_NODE);

	if (unshare(CLONE_NEWNS))
		skip_test("no mount namespace: %m");
	check_ok(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	check_ok(mount("tmpfs", "/dev", "tmpfs", 0, NULL));
	check_ok(mkdir("/dev/infiniband", 0755));
	check_ok(mkdir("/dev/char", 0755));
	make_node(DEVICE_NODE, device, 0666);
	if (path)
		make_node(path, number, mode);
}

static void check_no_channel(int wanted, int also)
{
	uint64_t start = now_ms();

	errno = 0;
	check(!rdma_create_event_channel(), "a channel");
	check(errno == wanted || errno == also, "errno %s", errno_name(errno));
	check(now_ms() - start < QUICK_MS * time_scale(), "it took more than %d ms", QUICK_MS);
}

static void check_no_synchronous_id(int wanted, int also)
{
	uint64_t start = now_ms();
	struct rdma_cm_id *id;

	errno = 0;
	check(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) == -1, "an id");
	check(errno == wanted || errno == also, "errno %s", errno_name(errno));
	check(now_ms() - start < QUICK_MS * time_scale(), "it took more than %d ms", QUICK_MS);
}

static void check_works(void)
{
	struct rdma_event_channel *channel = open_channel();
	struct rdma_cm_id *id = open_id(channel);

	write_event(id, 1, 2);
	take_event(channel, id, 1, 2);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void no_permission(void)
{
	replace_dev(NODE, 0600);
	check_ok(seteuid(NOBODY));
	check_no_channel(EACCES, EACCES);
	check_no_synchronous_id(EACCES, EACCES);
	/* A failure is not remembered. */
	check_ok(seteuid(0));
	check_works();
}

static void no_node(void)
{
	replace_dev(NULL, 0);
	check_no_channel(ENOENT, ENODEV);
	check_no_synchronous_id(ENOENT, ENODEV);
}

/* As in containers that map the nodes by their numbers. */
static void node_by_number_only(void)
{
	dev_t number = node_number(NODE);
	char path[64];

	snprintf(path, sizeof(path), "/dev/char/%u:%u", major(number), minor(number));
	replace_dev(path, 0666);
	check_works();
}

/* The connection manager is there, the device that the address leads to is not. */
static void no_device_node(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;

	start_diagnostics("error");
	replace_dev(NODE, 0666);
	check_ok(unlink(DEVICE_NODE));
	channel = open_channel();
	id = open_id(channel);
	inet_pton(AF_INET, DEVICE_ADDRESS, &address.sin_addr);
	check_fails(rdma_bind_addr(id, (struct sockaddr *)&address), ENODEV);
	check(!id->verbs, "a device");
	check_diagnosed("its node " DEVICE_NODE " gives No such file");
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void use_another_device(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;

	replace_dev(NODE, 0666);
	make_node("/dev/infiniband/uverbs1", node_number(DEVICE_NODE) + 1, 0666);
	check_ok(unlink(DEVICE_NODE));
	channel = open_channel();
	id = open_id(channel);
	inet_pton(AF_INET, "10.98.0.1", &address.sin_addr);
	check_ok(rdma_bind_addr(id, (struct sockaddr *)&address));
	check(!strcmp(ibv_get_device_name(id->verbs->device), "rxe1"), "another device");
	check_ok(rdma_destroy_id(id));
	id = open_id(channel);
	inet_pton(AF_INET, DEVICE_ADDRESS, &address.sin_addr);
	check_fails(rdma_bind_addr(id, (struct sockaddr *)&address), ENODEV);
	check_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

/* One device without a node does not keep others from working. */
static void no_node_of_another_device(void)
{
	/* Left behind by another program, with a library that did not let it go. */
	run_command("ip link del d1 2>/dev/null");
	check(!run_command("ip link add d1 type dummy && ip addr add 10.98.0.1/24 dev d1 && ip link set d1 up &&"
			   "rdma link add rxe1 type rxe netdev d1 && for try in $(seq 50); do"
			   "  grep -qsi ffff:0a62:0001 /sys/class/infiniband/rxe1/ports/1/gids/* && exit 0;"
			   "  sleep 0.1;"
			   "done; exit 1"), "no second device");
	run_child(use_another_device);
	check(!run_command("rdma link del rxe1 && ip link del d1"), "the second device does not go");
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(no_permission),
		TEST(no_node),
		TEST(node_by_number_only),
		TEST(no_device_node),
		TEST(no_node_of_another_device),
	};

	return RUN_TESTS(tests, argc, argv);
}
