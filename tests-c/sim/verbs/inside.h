/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stand-in for libibverbs. What verbs.h declares and these files define takes the place of the real function; a
 * symbol without a version does so for every version. What it does not define is the real library's, which only is
 * good for functions that need no device.
 */
#ifndef SIM_VERBS_INSIDE_H
#define SIM_VERBS_INSIDE_H

#pragma GCC visibility push(default)
#include <infiniband/verbs.h>
#pragma GCC visibility pop

#include "../call.h"
#include "../real.h"
#include "../verbs_protocol.h"

#include <stdbool.h>

/* Inline functions of verbs.h go by these names too. */
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

struct sim_device {
	struct ibv_device device;
	uint64_t guid;
	uint32_t index;
	struct sim_device *next;
};

/* The public part ends with what the application has a pointer to. */
struct sim_context {
	struct verbs_context verbs;
	uint32_t number;
};

struct sim_channel {
	struct ibv_comp_channel channel;
	uint32_t handle;
};

struct sim_cq {
	struct ibv_cq cq;
	pthread_mutex_t lock;		/* of the ring's reading end */
	struct verbs_ring *ring;
	unsigned int misses;		/* how often nothing was there since something was */
};

struct sim_srq {
	struct ibv_srq srq;
	uint32_t number;
};

struct sim_xrcd {
	struct ibv_xrcd xrcd;
	uint32_t handle;
};

static inline uint32_t number_of(struct ibv_context *context)
{
	return ((struct sim_context *)verbs_get_ctx(context))->number;
}

static inline struct verbs_name name_of(struct ibv_context *context, uint32_t handle)
{
	return (struct verbs_name){ number_of(context), handle };
}

/* 0, or the errno, which is set too. */
static inline int ask(uint32_t op, const void *in, size_t in_size, void *out, size_t out_size)
{
	return sim_call(op, in, in_size, out, out_size) < 0 ? errno : 0;
}

#define ASK(op, in, out) ask(op, in, sizeof(*(in)), out, sizeof(*(out)))
#define TELL(op, in) ask(op, in, sizeof(*(in)), NULL, 0)

static inline int failed(int error)
{
	errno = error;
	return error;
}

/* Ends an object; the events of it that this process was given are in `reported`. */
static inline int destroy(struct ibv_context *context, uint32_t handle, struct verbs_reported *reported)
{
	struct verbs_name name = name_of(context, handle);

	return ASK(VERBS_DESTROY, &name, reported);
}

/* An object that is no more lets go of its waiters once all its events are acknowledged. */
void wait_acknowledged(pthread_mutex_t *mutex, pthread_cond_t *cond, const uint32_t *completed, uint32_t reported);

/* The handle of what may be NULL. */
#define HANDLE(object) ((object) ? (object)->handle : VERBS_NONE)

/* What verbs.h calls by pointers in the context. */
int poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *completions);
int req_notify_cq(struct ibv_cq *cq, int solicited_only);
int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size);
int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
		    struct ibv_device_attr_ex *attr, size_t size);
struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr);
int close_xrcd(struct ibv_xrcd *xrcd);
struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr);
int get_srq_num(struct ibv_srq *srq, uint32_t *number);
struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);

/* What the descriptor of a context holds, so that it is known again, in a forked child too. */
struct command_mark {
	uint64_t magic;
	uint32_t context;
	uint32_t reserved;
};

#define COMMAND_MAGIC 0x73696d7665726273

#endif
