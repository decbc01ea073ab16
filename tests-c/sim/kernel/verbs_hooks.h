/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The verbs half of the kernel process, as its other files see it. */
#ifndef SIM_KERNEL_VERBS_HOOKS_H
#define SIM_KERNEL_VERBS_HOOKS_H

#include "kernel.h"
#include "topology.h"

/* Calls of verbs_protocol.h. */
long verbs_call(struct client *client, uint32_t op, const void *in, size_t in_size, struct answer *answer);

/* The number of the call that a function of libibverbs makes, by its name; -1 if there is none. */
int verbs_call_number(const char *name);

/* The process is no more: what it had open is closed. */
void verbs_client_gone(struct client *client);

/* The device is marked as removed: who has it open is told, and gets EIO from now on. */
void verbs_device_removed(struct device *device);

/* A port has come up, gone down, or has other GIDs or partition keys: enum ibv_event_type. */
void verbs_port_event(struct device *device, uint32_t type, uint8_t port);

/*
 * Answers with what there is on all hosts, one a line, as `rdma resource show` prints "qp", "cq", "pd", "mr", "srq",
 * "ctx". -EOPNOTSUPP for another kind.
 */
long verbs_resources(const char *kind, struct answer *answer);

/* Whether a queue pair of that number is there, on that device. */
bool verbs_has_queue_pair(const struct device *device, uint32_t number);

/*
 * iWARP, where the connection manager itself connects queue pairs: both are ready to send afterwards, the passive one
 * only once it has received; the active one's device may see to that by an empty read, for which it must be allowed reads
 * (`reads`). False if one of them is not there, or used already.
 */
bool verbs_iwarp_connect(uint32_t active, uint32_t passive, bool reads);
/* The end of a connection, for both sides: what waits completes as flushed. */
void verbs_iwarp_disconnect(uint32_t number);

#endif
