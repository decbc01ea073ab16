/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The connection manager: its open files, its ids, and their events. Whatever a name here shares with the kernel's
 * header is that.
 */
#ifndef SIM_KERNEL_CM_H
#define SIM_KERNEL_CM_H

#include <netinet/in.h>

#include "kernel.h"
#include "topology.h"

#include <infiniband/ib.h>
#include <rdma/rdma_user_cm.h>

struct timer;

/* enum rdma_cm_event_type, which only the library's own header has. */
enum cm_event_kind {
	CM_ADDR_RESOLVED,
	CM_ADDR_ERROR,
	CM_ROUTE_RESOLVED,
	CM_ROUTE_ERROR,
	CM_CONNECT_REQUEST,
	CM_CONNECT_RESPONSE,
	CM_CONNECT_ERROR,
	CM_UNREACHABLE,
	CM_REJECTED,
	CM_ESTABLISHED,
	CM_DISCONNECTED,
	CM_DEVICE_REMOVAL,
	CM_MULTICAST_JOIN,
	CM_MULTICAST_ERROR,
	CM_ADDR_CHANGE,
	CM_TIMEWAIT_EXIT,
	CM_ADDRINFO_RESOLVED,
	CM_ADDRINFO_ERROR,
	CM_USER,
	CM_INTERNAL,
};

enum { QP_TYPE_RC = 2, QP_TYPE_UC = 3, QP_TYPE_UD = 4, QP_TYPE_XRC_INI = 9, QP_TYPE_XRC_TGT = 10 };

enum cm_state {
	CM_IDLE,
	CM_ADDR_QUERY,
	CM_IS_ADDR_RESOLVED,
	CM_ROUTE_QUERY,
	CM_IS_ROUTE_RESOLVED,
	CM_CONNECT,
	CM_DISCONNECT,
	CM_ADDR_BOUND,
	CM_LISTEN,
	CM_REMOVED,
	CM_ADDRINFO_QUERY,
	CM_IS_ADDRINFO_RESOLVED,
};

/* How far the exchange of messages with the peer has come, while the state is CM_CONNECT. */
enum cm_handshake {
	HANDSHAKE_NONE,
	HANDSHAKE_ASKED,	/* the request is on its way, or waits for an answer */
	HANDSHAKE_REQUESTED,	/* a request came, which is to be answered */
	HANDSHAKE_ANSWERED,	/* accepted; the last word is the peer's */
	HANDSHAKE_GOT_ANSWER,	/* the peer accepted */
	HANDSHAKE_ESTABLISHED,
	HANDSHAKE_ENDING,	/* said that it ends, and waits for the peer to say so */
	HANDSHAKE_ENDED,	/* the peer said that it ends */
	HANDSHAKE_OVER,
};

struct cm_event {
	struct rdma_ucm_event_resp resp;
	struct cm_id *id;		/* whose event it is; NULL: nobody's */
	struct cm_id *new_id;		/* of a CONNECT_REQUEST */
	struct cm_multicast *multicast;
	struct cm_event *next;
};

struct cm_file {
	uint64_t number;
	pid_t owner;
	char program[SIM_NAME_MAX];
	struct host *host;
	int end;			/* our end of the stream whose other end the program polls */
	uint32_t bytes;			/* put in there, and not taken out */
	struct watch *watch;
	struct cm_event *events, **last;	/* where the next one goes */
	uint32_t event_count;
	struct cm_file *next;
};

struct cm_path {
	struct ib_user_path_rec rec;
	uint64_t service_id;
	uint16_t qos_class;
	uint32_t flags;
};

/* What a message between peers carries. */
struct cm_message {
	struct rdma_ucm_conn_param conn;
	struct rdma_ucm_ece ece;
};

struct cm_id {
	uint32_t number;
	bool numbered;			/* a request that nobody has heard is not */
	struct cm_file *file;
	struct cm_id *listener;		/* in whose file the request waits to be taken */
	uint64_t uid;
	uint16_t ps;
	uint8_t qp_type;
	enum cm_state state;
	bool closing;			/* its device is gone: no command but the last one */
	uint32_t events_reported;
	uint32_t backlog;

	struct sockaddr_storage src, dst;
	uint16_t port_space;		/* in which src holds a port; 0: none */
	struct device *device;
	uint8_t port;
	uint16_t pkey;			/* native order; 0 where link layers have none */
	uint8_t sgid[16], dgid[16];

	bool reuse_address, family_only, has_ack_timeout;
	uint8_t tos, ack_timeout;

	struct cm_path paths[2];
	uint32_t path_count;
	struct ib_user_service_rec *services;
	uint32_t service_count;
	int service_error;		/* what there is instead */

	enum cm_handshake handshake;
	struct cm_id *peer;		/* the two know each other from the request on */
	struct cm_message sent, received;
	uint32_t sq_psn, rq_psn;
	uint32_t tries;

	struct cm_multicast *multicasts;
	struct timer *timer;		/* of what is being waited for; one at a time */
	struct cm_id *next, **place;	/* of all ids */
};

struct cm_multicast {
	uint32_t number;
	struct cm_id *id;
	uint64_t uid;
	uint32_t events_reported;
	uint8_t join_flags;
	struct sockaddr_storage address;
	struct timer *timer;
	struct cm_multicast *next;
};

/* A command, and its answer. */
struct cm_call {
	struct cm_file *file;
	struct cm_file *other;		/* of the descriptor that the command names */
	struct cm_id *id;		/* that the command is about, if its entry in the table says where that stands */
	const void *command;		/* padded with zeros to its full size */
	const void *extra;		/* what stands behind its bytes */
	size_t extra_size;
	size_t room;			/* that the user has for the answer */

	uint64_t address;		/* where the bytes go in the user's memory */
	size_t size;
	bool again;
	unsigned char data[8192];
};

/* 0 or -errno. */
typedef long cm_command(struct cm_call *call);

cm_command cm_create_id, cm_destroy_id, cm_migrate_id, cm_bind_ip, cm_bind, cm_resolve_ip, cm_resolve_addr,
	cm_resolve_route, cm_resolve_ib_service, cm_query_route, cm_query, cm_connect, cm_listen, cm_accept, cm_reject,
	cm_disconnect, cm_init_qp_attr, cm_get_event, cm_set_option, cm_notify, cm_join_ip_multicast, cm_join_multicast,
	cm_leave_multicast, cm_write_event;

/* Puts the answer together; of one that is longer than the room only the beginning. */
void cm_answer(struct cm_call *call, uint64_t address, const void *data, size_t size);

/* cm_file.c */
call_handler cm_open_call;
struct cm_file *find_cm_file(uint64_t number);
/* Bytes that the program is to take out of its end, now that events were taken. */
uint32_t cm_settle(struct cm_file *file);
void cm_queue(struct cm_file *file, struct cm_event *event);
/* Takes out the events that are those of this id, or of this membership; requests among them are refused. */
void cm_drop_events(struct cm_file *file, const struct cm_id *id, const struct cm_multicast *multicast);
/* Takes the request of an id out, which ends before anybody has heard of it. */
void cm_withdraw_request(struct cm_id *new_id);
void cm_move_events(struct cm_id *id, struct cm_file *from, struct cm_file *to);

/* cm_event.c: the event of an id, for its program. Params may be NULL. */
void cm_tell(struct cm_id *id, enum cm_event_kind kind, int status, const struct cm_message *message);
void cm_tell_datagram(struct cm_id *id, enum cm_event_kind kind, int status, const struct rdma_ucm_ud_param *ud);
void cm_tell_multicast(struct cm_multicast *multicast, enum cm_event_kind kind, int status,
		       const struct rdma_ucm_ud_param *ud);
/* A request, for the listener; -ENOMEM when its backlog is full. */
int cm_tell_request(struct cm_id *listener, struct cm_id *new_id, const struct cm_message *message);

/* cm_id.c */
extern struct cm_id *cm_ids;
struct cm_id *new_cm_id(struct cm_file *file, uint16_t ps, uint8_t qp_type);
/* Gives it the lowest number that is free. */
void number_cm_id(struct cm_id *id);
/* From now on no number below this one is given out. */
void number_cm_ids_from(uint32_t lowest);
struct cm_id *find_cm_id(uint32_t number);
/* The id of that number on this file; NULL with an errno otherwise, also when its device is gone. */
struct cm_id *get_cm_id(struct cm_file *file, uint32_t number, long *error);
/* Ends it as its program's last word, whatever it is doing. */
void end_cm_id(struct cm_id *id);
void cm_wait(struct cm_id *id, unsigned int ms, void (*run)(void *id));
void cm_stop_waiting(struct cm_id *id);
/* A device goes: its ids hear of it. */
void cm_device_removed(struct device *device);

/* cm_sockaddr.c */
socklen_t sockaddr_size(const void *address);	/* 0 for a family that is unknown */
bool is_any(const struct sockaddr_storage *address);
bool is_loopback(const struct sockaddr_storage *address);
bool same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b);	/* without ports */
uint16_t port_of(const struct sockaddr_storage *address);				/* network order */
void set_port_of(struct sockaddr_storage *address, uint16_t port);
bool ip_of(const struct sockaddr_storage *address, struct in6_addr *ip);
void sockaddr_from_ip(struct sockaddr_storage *address, const struct in6_addr *ip);
uint64_t service_id_of(const struct cm_id *id, const struct sockaddr_storage *address);	/* big endian */
void set_sockaddr(struct sockaddr_storage *to, const void *from);

/* cm_port.c: a number for the id's source address, as it says or any that is free. 0 or -errno. */
int take_port(struct cm_id *id);
/* Whether the id may listen where others are bound too. */
int check_port_of_listener(struct cm_id *id);

/* cm_address.c */
call_handler is_address_call, addresses_call;
int bind_id(struct cm_id *id, const void *address);
void use_address(struct cm_id *id, const struct address *address);
void set_dgid(struct cm_id *id);
const struct address *find_address(const struct host *host, const struct in6_addr *ip);
const struct address *find_address_anywhere(const struct in6_addr *ip);
int gid_index(const struct cm_id *id);
/* Whether the port is in the partition, of which it may be less than a full member. */
bool has_pkey(const struct port *port, uint16_t pkey);

/* sa.c: the subnet administrator, and what stands in for it. The paths of an id, or -errno. */
int resolve_paths(struct cm_id *id);
unsigned int answer_delay_of_sa(void);
/* Service records by id (big endian, 0: any) or name (NULL: any), in memory for free(); or -errno. */
int find_services(uint64_t id, const char *name, struct ib_user_service_rec **found, uint32_t *count);

/* cm_listen.c */
/* Who listens for the service (big endian) at that address of that device; NULL if nobody. */
struct cm_id *find_listener(uint64_t service, const struct cm_id *asking, const struct device *device,
			    bool *is_used);
/* The id on the other side of a request. */
struct cm_id *new_requested_id(struct cm_id *asking, struct cm_id *listener, struct device *device, uint8_t port);
/* The device and port at which the destination of an id is; NULL if nowhere. */
struct device *find_destination(const struct cm_id *id, uint8_t *port);

/* cm_datagram.c */
void ask_by_datagram(void *id);
int answer_by_datagram(struct cm_id *id, uint32_t status, const struct rdma_ucm_conn_param *conn,
		       const struct rdma_ucm_ece *ece);
/* Where the peer of an id, or a group, is. */
void fill_ah_attr(const struct cm_id *id, const uint8_t dgid[16], struct ib_uverbs_ah_attr *attr);

/* cm_connect.c: what the end of an id means for its peer. */
void hang_up(struct cm_id *id);

/* cm_multicast.c */
void end_multicast(struct cm_multicast *multicast);

/* The key of datagram queue pairs that belong to ids. */
#define CM_QKEY 0x01234567

/* Of a request that finds nobody at home, or no place in a backlog. */
enum { REQUEST_TRIES = 16, REQUEST_PAUSE_MS = 500 };

/* Private data in the messages of InfiniBand's connection manager; the program's addresses take some of a request. */
enum {
	REQUEST_DATA = 92,
	ANSWER_DATA = 196,
	REFUSAL_DATA = 148,
	DATAGRAM_REQUEST_DATA = 216,
	DATAGRAM_ANSWER_DATA = 136,
	ADDRESS_DATA = 36,
};

#endif
