/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the preloaded object and the kernel process say to each other: one message asks, one answers, over a
 * SOCK_SEQPACKET connection. Each process has one connection. A call never waits in the kernel process.
 */
#ifndef SIM_PROTOCOL_H
#define SIM_PROTOCOL_H

#include <netinet/in.h>
#include <stdint.h>

/* The environment: the folder of the fabric, and the name of the simulated host that a program runs on. */
#define SIM_ENV_FABRIC "RDMACM_SIM"
#define SIM_ENV_HOST "RDMACM_SIM_HOST"

#define SIM_SOCKET_NAME "socket"

/* The connection manager's node, and its device number. */
#define SIM_CM_NODE "/dev/infiniband/rdma_cm"
#define SIM_CM_MAJOR 10
#define SIM_CM_MINOR 251

enum {
	SIM_PROTOCOL = 1,
	SIM_DATA_MAX = 65536,	/* bytes in one direction, without the header */
	SIM_FDS_MAX = 4,
	SIM_NAME_MAX = 64,
	SIM_ADDRESSES_MAX = 64,
};

/* The numbers of calls. */
enum sim_op {
	SIM_HELLO = 1,		/* struct sim_hello; struct sim_hello_answer */
	SIM_CONTROL,		/* a line of script; text that tells what came of it */
	SIM_RESOURCES,		/* "cm_id", "qp", …; lines as `rdma resource show` prints them */
	SIM_NETLINK_OPEN,	/* answers with a descriptor that takes questions of RDMA netlink */
	SIM_CM_OPEN,		/* struct sim_cm_opened and a descriptor */
	SIM_CM_COMMAND,		/* struct sim_cm_command, the bytes written; struct sim_cm_answer, bytes for the user */
	SIM_FILE,		/* a path of sysfs; the text of that file */
	SIM_IS_ADDRESS,		/* a struct in6_addr; enum sim_place */
	SIM_ADDRESSES,		/* struct sim_address of each that the client's host has at its devices */
	SIM_OPS,
	SIM_VERBS = 0x100,	/* from here to 0x1ff: verbs_protocol.h */
	SIM_VERBS_END = 0x200,
};

/* Where an IP address is. IPv4 is written as ::ffff:… */
enum sim_place { SIM_NOWHERE, SIM_HERE, SIM_AT_ANOTHER_HOST };

struct sim_address {
	struct in6_addr ip;
	uint32_t prefix;
	char interface[SIM_NAME_MAX];
};

struct sim_question {
	uint32_t op;
	uint32_t reserved;
};

struct sim_answer {
	int64_t result;		/* >= 0, or -errno */
	uint32_t delay_ms;	/* the caller sleeps so long before it goes on */
	uint32_t fds;		/* descriptors that come with this */
};

struct sim_hello {
	uint32_t protocol;
	char host[SIM_NAME_MAX];	/* empty: the first one */
	char program[SIM_NAME_MAX];
};

struct sim_hello_answer {
	int32_t kernel_pid;
};

/* /dev/infiniband/rdma_cm, opened. */
struct sim_cm_opened {
	uint64_t file;
};

struct sim_cm_command {
	uint64_t file;
	uint64_t other_file;	/* of the descriptor that a command names; 0: none */
};

struct sim_cm_answer {
	uint64_t address;	/* where the user wants the bytes that follow */
	uint32_t used;		/* readiness bytes that the caller takes off its descriptor */
	uint32_t used_other;	/* … off the descriptor that the command named */
	uint32_t again;		/* nothing to get: wait until the descriptor is readable */
	uint32_t reserved;
};

#endif
