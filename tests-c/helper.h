/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What several test programs do with the library: channels, ids, user events, waiting threads. */
#ifndef TESTS_HELPER_H
#define TESTS_HELPER_H

#include "harness.h"
#include "process.h"

#include <errno.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>

/* The address that the lab gives to the RDMA device. */
#define DEVICE_ADDRESS "10.99.0.1"

struct rdma_event_channel *open_channel(void);
/* An unbound RDMA_PS_TCP id. */
struct rdma_cm_id *open_id(struct rdma_event_channel *channel);
/* The same, bound to the lab's device. */
struct rdma_cm_id *open_bound_id(struct rdma_event_channel *channel);

/* A channel with an id on it. */
void open_pair(struct rdma_event_channel **channel, struct rdma_cm_id **id);
/* The end of both; no event of another id may be left. */
void close_pair(struct rdma_event_channel *channel, struct rdma_cm_id *id);

void write_event(struct rdma_cm_id *id, int status, uint64_t arg);
/* The next event, which must be a user event with these values; not acknowledged. */
struct rdma_cm_event *get_event(struct rdma_event_channel *channel, struct rdma_cm_id *id, int status, uint64_t arg);
/* The same, and acknowledges it. */
void take_event(struct rdma_event_channel *channel, struct rdma_cm_id *id, int status, uint64_t arg);
void check_empty(struct rdma_event_channel *channel);

/* Whether its device speaks iWARP. */
bool is_iwarp(const struct rdma_cm_id *id);
/* Whether its route is resolved. With iWARP that has no path. */
bool is_route_resolved(const struct rdma_cm_id *id);

/* The kernel's ids of this program that are bound to the lab's device. */
int count_kernel_ids(void);

/* The ports that the kernel gives out, "FIRST LAST"; usually "32768 60999". */
void set_port_range(const char *range);

/*
 * Fails unless within a second no more than `kept` RDMA devices are open. The second is counted in sleeps of this
 * thread: while the whole machine stands still it does not pass.
 */
void check_devices_are_let_go(int kept);

/* Until the lab's device is there; it may still be leaving because of the case before. */
void add_lab_device(void);
/* Removes it; for a thread, since the kernel waits until nobody has it open. */
void *remove_lab_device(void *unused);

/*
 * From now on what is said to standard error is kept, and the library says what RDMACM_LOG of that value makes it say;
 * for cases that have not used the library yet.
 */
void start_diagnostics(const char *log);
/* Whether this was said since. */
bool was_diagnosed(const char *text);
/* Fails if it was not. */
void check_diagnosed(const char *text);

/* A thread inside rdma_get_cm_event, and what it got there. */
struct waiter {
	struct rdma_event_channel *channel;
	pthread_t thread;
	int tid;
	int ret;
	int error;
	struct rdma_cm_event *event;
};

/* Returns when the thread sleeps inside the call. */
void start_waiter(struct waiter *waiter, struct rdma_event_channel *channel);

#endif
