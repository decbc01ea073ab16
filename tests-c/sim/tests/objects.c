/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The simulated device itself, and the objects on it. */
#include "pair.h"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static struct end end;

static void open_and_close(void)
{
	open_end(&end, IBV_QPT_RC, false);
	check(!strcmp(ibv_get_device_name(end.context->device), "rxe0"), "another name");
	check(count_fds("/dev/infiniband/uverbs") == 1, "%d descriptors", count_fds("/dev/infiniband/uverbs"));
	close_end(&end);
	check(!count_fds("/dev/infiniband/uverbs"), "%d descriptors", count_fds("/dev/infiniband/uverbs"));
}

static void ports(void)
{
	struct ibv_device_attr_ex device = { 0 };
	struct ibv_port_attr port;
	struct ibv_gid_entry entries[64];
	union ibv_gid gid;
	__be16 pkey;

	open_end(&end, IBV_QPT_RC, false);
	check_ok(ibv_query_device_ex(end.context, NULL, &device));
	check(device.orig_attr.phys_port_cnt == 1, "%d ports", device.orig_attr.phys_port_cnt);
	check_ok(ibv_query_port(end.context, 1, &port));
	check(port.state == IBV_PORT_ACTIVE, "state %d", (int)port.state);
	check(ibv_query_port(end.context, 2, &port) == EINVAL, "a second port");
	if (port.link_layer == IBV_LINK_LAYER_ETHERNET) {
		check(ibv_query_gid_table(end.context, entries, 64, 0) == 3, "GIDs");
		check(entries[1].gid_type == IBV_GID_TYPE_ROCE_V2 && entries[1].gid.raw[12] == 10, "another GID");
	} else {
		check(ibv_query_gid_table(end.context, entries, 64, 0) == 1, "GIDs");
		check(entries[0].gid_type == IBV_GID_TYPE_IB, "another GID");
	}
	check_ok(ibv_query_gid(end.context, 1, 3, &gid));
	check(!gid.global.interface_id, "a free place is not zero");
	check_ok(ibv_query_pkey(end.context, 1, 0, &pkey));
	check(pkey == 0xffff && ibv_get_pkey_index(end.context, 1, 0xffff) == 0, "key %#x", pkey);
	close_end(&end);
}

/* How many objects of a kind the descriptor of the context tells of. */
static long count_handles(uint64_t kind)
{
	uint32_t total = 0, handles[8];
	struct {
		struct ib_uverbs_ioctl_hdr header;
		struct ib_uverbs_attr attributes[3];
	} command = {
		.header = {
			.length = sizeof(command), .object_id = UVERBS_OBJECT_DEVICE,
			.method_id = UVERBS_METHOD_INFO_HANDLES, .num_attrs = 3,
		},
		.attributes = {
			{ .attr_id = UVERBS_ATTR_INFO_OBJECT_ID, .len = sizeof(kind), .flags = 1, .data = kind },
			{ .attr_id = UVERBS_ATTR_INFO_TOTAL_HANDLES, .len = sizeof(total), .flags = 1,
			  .data = (uintptr_t)&total },
			{ .attr_id = UVERBS_ATTR_INFO_HANDLES_LIST, .len = sizeof(handles), .flags = 1,
			  .data = (uintptr_t)handles },
		},
	};

	check_ok(ioctl(end.context->cmd_fd, RDMA_VERBS_IOCTL, &command));
	return total;
}

static void told_by_ioctl(void)
{
	struct ibv_pd *pd;

	open_end(&end, IBV_QPT_RC, true);
	check(count_handles(UVERBS_OBJECT_PD) == 1 && count_handles(UVERBS_OBJECT_SRQ) == 1 &&
	      count_handles(UVERBS_OBJECT_AH) == 0, "domains, queues, addresses");
	pd = ibv_alloc_pd(end.context);
	check(count_handles(UVERBS_OBJECT_PD) == 2, "domains");
	check_ok(ibv_dealloc_pd(pd));
	check(count_handles(UVERBS_OBJECT_PD) == 1, "domains");
	close_end(&end);
}

/* As tests of the library count what the kernel knows of a process. */
static int count_resources(const char *kind)
{
	char command[64], owner[32], line[256];
	int count = 0;
	FILE *tool;

	snprintf(command, sizeof(command), "rdma resource show %s", kind);
	snprintf(owner, sizeof(owner), " pid %d ", getpid());
	tool = popen(command, "r");
	check(tool, "rdma: %m");
	while (fgets(line, sizeof(line), tool))
		count += !!strstr(line, owner);
	check(!pclose(tool), "%s failed", command);
	return count;
}

static void told_as_resources(void)
{
	check(count_resources("qp") == 0, "queue pairs");
	open_end(&end, IBV_QPT_RC, false);
	check(count_resources("qp") == 1 && count_resources("pd") == 1 && count_resources("cq") == 1 &&
	      count_resources("mr") == 1, "not one of each");
	close_end(&end);
	check(count_resources("qp") == 0 && count_resources("ctx") == 0, "something is left");
}

/* Objects go with the context that they are on. */
static void context_takes_all_along(void)
{
	open_end(&end, IBV_QPT_RC, true);
	check_ok(ibv_close_device(end.context));
	check(count_resources("qp") == 0 && count_resources("cq") == 0 && count_resources("pd") == 0, "something is left");
}

static void use_inherited(void)
{
	struct ibv_device_attr attr;

	check_ok(ibv_query_device(end.context, &attr));
	check_ok(ibv_destroy_qp(end.qp));
}

/* As with a real descriptor, what a child frees the parent loses. */
static void child_has_the_context(void)
{
	open_end(&end, IBV_QPT_RC, false);
	run_child(use_inherited);
	check(count_resources("qp") == 0, "a queue pair");
	check(ibv_destroy_qp(end.qp) == EINVAL, "destroyed twice");
	end.qp = NULL;
	close_end(&end);
}

static void rights_of_memory(void)
{
	open_end(&end, IBV_QPT_RC, false);
	errno = 0;
	check(!ibv_reg_mr(end.pd, end.memory, MEMORY, IBV_ACCESS_REMOTE_WRITE) && errno == EINVAL,
	      "memory that only the peer may write: %m");
	errno = 0;
	check(!ibv_reg_mr(end.pd, NULL, MEMORY, 0) && errno == EFAULT, "memory that is not there: %m");
	check_ok(ibv_rereg_mr(end.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_LOCAL_WRITE));
	check(ibv_rereg_mr(end.mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, end.memory, 0, 0) == IBV_REREG_MR_ERR_INPUT,
	      "memory of no length");
	close_end(&end);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(open_and_close),
		TEST(ports),
		TEST(told_by_ioctl),
		TEST(told_as_resources),
		TEST(context_takes_all_along),
		TEST(child_has_the_context),
		TEST(rights_of_memory),
	};

	return RUN_TESTS(tests, argc, argv);
}
