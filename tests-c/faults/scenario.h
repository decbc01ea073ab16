/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a scenario is made of: attempts, which are calls of the library, and events that are to come.
 *
 * In each run of a scenario one call that the library makes fails. An attempt that fails for that reason has to say so,
 * and is made again at once; the second time it must succeed. Where the failure can be told only later, by an event or
 * by another call, the scenario is abandoned: it is cleaned up, and then runs again as a whole, which must succeed.
 */
#ifndef FAULTS_SCENARIO_H
#define FAULTS_SCENARIO_H

#include "faults.h"

#include <errno.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

struct scenario {
	const char *name;
	void (*run)(void);
	/* Ends whatever there is of it, in whichever state it was left. */
	void (*clean)(void);
	/* The library's own threads are to fail too, and whatever it does when all is given back. */
	bool others;
	/* Words, of which the environment's TEST_WITHOUT must have none. */
	const char *needs;
};

extern const struct scenario scenarios[];
extern const size_t scenario_count;

void attempt_begin(const char *text);
/* True if the attempt is to be made again. */
bool attempt_again(bool failed, int error);

#define ATTEMPT(call, failure)                                                       \
	do                                                                           \
		attempt_begin(#call);                                                \
	while (({                                                                    \
		errno = 0;                                                           \
		bool failed_ = (call)failure;                                        \
		attempt_again(failed_, errno);                                       \
	}))

/* Calls that return 0, a number from 0, a pointer, nothing. */
#define attempt(call) ATTEMPT(call, != 0)
#define attempt_number(call) ATTEMPT(call, < 0)
#define attempt_pointer(call) ATTEMPT(call, == NULL)
#define attempt_void(call) ATTEMPT(((call), 0), != 0)

/*
 * A call that has come too far to be made again when it fails, as one that makes a connection: the second time it may be
 * EINVAL, or of sockets what says that there is no connection (any more), and then the scenario is abandoned.
 */
#define attempt_far(call)                      \
	do {                                   \
		attempt_is_far = true;         \
		attempt(call);                 \
		attempt_is_far = false;        \
	} while (0)
extern bool attempt_is_far;

/* The run is over, with this verdict. */
enum verdict { GOOD, WRONG_ERRNO, NOT_AGAIN, WRONG_RESULT, LEAK_FD, LEAK_ID, LEAK_OBJECT, LEAK_MEMORY, CRASH, HANG, SKIPPED };
_Noreturn void conclude(enum verdict verdict, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define require(condition, ...)                                \
	do {                                                   \
		if (!(condition))                              \
			conclude(WRONG_RESULT, __VA_ARGS__);   \
	} while (0)

/* A function that old C libraries do not have: without it the scenario is skipped. */
#define YOUNG(function) ((__typeof__(&function))young(#function))
void *young(const char *function);

/* A channel that does not block, so that no event that fails to come hangs the run. */
struct rdma_event_channel *open_channel(void);
void close_channel(struct rdma_event_channel **channel);
/* Ends an id with its queue pair; NULL is allowed. */
void close_id(struct rdma_cm_id **id);
/* The next event, which has to be acknowledged. */
struct rdma_cm_event *take(struct rdma_event_channel *channel, enum rdma_cm_event_type type);
/* The same, and acknowledges it. */
void pass(struct rdma_event_channel *channel, enum rdma_cm_event_type type);

/* The failure was told by something else than an attempt, with this errno (0: none). */
_Noreturn void abandon(int error);

/* The address that the lab and the simulator give to their RDMA device. */
#define DEVICE_ADDRESS "10.99.0.1"

/* The device's address. Good until the second next call. */
struct sockaddr *device_address(uint16_t port);
struct ibv_qp_init_attr small_qp(enum ibv_qp_type type);

/* Another process on the other side, to which nothing happens: it does this until it is ended with the run. */
void start_peer(void (*peer)(int link));
void end_peer(void);
/* A port goes from the listening side to the other. */
void send_port(int link, uint16_t port);
uint16_t receive_port(int link);
extern int peer_link;

#endif
