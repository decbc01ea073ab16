/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sockets over RDMA. Each function does what its namesake without the first letter does, for sockets that rsocket() has
 * made; -1 and errno say what went wrong. None raises SIGPIPE. The number of a socket is a descriptor of the process, which
 * only these functions know how to use: rpoll(), rselect() and repoll_ctl() take other descriptors as well.
 */
#ifndef RSOCKET_H
#define RSOCKET_H

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A stream socket: domain AF_INET, AF_INET6 or AF_IB, type SOCK_STREAM; EOPNOTSUPP for others. */
int rsocket(int domain, int type, int protocol);
int rbind(int socket, const struct sockaddr *addr, socklen_t addrlen);
/** Connections beyond the backlog wait unanswered until raccept() has taken some. */
int rlisten(int socket, int backlog);
/** The new socket has the flags of the listener. */
int raccept(int socket, struct sockaddr *addr, socklen_t *addrlen);
int rconnect(int socket, const struct sockaddr *addr, socklen_t addrlen);
int rshutdown(int socket, int how);
/**
 * Waits until what was sent has arrived: as long as SO_LINGER says, else for at most 10 seconds. A socket that does not
 * block leaves that to the library.
 */
int rclose(int socket);

ssize_t rrecv(int socket, void *buf, size_t len, int flags);
ssize_t rrecvfrom(int socket, void *buf, size_t len, int flags, struct sockaddr *src_addr, socklen_t *addrlen);
ssize_t rrecvmsg(int socket, struct msghdr *msg, int flags);
ssize_t rsend(int socket, const void *buf, size_t len, int flags);
ssize_t rsendto(int socket, const void *buf, size_t len, int flags, const struct sockaddr *dest_addr,
                socklen_t addrlen);
ssize_t rsendmsg(int socket, const struct msghdr *msg, int flags);
ssize_t rread(int socket, void *buf, size_t count);
ssize_t rreadv(int socket, const struct iovec *iov, int iovcnt);
ssize_t rwrite(int socket, const void *buf, size_t count);
ssize_t rwritev(int socket, const struct iovec *iov, int iovcnt);

int rpoll(struct pollfd *fds, nfds_t nfds, int timeout);
int rselect(int nfds, fd_set *readfds, fd_set *writefds, fd_set *exceptfds, struct timeval *timeout);

/**
 * Sets as those of epoll(7), with its flags and errnos, for sockets and any other descriptors. The set is a descriptor of the
 * kernel; rclose() closes it. A socket leaves its sets when it is closed.
 */
int repoll_create(int flags);
int repoll_ctl(int epfd, int op, int fd, struct epoll_event *event);
int repoll_wait(int epfd, struct epoll_event *events, int maxevents, int timeout);

int rgetpeername(int socket, struct sockaddr *addr, socklen_t *addrlen);
int rgetsockname(int socket, struct sockaddr *addr, socklen_t *addrlen);

/** Level of the options below. They can be set before a socket connects, and on a listener for its connections. */
#define SOL_RDMA 0x10000
enum {
    RDMA_SQSIZE,    /**< Sends that can be outstanding. */
    RDMA_RQSIZE,    /**< Messages that can be on their way here. */
    RDMA_INLINE,    /**< Bytes up to which data is sent without a copy to the buffer. */
    RDMA_IOMAPSIZE, /**< Mappings that the peer can make with riomap(): 0 unless it is set. */
    RDMA_ROUTE      /**< struct ibv_path_data[]: the paths to use, in place of those that are found. */
};

int rsetsockopt(int socket, int level, int optname, const void *optval, socklen_t optlen);
int rgetsockopt(int socket, int level, int optname, void *optval, socklen_t *optlen);
/** F_GETFL, F_SETFL, F_GETFD and F_SETFD; EINVAL for others. */
int rfcntl(int socket, int cmd, ... /* arg */);

/**
 * Maps memory at an offset, or with -1 at its own address, and returns that. With PROT_WRITE the peer can write there with
 * riowrite(), once it has received data that was sent afterwards.
 */
off_t riomap(int socket, void *buf, size_t len, int prot, int flags, off_t offset);
int riounmap(int socket, void *buf, size_t len);
/** Writes to memory that the peer has mapped; (size_t) -1 and EINVAL if nothing is mapped there. */
size_t riowrite(int socket, const void *buf, size_t count, off_t offset, int flags);

#ifdef __cplusplus
}
#endif

#endif /* RSOCKET_H */
