/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sockets of either kind: those of the library under test, or with SOCKETS=kernel in the environment those of the kernel,
 * whose rules the cases state.
 */
#ifndef TESTS_SOCKETS_H
#define TESTS_SOCKETS_H

#include "../harness.h"
#include "../process.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* The address that the lab gives to the RDMA device. */
#define SOCKETS_ADDRESS "10.99.0.1"

struct sockets {
	int (*socket)(int domain, int type, int protocol);
	int (*bind)(int socket, const struct sockaddr *addr, socklen_t addrlen);
	int (*listen)(int socket, int backlog);
	int (*accept)(int socket, struct sockaddr *addr, socklen_t *addrlen);
	int (*connect)(int socket, const struct sockaddr *addr, socklen_t addrlen);
	int (*shutdown)(int socket, int how);
	int (*close)(int socket);
	ssize_t (*recv)(int socket, void *buf, size_t len, int flags);
	ssize_t (*recvfrom)(int socket, void *buf, size_t len, int flags, struct sockaddr *addr, socklen_t *addrlen);
	ssize_t (*recvmsg)(int socket, struct msghdr *msg, int flags);
	ssize_t (*send)(int socket, const void *buf, size_t len, int flags);
	ssize_t (*sendto)(int socket, const void *buf, size_t len, int flags, const struct sockaddr *addr, socklen_t addrlen);
	ssize_t (*sendmsg)(int socket, const struct msghdr *msg, int flags);
	ssize_t (*read)(int socket, void *buf, size_t count);
	ssize_t (*readv)(int socket, const struct iovec *iov, int iovcnt);
	ssize_t (*write)(int socket, const void *buf, size_t count);
	ssize_t (*writev)(int socket, const struct iovec *iov, int iovcnt);
	int (*poll)(struct pollfd *fds, nfds_t nfds, int timeout);
	int (*select)(int nfds, fd_set *readfds, fd_set *writefds, fd_set *exceptfds, struct timeval *timeout);
	int (*getpeername)(int socket, struct sockaddr *addr, socklen_t *addrlen);
	int (*getsockname)(int socket, struct sockaddr *addr, socklen_t *addrlen);
	int (*setsockopt)(int socket, int level, int optname, const void *optval, socklen_t optlen);
	int (*getsockopt)(int socket, int level, int optname, void *optval, socklen_t *optlen);
	int (*fcntl)(int socket, int cmd, ...);
	int (*epoll_create)(int flags);
	int (*epoll_ctl)(int set, int op, int fd, struct epoll_event *event);
	int (*epoll_wait)(int set, struct epoll_event *events, int maxevents, int timeout);
};

/* The functions of the kind under test. */
const struct sockets *sockets(void);
bool is_kernel(void);

/* A connection within this process; the listener is closed. */
struct connection {
	int client, server;
};

/* A listening socket on the device's address, at a port of the kernel's choice, and that address. */
int listening_socket(struct sockaddr_in *address);
/* A connection by that listening socket, which is closed. */
struct connection connect_through(int listener, const struct sockaddr_in *address);
struct connection open_connection(void);
void close_connection(struct connection *connection);

/* Whether calls on the socket block. */
void set_blocking(int socket, bool on);

/* All of it, or the case fails. */
void send_all(int socket, const void *data, size_t length);
void receive_all(int socket, void *data, size_t length);

/* Bytes that tell their place. */
void fill(unsigned char *data, size_t length, unsigned int seed);
bool is_filled(const unsigned char *data, size_t length, unsigned int seed);

/* What rpoll() says of one socket within this time. */
short poll_one(int socket, short events, int timeout);

int get_int(int socket, int level, int option);
void set_int(int socket, int level, int option, int value);

#endif
