/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "doctor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *link_of(const struct ibv_port_attr *port)
{
	switch (port->link_layer) {
	case IBV_LINK_LAYER_INFINIBAND:
		return "InfiniBand";
	case IBV_LINK_LAYER_ETHERNET:
		return "Ethernet";
	default:
		return "link not told";
	}
}

static void examine_port(struct ibv_context *context, const char *name, unsigned int number)
{
	struct ibv_port_attr port;
	char subject[32];

	snprintf(subject, sizeof(subject), "port %u", number);
	memset(&port, 0, sizeof(port));
	/* The macro of that name asks for more where the device has it. */
	errno = ibv_query_port(context, (uint8_t)number, &port);
	if (errno) {
		find(BAD, subject, "of %s: %s", name, strerror(errno));
		advise("the kernel's log may say more: dmesg");
		return;
	}
	find(port.state == IBV_PORT_ACTIVE ? FINE : NOTE, subject, "of %s: %s, %s", name, link_of(&port),
	     ibv_port_state_str(port.state));
	if (port.state == IBV_PORT_ACTIVE)
		return;
	if (port.link_layer == IBV_LINK_LAYER_INFINIBAND)
		advise("look at the cable; a port that is initialized waits for a subnet manager (opensm)");
	else
		advise("look at the cable, and bring its network interface up: rdma link; ip link set INTERFACE up");
}

/* libibverbs looks for a node that it may not open in /dev/char as well, and tells only that there is none. */
static int why_not(const char *node, int error)
{
	int fd;

	if (error != ENOENT)
		return error;
	fd = open(node, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno;
	close(fd);
	return error;
}

static void examine_device(struct ibv_device *device)
{
	const char *name = ibv_get_device_name(device);
	struct ibv_device_attr attributes;
	struct ibv_context *context;
	char node[64 + sizeof(device->dev_name)];

	snprintf(node, sizeof(node), "/dev/infiniband/%s", device->dev_name);
	errno = 0;
	context = ibv_open_device(device);
	if (!context) {
		errno = why_not(node, errno);
		find_closed_node(name, node);
		return;
	}
	find(FINE, "device", "%s, node %s", name, node);
	if (!ibv_query_device(context, &attributes))
		for (unsigned int port = 1; port <= attributes.phys_port_cnt; port++)
			examine_port(context, name, port);
	ibv_close_device(context);
}

static bool is_in(struct ibv_device **list, const char *name)
{
	for (; *list; list++)
		if (!strcmp(ibv_get_device_name(*list), name))
			return true;
	return false;
}

/* Devices that the kernel has, and libibverbs does not show. */
static unsigned int examine_hidden(struct ibv_device **list)
{
	/* Those of the machine are none of a simulated one's. */
	DIR *folder = getenv("RDMACM_SIM") ? NULL : opendir("/sys/class/infiniband");
	unsigned int count = 0;
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.' || is_in(list, entry->d_name))
			continue;
		count++;
		find(BAD, "device", "%s: the kernel has it, and libibverbs does not show it", entry->d_name);
		advise("its driver for programs is missing (package ibverbs-providers), its node");
		advise("/dev/infiniband/uverbs*, or the kernel's module ib_uverbs: modprobe ib_uverbs; udevadm trigger");
	}
	if (folder)
		closedir(folder);
	return count;
}

void examine_devices(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL), *none[] = { NULL };
	int error = errno;
	unsigned int hidden = examine_hidden(list ? list : none);

	if (!list && error != ENOSYS) {
		find(BAD, "devices", "libibverbs cannot look for them: %s", strerror(error));
		advise("load the kernel's module: modprobe ib_uverbs");
		return;
	}
	if ((!list || !*list) && !hidden) {
		find(BAD, "devices", "there is no RDMA device");
		advise("load the driver of the adapter, such as mlx5_ib or irdma; lspci shows the adapter");
		advise("without one: rdma link add rxe0 type rxe netdev INTERFACE, which is RoCE in software;");
		advise("to test a program: librdmacm-sim PROGRAM");
	}
	for (struct ibv_device **device = list; device && *device; device++)
		examine_device(*device);
	if (list)
		ibv_free_device_list(list);
}
