/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Queue pairs of the simulated device, connected by hand. */
#ifndef SIM_TESTS_PAIR_H
#define SIM_TESTS_PAIR_H

#include "../../harness.h"
#include "../../process.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

enum { MEMORY = 8192, DEPTH = 8, EVERYTHING = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
					      IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC };

struct end {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	_Alignas(64) char memory[MEMORY];
};

/* What a peer has to know. */
struct contact {
	uint32_t qpn;
	uint32_t rkey;
	uint64_t address;
	union ibv_gid gid;
};

/* How long make_ready() has a queue pair wait for its peer: the code of ibv_qp_attr.timeout; 0, at first: for ever. */
extern uint8_t peer_timeout;
enum { A_MOMENT = 12 };

/* A device, memory, and a queue pair in the state INIT; `shared` with a shared receive queue. */
void open_end(struct end *end, enum ibv_qp_type type, bool shared);
void close_end(struct end *end);
struct contact contact_of(const struct end *end);
/* The path of a message to there. */
struct ibv_ah_attr path_to(const struct contact *peer);
/* To RTR and RTS. */
void make_ready_to_receive(struct end *end, const struct contact *peer);
void make_ready(struct end *end, const struct contact *peer);
/* The same of both; and the memory of the first is 'a', of the second 'b'. */
void open_pair(struct end *first, struct end *second, bool shared);
void close_pair(struct end *first, struct end *second);

struct ibv_sge piece(const struct end *end, size_t offset, uint32_t length);
void post_receive(struct end *end, uint64_t id, size_t offset, uint32_t length);
/* A signalled request of one piece, for the callers to change. */
struct ibv_send_wr request(struct ibv_sge *sge, enum ibv_wr_opcode opcode, uint64_t id);
/* The same, with id 1, for memory of the other end. */
struct ibv_send_wr remote_request(const struct end *there, struct ibv_sge *sge, enum ibv_wr_opcode opcode, size_t offset);
void post(struct end *end, struct ibv_send_wr *wr);
/* The next completion, which must come soon and have this status and id. */
struct ibv_wc complete(struct ibv_cq *cq, uint64_t id, enum ibv_wc_status status);
void check_no_completion(struct ibv_cq *cq);
enum ibv_qp_state state_of(struct ibv_qp *qp);
/* The next asynchronous event, acknowledged. */
void check_event(struct end *end, enum ibv_event_type type);

#endif
