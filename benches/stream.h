/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stream sockets of either kind: those of the library, or those of the kernel. */
#ifndef BENCHES_STREAM_H
#define BENCHES_STREAM_H

#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/socket.h>

struct sockets {
	const char *name;
	int (*socket)(int domain, int type, int protocol);
	int (*setsockopt)(int socket, int level, int optname, const void *optval, socklen_t optlen);
	int (*bind)(int socket, const struct sockaddr *addr, socklen_t addrlen);
	int (*listen)(int socket, int backlog);
	int (*accept)(int socket, struct sockaddr *addr, socklen_t *addrlen);
	int (*connect)(int socket, const struct sockaddr *addr, socklen_t addrlen);
	ssize_t (*send)(int socket, const void *buf, size_t len, int flags);
	ssize_t (*recv)(int socket, void *buf, size_t len, int flags);
	int (*poll)(struct pollfd *fds, nfds_t nfds, int timeout);
	int (*close)(int socket);
	int (*set_create)(int flags);
	int (*set_ctl)(int set, int op, int fd, struct epoll_event *event);
	int (*set_wait)(int set, struct epoll_event *events, int maxevents, int timeout);
};

/* The kind that is measured. */
extern const struct sockets *sockets;

/* Connections to the server's address, and what they come to. Nothing that is sent waits for more to send. */
int connect_socket(void);
int listen_for_connections(void);
int accept_connection(int listener);

/* All of it. */
void send_all(int socket, const void *data, size_t length);
void receive_all(int socket, void *data, size_t length);

/* Sides of scenarios. `what` points to a size_t. */
/* A message of so many bytes there and back. */
void ping(const void *what);
void pong(const void *what);
/* Messages of so many bytes, one after the other. */
void pour(const void *what);
void drink(const void *what);
/* A connection that is opened and closed; `what` is not used. */
void open_and_close(const void *what);
void accept_and_close(const void *what);
/* So many connections on which nothing happens, and are asked for that. */
void watch_idle(const void *what);
void stay_idle(const void *what);
/* The same, in a set. */
void ask_set(const void *what);
/* So many connections in a set, of which one after the other sends a byte and gets it back. */
void serve_set(const void *what);
void ping_by_turns(const void *what);
/* For so many connections and what a library needs for them. */
void raise_limit(size_t connections);

#endif
