/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "doctor.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <string.h>

enum { LIMIT_MS = 5000, ARGUMENT = 4711 };

typedef int write_event(struct rdma_cm_id *, enum rdma_cm_event_type, int, uint64_t);

static bool arrives(struct rdma_event_channel *channel)
{
	struct pollfd readable = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	bool right;

	if (poll(&readable, 1, LIMIT_MS) != 1) {
		find(BAD, "user events", "none arrives within %d seconds", LIMIT_MS / 1000);
		advise("this is a fault of the library or the kernel: please report it, with this output");
		return false;
	}
	if (rdma_get_cm_event(channel, &event)) {
		find(BAD, "user events", "rdma_get_cm_event: %s", strerror(errno));
		advise("RDMACM_LOG=command says more");
		return false;
	}
	right = event->event == RDMA_CM_EVENT_USER && event->param.arg == ARGUMENT;
	if (!right) {
		find(BAD, "user events", "%s arrives in place of it", rdma_event_str(event->event));
		advise("this is a fault of the library or the kernel: please report it, with this output");
	}
	rdma_ack_cm_event(event);
	return right;
}

static void try_event(struct rdma_event_channel *channel, write_event *write_cm_event)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP)) {
		find(BAD, "user events", "rdma_create_id: %s", strerror(errno));
		advise("RDMACM_LOG=command says more");
		return;
	}
	if (write_cm_event(id, RDMA_CM_EVENT_USER, 0, ARGUMENT)) {
		find(BAD, "user events", "rdma_write_cm_event: %s", strerror(errno));
		if (errno == EINVAL)
			advise("the kernel has no command for them (Linux 6.18 has), and this library no other way");
		else
			advise("RDMACM_LOG=command says more");
	} else if (arrives(channel)) {
		if (has_user_event_command()) {
			find(FINE, "user events", "work, by the kernel's command");
		} else {
			find(NOTE, "user events", "work, by the library's own way: the kernel has no command for them");
			advise("nothing is to be done; Linux 6.18 has it, and makes them faster");
		}
	}
	rdma_destroy_id(id);
}

void examine_user_events(void)
{
	struct rdma_event_channel *channel;
	write_event *write_cm_event;

	*(void **)&write_cm_event = dlsym(RTLD_DEFAULT, "rdma_write_cm_event");
	if (!write_cm_event) {
		find(NOTE, "user events", "this library has none");
		advise("rdma-core has them since release 61");
		return;
	}
	channel = rdma_create_event_channel();
	if (!channel) {
		find(BAD, "channel", "rdma_create_event_channel: %s", strerror(errno));
		advise("see above; RDMACM_LOG=error says more");
		return;
	}
	try_event(channel, write_cm_event);
	rdma_destroy_event_channel(channel);
}
