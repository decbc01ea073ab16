/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The two hosts of tests-c/sim/scripts/subnet.sim, which are on InfiniBand, and its addresses. */
#ifndef TESTS_API_SUBNET_H
#define TESTS_API_SUBNET_H

#include "connection.h"

#include <infiniband/ib.h>

struct port {
	const char *host, *device;
	const char *gid;
	const char *ip, *ip6;
};

/* Programs run in the north. */
extern const struct port north, south;

/* The second partition of both ports; the first is 0xffff. */
enum { PARTITION = 0x8001 };

/* Skips the case where there is no simulator. */
void need_subnet(void);

/* As start_process(), on the host of that port. */
pid_t start_process_at(const struct port *port, void (*run)(void));

struct ib_addr gid_of(const struct port *port);
/* Of a port, or of any with NULL, with the number in the space of RDMA_PS_TCP. Good until the second next call. */
struct sockaddr *ib_address(const struct port *port, uint16_t number);
/* The same of another partition. */
struct sockaddr *ib_address_in(const struct port *port, uint16_t number, uint16_t pkey);

/* Resolves this address of the other end, and the route. */
void resolve_to(struct rdma_cm_id *id, struct sockaddr *there);
/* As prepare(), with the listener at the one address and the client on its way to the other. */
void prepare_at(struct connection *connection, struct sockaddr *here, struct sockaddr *there);

/* One message of the client to the server. Both have queue pairs, and all else. */
void send_message(struct connection *connection);

#endif
