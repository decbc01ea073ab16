/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Connections over the lab's device, one step at a time or whole, with both ends in this process. */
#ifndef TESTS_API_CONNECTION_H
#define TESTS_API_CONNECTION_H

#include "../helper.h"

#include <netinet/in.h>
#include <rdma/rdma_verbs.h>

/* The IPv6 address that the suite gives to the RDMA device. */
#define DEVICE_ADDRESS6 "fd00:99::1"

/* The device's address, AF_INET or AF_INET6. Good until the second next call. */
struct sockaddr *device_address(int family, uint16_t port);

/* An IPv4 group. Good until the second next call. */
struct sockaddr *group_address(const char *text);

struct rdma_cm_id *open_id_of(struct rdma_event_channel *channel, enum rdma_port_space space);
/* Bound to the device, at a port of the kernel's choice, and listening. */
struct rdma_cm_id *open_listener(struct rdma_event_channel *channel, enum rdma_port_space space);
/* A datagram id that is bound to the device, and can join groups. */
struct rdma_cm_id *open_member(struct rdma_event_channel *channel);
uint16_t port_of(struct rdma_cm_id *listener);

/* The next event, which must be of this type and of this id (NULL: any); fails when none comes. */
struct rdma_cm_event *next_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type, struct rdma_cm_id *id);
/* The same, and acknowledges it. Returns its status. */
int pass_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type, struct rdma_cm_id *id);
/* The next event is a request for this listener: acknowledges it and returns the new id. */
struct rdma_cm_id *take_request(struct rdma_event_channel *channel, struct rdma_cm_id *listener);

/* The status of its event REJECTED, where InfiniBand has this number for the reason. iWARP has none. */
int refusal_status(const struct rdma_cm_id *id, int reason);

/* Resolves the device's address at this port, and the route. */
void resolve(struct rdma_cm_id *id, uint16_t port);
struct rdma_cm_id *open_client(struct rdma_event_channel *channel, enum rdma_port_space space, uint16_t port);

/* The same on a channel of its own, towards a port at which nobody listens; and the end of both. */
struct rdma_cm_id *open_alone(void);
void close_alone(struct rdma_cm_id *id);
/* An id without a channel of the program, resolved and closed by calls that wait. */
struct rdma_cm_id *open_waiting(enum rdma_port_space space);
void resolve_waiting(struct rdma_cm_id *id, uint16_t port);
void close_waiting(struct rdma_cm_id *id);
/* What the last call on it was answered with. */
void check_answer(struct rdma_cm_id *id, enum rdma_cm_event_type type);

/* The addresses of the device for an endpoint, found by RAI_NUMERICHOST and these flags. */
struct rdma_addrinfo *endpoint_addresses(uint16_t port, int flags);

/* What a small queue pair needs. */
struct ibv_qp_init_attr small_qp(enum ibv_qp_type type);
/* A small queue pair with everything the library makes for it. */
void create_qp(struct rdma_cm_id *id);
/* Fails if the id has a queue pair, or anything that the library makes for one. */
void check_nothing_left(const struct rdma_cm_id *id);
/* Of id->qp, as text: "INIT". */
const char *qp_state(struct rdma_cm_id *id);

/* A queue pair of the program's own, which id->qp does not know, moved as rdma_init_qp_attr says. */
struct own_qp {
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

void make_own_qp(struct own_qp *own, struct rdma_cm_id *id);
void move_own_qp(struct own_qp *own, enum ibv_qp_state state);
void free_own_qp(struct own_qp *own);

/* A connection, its ends on different channels. The listener is on the server's channel. */
struct connection {
	struct rdma_event_channel *server_channel;
	struct rdma_event_channel *client_channel;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *server;
	struct rdma_cm_id *client;
};

/* A listener, and a client whose route to it is resolved and that has a queue pair. */
void prepare(struct connection *connection);
/* Further to a request that the server has not answered. */
void request(struct connection *connection, struct rdma_conn_param *param);
/* Further to both sides being told that the connection is there. */
void establish(struct connection *connection);
/* The client ends the connection; each side has its event afterwards. */
void disconnect(struct connection *connection);
/* Destroys whatever there is of it. */
void dismantle(struct connection *connection);

/* The kernel's ids, queue pairs, completion queues and protection domains of this program, in this order. */
struct resources {
	int ids, qps, cqs, pds, fds;
};

struct resources count_resources(void);
/* Fails if there are more now; ids and descriptors may take a moment. A device may have been closed since. */
void check_resources(const struct resources *before);

/* Runs a function in a child process, which begins before anything of the library is used. */
pid_t start_process(void (*run)(void));
/* Fails with the child's reason if it failed. */
void end_process(pid_t child);

#endif
