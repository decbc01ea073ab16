/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The two hosts of kernel-lab/suites/two-hosts.sh: network namespaces, each with an RDMA device of its own. */
#ifndef TESTS_API_HOSTS_H
#define TESTS_API_HOSTS_H

#include "connection.h"

struct host {
	const char *name;
	const char *namespace;
	const char *device;
	const char *address;
	const char *address6;
};

extern const struct host east, west;

enum { NO_PORT = 9 };

/* Good until the next call. */
struct sockaddr *address(const char *text, uint16_t port);

/* An id belongs to the network in which it is made. */
struct rdma_cm_id *open_id_on(const struct host *host, struct rdma_event_channel *channel);
struct rdma_cm_id *open_listener_on(const struct host *host, struct rdma_event_channel *channel, const char *where);
/* In its network the address and the route are resolved. */
struct rdma_cm_id *open_client_on(const struct host *host, struct rdma_event_channel *channel, const char *to,
				  uint16_t port);
/* A client in the east for a listener in the west, at its port unless another one is given. */
void prepare_over(struct connection *connection, const char *to, uint16_t port);

#endif
