/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The verbs half of the kernel process, inside: objects, and what its files offer each other. */
#ifndef SIM_KERNEL_VERBS_H
#define SIM_KERNEL_VERBS_H

#include "../verbs_protocol.h"
#include "memory.h"
#include "verbs_hooks.h"

#include <rdma/ib_user_ioctl_cmds.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What the devices can do. */
enum {
	DEVICE_MAX_QP_WR = 16384,
	DEVICE_MAX_CQE = 65535,
	DEVICE_MAX_READS = 128,
	DEVICE_MAX_MESSAGE = 1 << 30,
	DEVICE_VECTORS = 2,
	DEVICE_ECE_VENDOR = 0x15b3,
	DEVICE_ECE_OPTIONS = 0xff,
};

/* Events that wait to be taken, and a descriptor that is readable while there are some. */
struct event_queue {
	int fd;
	struct event *first;
	struct event *last;
};

/* An open device. */
struct context {
	uint32_t number;
	struct client *client;
	struct device *device;
	bool gone;			/* the device is */
	struct event_queue events;
	struct object *objects;
	struct context *next;
};

/* The head of each object that a context has a handle of. */
struct object {
	enum uverbs_default_objects kind;
	uint32_t handle;
	uint32_t generation;		/* how many objects have had this handle before */
	unsigned int users;		/* objects that need this one */
	uint64_t cookie;
	struct verbs_reported reported;
	struct context *context;
	struct object *next;		/* of the same context */
};

struct xrc_domain {
	struct object object;
	uint64_t device;
	uint64_t inode;
};

struct region {
	struct object object;
	struct object *pd;
	uint32_t key;
	pid_t pid;			/* whose memory it is */
	uint64_t address;
	uint64_t iova;			/* the same place, as work requests name it */
	uint64_t length;
	uint32_t access;
};

struct address_handle {
	struct object object;
	struct object *pd;
	struct ibv_ah_attr attr;
};

struct channel {
	struct object object;
	struct event_queue events;
};

struct completion_queue {
	struct object object;
	struct channel *channel;
	struct verbs_ring *ring;
	uint32_t size;			/* as the ring says, but its process can write there */
	uint32_t written;
	enum { UNARMED, ARMED_SOLICITED, ARMED } armed;
	bool overrun;
};

/* A place for a message to come. */
struct receive {
	struct receive *next;
	uint64_t id;
	unsigned int sges;
	struct ibv_sge sge[];
};

struct receive_queue {
	struct receive *first;
	struct receive *last;
	uint32_t count;
	uint32_t max_count;
	uint32_t max_sges;
};

struct shared_queue {
	struct object object;
	struct object *pd;
	struct xrc_domain *xrcd;	/* of an XRC queue, as the completion queue */
	struct completion_queue *cq;
	uint32_t limit;
	struct receive_queue receives;
};

/* Something to send; the data of an inline one follows. */
struct send {
	struct send *next;
	struct verbs_send wr;
	uint64_t length;
	struct ibv_ah_attr path;	/* of a datagram */
	struct ibv_sge sge[];
};

struct queue_pair {
	struct object object;
	uint32_t number;
	enum ibv_qp_type type;
	bool signal_all;
	bool established;		/* something has come since it can receive */
	bool must_wait;			/* the passive side of iWARP, until the other one has sent */
	enum ibv_wc_status waits;	/* its first send does, for the peer, and fails so when the time comes; 0: no */
	struct timer *timer;
	struct ibv_qp_attr attr;
	struct ibv_ece ece;
	struct object *pd;
	struct xrc_domain *xrcd;
	struct completion_queue *send_cq;
	struct completion_queue *recv_cq;
	struct shared_queue *srq;
	struct receive_queue receives;
	struct send *first;
	struct send *last;
	uint32_t sends;
	struct membership *memberships;
	struct queue_pair *next;	/* of all */
};

/* A piece of a process's memory; of the kernel process's own if there is no process. */
struct span {
	pid_t pid;
	uint64_t address;
	uint64_t length;
};

/* A message to be copied: where it is, or where it goes. */
struct spans {
	unsigned int count;
	uint64_t length;
	struct span span[VERBS_MAX_SGE + 1];
};

/* verbs_objects.c. Of contexts and objects by name NULL is answered with EBADF, EINVAL or EIO in errno. */
struct context *context_open(struct client *client, struct device *device);
void context_close(struct context *context);
struct context *context_find(struct client *client, uint32_t number);
extern struct context *contexts;
/* A new object, all zero behind its head; NULL with ENOMEM. */
void *object_new(struct context *context, enum uverbs_default_objects kind, size_t size, uint64_t cookie);
void object_free(struct object *object);
void *object_find(struct context *context, enum uverbs_default_objects kind, uint32_t handle);
/* The same of any context, by the handle that is hidden in a key or a number. */
void *object_at(enum uverbs_default_objects kind, uint32_t handle);
/* Its end; -1 with EBUSY while others need it. */
int object_destroy(struct object *object);
static inline void *object_use(void *object)
{
	if (object)
		((struct object *)object)->users++;
	return object;
}

static inline void object_leave(void *object)
{
	if (object)
		((struct object *)object)->users--;
}

/* verbs_events.c */
int events_open(struct event_queue *queue);
void events_close(struct event_queue *queue);
/* `reported` counts when the event is taken; the object's events are forgotten with it. */
void events_add(struct event_queue *queue, struct object *object, uint32_t *reported, uint32_t type);
void events_add_port(struct event_queue *queue, uint32_t type, uint32_t port);
void events_forget(struct event_queue *queue, const struct object *object);
/* Takes the first event; -1 with EAGAIN. */
int events_take(struct event_queue *queue, struct verbs_event *event);
/* An asynchronous event of an object. */
void object_event(struct object *object, enum ibv_event_type type);

/* verbs_cq.c */
void completion_add(struct completion_queue *queue, const struct ibv_wc *completion, bool solicited);
void completion_queue_free(struct completion_queue *queue);
void channel_free(struct channel *channel);

/* verbs_memory.c */
void region_free(struct region *region);
/* The memory that a list names, with this access; false if it may not. */
bool spans_of_sges(struct spans *spans, const struct object *pd, const struct ibv_sge *sges, unsigned int count,
		   unsigned int access);
/* The memory that a peer names by its remote key. */
bool spans_of_key(struct spans *spans, const struct object *pd, uint64_t address, uint64_t length, uint32_t key,
		  unsigned int access);
void spans_of_own(struct spans *spans, void *data, uint64_t length);
/* As much as the source has; the target has room. */
enum copied { COPIED, NO_SOURCE, NO_TARGET };
enum copied spans_copy(const struct spans *target, const struct spans *source);
/* The target without its first bytes. */
void spans_skip(struct spans *spans, uint64_t bytes);

/* verbs_receive.c */
/* The first place, taken off; NULL if there is none. The caller frees it. */
struct receive *receive_take(struct receive_queue *queue);
void receives_free(struct receive_queue *queue);
void shared_queue_free(struct shared_queue *queue);
/* A shared queue has lost one. */
void shared_queue_taken(struct shared_queue *queue);

/* verbs_states.c: 0, or EINVAL when a queue pair of this type may not be modified so. */
int check_transition(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to, uint32_t mask);

/* verbs_qp.c */
extern struct queue_pair *queue_pairs;
struct queue_pair *queue_pair_find(uint32_t number);
void queue_pair_free(struct queue_pair *qp);
/* To the state of errors: what waits in its queues completes as flushed. */
void queue_pair_fail(struct queue_pair *qp);
void queue_pair_flush(struct queue_pair *qp);
void queue_pair_forget_work(struct queue_pair *qp);
/* Whether a path may begin at the device. */
bool is_good_path(const struct device *device, const struct ibv_ah_attr *path);
/* Whether a peer's messages come in. */
static inline bool can_receive(const struct queue_pair *qp)
{
	return qp->attr.qp_state >= IBV_QPS_RTR && qp->attr.qp_state <= IBV_QPS_SQE;
}

/* verbs_send.c */
/* Sends what waits, as far as possible. */
void queue_pair_run(struct queue_pair *qp);
/* The same for all that wait for a peer. */
void run_waiting(void);
void stop_waiting(struct queue_pair *qp);
/* The first send, taken off; NULL if there is none. */
struct send *send_take(struct queue_pair *qp);
/* Tells how it went, and frees it. */
void complete_send(struct queue_pair *qp, struct send *send, enum ibv_wc_status status);
/* The memory that a work request sends, or that is to hold what it reads. */
bool spans_of_send(struct spans *spans, const struct queue_pair *qp, struct send *send, unsigned int access);

enum sent { SENT, WAITS_FOR_PEER, WAITS_FOR_RECEIVE, SEND_FAILED };

/* verbs_connected.c: one message to the peer, which may be NULL. The status is of one that failed. */
enum sent send_connected(struct queue_pair *qp, struct send *send, struct queue_pair *peer, enum ibv_wc_status *status);
/* Whether the path leads to a port of the device. */
bool path_leads_to(const struct ibv_ah_attr *path, const struct device *device);

/* verbs_datagram.c */
enum sent send_datagram(struct queue_pair *qp, struct send *send, enum ibv_wc_status *status);
/* The state in which only sends fail. */
void fail_sends(struct queue_pair *qp);
void memberships_free(struct queue_pair *qp);
void address_handle_free(struct address_handle *ah);

/* Calls, each by its number; `in` is as large as calls[] says. */
struct call {
	const void *in;
	size_t in_size;
	void *out;
	size_t out_size;		/* all the room there is */
	size_t used;			/* of out: as calls[] says, unless the call says otherwise */
	struct client *client;
	int fd;				/* a descriptor to hand over, which is closed here afterwards; -1: none */
};

#define CALL(name) long name(struct call *call)

/* verbs_device.c */
CALL(call_devices);
CALL(call_open);
CALL(call_close);
CALL(call_query_device);
CALL(call_query_port);
CALL(call_query_gid);
CALL(call_query_pkey);
/* verbs_objects.c */
CALL(call_handles);
CALL(call_destroy);
CALL(call_create_pd);
CALL(call_create_xrcd);
/* verbs_memory.c */
CALL(call_create_mr);
CALL(call_change_mr);
/* verbs_cq.c */
CALL(call_create_channel);
CALL(call_create_cq);
CALL(call_resize_cq);
CALL(call_arm_cq);
/* verbs_events.c */
CALL(call_get_event);
/* verbs_receive.c */
CALL(call_create_srq);
CALL(call_modify_srq);
CALL(call_query_srq);
CALL(call_post_recv);
/* verbs_qp.c */
CALL(call_create_qp);
CALL(call_modify_qp);
CALL(call_query_qp);
/* verbs_ece.c */
CALL(call_set_ece);
CALL(call_query_ece);
/* verbs_datagram.c */
CALL(call_create_ah);
CALL(call_attach);
CALL(call_detach);
/* verbs_send.c */
CALL(call_post_send);

#endif
