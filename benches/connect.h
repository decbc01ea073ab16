/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Two processes that connect and disconnect over and over, in several ways. */
#ifndef BENCHES_CONNECT_H
#define BENCHES_CONNECT_H

#include <netinet/in.h>
#include <rdma/rdma_cma.h>

/* Who makes the queue pair, and the queues of its completions. */
enum queues {
	NO_QP,
	/* The program makes it and moves it from state to state; the library only says how. */
	EXTERNAL_QP,
	LIBRARY_QP,
	LIBRARY_QP_AND_CQS,
};

struct scenario {
	const char *name;
	enum queues queues;
	void (*client)(const struct scenario *scenario);
	void (*server)(const struct scenario *scenario);
};

/* Where the server listens, in words and as an address; and the same address without the port. */
#define SERVER_SERVICE "7471"
extern const char *server_node;
extern struct sockaddr_in server_address, device_address;

/* The device stays in use, and with it what the library keeps for a device, from one connection to the next. */
void keep_device(void);
void let_go_of_device(void);

/* Until there is an event. Who comes first, the event or the one who waits for it, is chance: this is not metered. */
void wait_for_event(struct rdma_event_channel *channel);
/* The next event, which must be of this kind; acknowledged. */
struct rdma_cm_id *take_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type);

/* Attributes of all queue pairs here. The library overwrites them, so each call needs its own. */
struct ibv_qp_init_attr queue_sizes(const struct scenario *scenario);
void create_queues(const struct scenario *scenario, struct rdma_cm_id *id);
/* The end of a connection that is disconnected: its queues, its id, and the account of both. */
void destroy_connection(const struct scenario *scenario, struct rdma_cm_id *id);
/* What the library does for its own queue pair when the connection is there: ready to receive and to send. */
void make_queues_ready(const struct scenario *scenario, struct rdma_cm_id *id);
struct rdma_conn_param connection_parameters(const struct scenario *scenario);

void run_client(const struct scenario *scenario);
void run_server(const struct scenario *scenario);
void run_client_endpoint(const struct scenario *scenario);
void run_server_endpoint(const struct scenario *scenario);

#endif
