/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A peer of a socket that is none: it speaks the protocol of sockets over a queue pair of its own, and says and writes
 * whatever a case wants.
 */
#ifndef TESTS_ATTACKER_H
#define TESTS_ATTACKER_H

#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>

enum { ATTACKER_ROOM = 65536, ATTACKER_RECEIVES = 64, ATTACKER_MAPPINGS = 8 };

/* What a message says. */
enum { OP_DATA = 0, OP_CREDITS = 4, OP_MAPPED = 6, OP_CONTROL = 7 };
enum { CONTROL_DISCONNECT = 0, CONTROL_KEEPALIVE = 1, CONTROL_SHUTDOWN = 2 };
#define MESSAGE(op, data) ((uint32_t)(op) << 29 | (uint32_t)(data))

/* Room in somebody's memory, as it stands in lists. */
struct place {
	uint64_t address;
	uint32_t key, length;
};

struct mapping {
	uint64_t offset;
	struct place place;
};

/* What sockets say of themselves when they connect; all of it big endian. */
struct greeting {
	uint8_t version, flags;
	uint16_t credits;
	uint8_t reserved[3], mappings;
	struct place list, room;
};

struct attacker {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener, *id;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	/* What the victim may write to. */
	struct {
		unsigned char room[ATTACKER_ROOM];
		struct place list[2];
		struct mapping mappings[ATTACKER_MAPPINGS];
		/* Messages that come, where they do not come with a write. */
		uint32_t messages[ATTACKER_RECEIVES];
		unsigned char out[ATTACKER_ROOM];
	} *memory;
	/* A good one to begin with. */
	struct greeting greeting;
	/* The victim's, in this machine's byte order. */
	struct greeting victim;
	/* The device has no writes with a number. */
	bool by_message;
};

/* Ready to connect to the address, with a greeting. */
void find_victim(struct attacker *attacker, const struct sockaddr_in *address);
/* Connects, with that many bytes of the greeting. The event that came: RDMA_CM_EVENT_ESTABLISHED, or how it failed. */
enum rdma_cm_event_type greet(struct attacker *attacker, size_t length);

/* Asks for a connection, and never says that it knows of the answer. */
void ask_and_be_silent(const struct sockaddr_in *address);

/* Listens; the address is the attacker's. */
void lie_in_wait(struct attacker *attacker, struct sockaddr_in *address);
/* The next request; ready to answer it. */
void await_victim(struct attacker *attacker);
/* Answers, with that many bytes of the greeting. Does not wait for the event. */
void answer(struct attacker *attacker, size_t length);
/* The answer was taken; the connection has ended. */
void await_established(struct attacker *attacker);
void await_disconnected(struct attacker *attacker);

/* Ends the connection, and everything else but the listener. */
void leave(struct attacker *attacker);
/* The same, with the listener. */
void leave_for_good(struct attacker *attacker);

/* Each returns how it ended. Receives that completed are posted again. */
enum ibv_wc_status tell(struct attacker *attacker, uint32_t number);
enum ibv_wc_status write_to(struct attacker *attacker, uint64_t address, uint32_t key, const void *bytes, uint32_t length);
enum ibv_wc_status read_from(struct attacker *attacker, uint64_t address, uint32_t key, uint32_t length);
enum ibv_wc_status send_plainly(struct attacker *attacker, uint32_t length);
/* Data for the victim, as its greeting allows; `at` counts from the beginning of its buffer. */
enum ibv_wc_status send_data(struct attacker *attacker, uint32_t at, const void *bytes, uint32_t length);
/* Writes an entry of the victim's list, or of its table of mappings. */
enum ibv_wc_status write_entry(struct attacker *attacker, unsigned int index, struct place entry);
enum ibv_wc_status write_mapping(struct attacker *attacker, unsigned int index, struct mapping mapping);

/* Room in the attacker's own memory. */
struct place own_room(const struct attacker *attacker, uint32_t length);

/* What this process has of the kernel. */
void note_resources(void);
/* Fails unless it has no more than that now. */
void check_nothing_is_left(void);

#endif
